// The options that steer the search, the same for every verb that translates. Names, help and
// ranges are those of the configuration's section `testing`.
#pragma once

#include <CLI/CLI.hpp>

#include "config/testing_options.h"

namespace regard {

// --beam-size, --beam-alpha, …: one for each key of `testing` that a translation heeds. They are of
// use with `model` only, the option that names it.
void add_search_options(CLI::App& command, CLI::Option* model);

// `options` with what was given on the command line in its place.
TestingOptions with_given(const CLI::App& command, TestingOptions options);

}  // namespace regard
