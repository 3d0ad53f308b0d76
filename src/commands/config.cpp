// regard config: the configuration as it is understood, and the pages about its keys.
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "commands/commands.h"
#include "commands/output_file.h"
#include "config/check.h"
#include "config/docs.h"
#include "config/reader.h"
#include "config/writer.h"
#include "model/attention/table.h"

namespace regard {
namespace {

struct PrintArguments {
  std::string config;
  std::vector<std::string> overrides;
  bool help_comments = false;
};

void print(const std::string& text) {
  OutputFile output("");
  output.write(text);
  output.commit();
}

void print_options(const PrintArguments& arguments) {
  Origins origins;
  const auto options = arguments.config.empty()
                           ? parse_options("", "defaults", arguments.overrides, &origins)
                           : read_options(arguments.config, arguments.overrides, &origins);
  check_options(options, origins);
  check_attention_kind(options.model.attention.kind, origins.of("model.attention.kind"));
  print(write_options(options, arguments.help_comments ? Comments::help : Comments::none));
}

void add_print(CLI::App& config, ExitCode& exit_code) {
  auto arguments = std::make_shared<PrintArguments>();
  auto* command = config.add_subcommand(
      "print", "Check a configuration and print every key as regard understands it (YAML)");
  command->add_option("-c,--config", arguments->config,
                      "the configuration (YAML); the defaults when not given");
  command->add_option("overrides", arguments->overrides,
                      "key=value, e.g. training.learning_rate=0.0005");
  command->add_flag("--help-comments", arguments->help_comments,
                    "with each key's help and range above it");
  command->callback([arguments, &exit_code] {
    print_options(*arguments);
    exit_code = ExitCode::ok;
  });
}

}  // namespace

void add_config(CLI::App& program, ExitCode& exit_code) {
  auto* command = program.add_subcommand("config", "Print a configuration, or what keys there are");
  command->require_subcommand(1);
  add_print(*command, exit_code);
  command->add_subcommand("docs", "Print the page of all keys (Markdown)")->callback([] {
    print(options_markdown());
  });
  command->add_subcommand("schema", "Print the JSON Schema, by which editors complete keys")
      ->callback([] { print(options_schema()); });
}

}  // namespace regard
