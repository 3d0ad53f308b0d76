// regard translate, on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

#include "cli/model_arguments.h"
#include "cli/search_arguments.h"

namespace regard {

struct TranslateArguments {
  ModelArguments model;
  SearchArguments search;
  std::string input;
  std::string output;
  std::int64_t n_best = 0;
  std::string alignments;
  std::string picture;
  std::string attention_scale = "absolute";
  std::string prefixes;
  std::string demand;
  std::string ban;
  std::string attention_weights;
  std::string dictionary;
  bool replace_unknown = false;
  std::int64_t split_length = 0;
  bool scores = false;
  bool word_scores = false;
  bool json = false;
  std::string report;
  bool show_attention = false;
  bool explain = false;
};

CLI::App* add_translate(CLI::App& program, TranslateArguments& arguments);

}  // namespace regard
