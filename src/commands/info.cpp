// regard info: what a model is, how it was trained, what it scored.
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/version.h"
#include "commands/commands.h"
#include "commands/model_report.h"
#include "commands/output_file.h"

namespace regard {

void add_info(CLI::App& program, ExitCode& exit_code) {
  struct Arguments {
    std::string model;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  auto* command =
      program.add_subcommand("info", "Say what a model is, how it was trained, what it scored");
  command->add_option("model", arguments->model, "a run folder or a model folder")->required();
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->callback([arguments, &exit_code] {
    const auto report = report_on(arguments->model);
    OutputFile output("");
    output.write(arguments->json ? to_json(report).dump(2) + "\n" : to_text(report));
    output.commit();
    exit_code = ExitCode::ok;
  });
}

}  // namespace regard
