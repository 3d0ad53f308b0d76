// The options that steer the search, the same for every verb that translates. Names, help and
// ranges are those of the configuration's section `testing`.
#pragma once

#include <CLI/CLI.hpp>

#include "config/testing_options.h"

namespace regard {

struct SearchArguments {
  const CLI::App* command = nullptr;  // has what was given

  // `options` with what was given on the command line in its place.
  TestingOptions over(TestingOptions options) const;
};

// --beam-size, --beam-alpha, …: one for each key of `testing` that a translation heeds. They are of
// use with `model` only, the option that names it.
void add_search_options(CLI::App& command, CLI::Option* model, SearchArguments& arguments);

}  // namespace regard
