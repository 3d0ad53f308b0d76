// Parses the command line of regard. Does not need LibTorch, which takes a third of a second to
// load.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "cli/arguments.h"
#include "cli/outline.h"

namespace regard {

// The arguments of a command, whose type tells which command it is.
using CommandArguments =
    std::variant<std::monostate, TrainArguments, PrepareArguments, FeaturesArguments,
                 TranslateArguments, SynthesizeArguments, EvaluateArguments, ScoreArguments,
                 RerankArguments, ShortlistArguments, AverageArguments, QuantizeArguments,
                 ServeArguments, InfoArguments, ReportArguments, ExportArguments, PipelineArguments,
                 ConfigArguments, ConfigInitArguments, ConfigConvertArguments, ConfigDocsArguments,
                 ConfigSchemaArguments, CompletionsArguments, ManArguments>;

class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Returns nullopt if a command should run. Otherwise returns the exit code, after printing help,
  // the version or candidates for a shell, or reporting a usage error.
  std::optional<ExitCode> parse(int argc, char** argv);
  // Parses the words after "regard". Returns the message of a usage error, or nullopt. Throws
  // CLI::ParseError, a std::runtime_error, if they ask for help or the version.
  std::optional<std::string> find_fault(const std::vector<std::string>& words);

  // Returns the values of an option of the parsed command, such as "--src", also after a usage
  // error; nullopt if the command has no such option.
  std::optional<std::vector<std::string>> values_of(const std::string& option) const;

  CommandOutline outline() const;

  // Calls the function that takes the arguments of the parsed command, and returns its exit code.
  // Returns nullopt if none of `commands` does.
  template <typename... Arguments>
  std::optional<ExitCode> run(ExitCode (*... commands)(const Arguments&)) const {
    std::optional<ExitCode> code;
    const auto run_if_parsed = [&code](const auto* arguments, auto command) {
      if (arguments != nullptr) code = command(*arguments);
    };
    (run_if_parsed(std::get_if<Arguments>(&parsed), commands), ...);
    return code;
  }

  CommandArguments parsed;
  bool quiet = false;

 private:
  std::unique_ptr<CLI::App> program_;
};

}  // namespace regard
