// Parses the command line of regard. Does not need LibTorch, which takes a third of a second to
// load.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/arguments.h"
#include "cli/outline.h"

namespace regard {

enum class Command {
  train,
  prepare,
  features,
  translate,
  synthesize,
  evaluate,
  score,
  rerank,
  shortlist,
  average,
  quantize,
  serve,
  info,
  report,
  export_model,
  pipeline,
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
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Returns nullopt if a command should run. Otherwise returns the exit code, after printing help
  // or the version, or reporting a usage error.
  std::optional<ExitCode> parse(int argc, char** argv);
  // Parses the words after "regard". Returns the message of a usage error, or nullopt. Throws
  // CLI::ParseError, a std::runtime_error, if they ask for help or the version.
  std::optional<std::string> find_fault(const std::vector<std::string>& words);

  CommandOutline outline() const;

  Command command = {};
  bool quiet = false;
  TrainArguments train;
  PrepareArguments prepare;
  FeaturesArguments features;
  TranslateArguments translate;
  SynthesizeArguments synthesize;
  EvaluateArguments evaluate;
  ScoreArguments score;
  RerankArguments rerank;
  ShortlistArguments shortlist;
  AverageArguments average;
  QuantizeArguments quantize;
  ServeArguments serve;
  InfoArguments info;
  ReportArguments report;
  ExportArguments export_model;
  PipelineArguments pipeline;
  ConfigArguments config;
  ConfigInitArguments config_init;
  ConfigConvertArguments config_convert;
  ConfigDocsArguments config_docs;
  CompletionsArguments completions;
  ManArguments man;

 private:
  std::unique_ptr<CLI::App> program_;
};

}  // namespace regard
