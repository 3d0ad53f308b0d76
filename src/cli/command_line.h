// The command line of regard: its verbs, their options and help, and which of them was given.
// Nothing here needs LibTorch, which takes a third of a second to load.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>

#include "base/error.h"
#include "cli/average_arguments.h"
#include "cli/config_arguments.h"
#include "cli/evaluate_arguments.h"
#include "cli/info_arguments.h"
#include "cli/outline.h"
#include "cli/report_arguments.h"
#include "cli/score_arguments.h"
#include "cli/shell_arguments.h"
#include "cli/train_arguments.h"
#include "cli/translate_arguments.h"

namespace regard {

enum class Verb {
  train,
  translate,
  evaluate,
  score,
  average,
  info,
  report,
  config_print,
  config_init,
  config_convert,
  config_docs,
  config_schema,
  completions,
  man
};

class CommandLine {
 public:
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Nothing where a verb was understood and is to run, else the exit code: help or the version was
  // printed, or a mistake reported.
  std::optional<ExitCode> parse(int argc, char** argv);

  CommandOutline outline() const { return regard::outline(program_); }

  Verb verb = {};
  bool quiet = false;
  TrainArguments train;
  TranslateArguments translate;
  EvaluateArguments evaluate;
  ScoreArguments score;
  AverageArguments average;
  InfoArguments info;
  ReportArguments report;
  ConfigArguments config;
  ConfigInitArguments config_init;
  ConfigConvertArguments config_convert;
  CompletionsArguments completions;
  ManArguments man;

 private:
  CLI::App program_;
};

}  // namespace regard
