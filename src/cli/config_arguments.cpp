#include "cli/config_arguments.h"

namespace regard {
namespace {

CLI::App* add_print(CLI::App& config, ConfigArguments& arguments) {
  auto* command = config.add_subcommand(
      "print", "Check a configuration and print every key as regard understands it (YAML)");
  command->add_option("-c,--config", arguments.config,
                      "the configuration (YAML); the defaults when not given");
  command->add_option("overrides", arguments.overrides,
                      "key=value, e.g. training.learning_rate=0.0005");
  command->add_flag("--help-comments", arguments.help_comments,
                    "with each key's help and range above it");
  return command;
}

}  // namespace

ConfigCommands add_config(CLI::App& program, ConfigArguments& arguments) {
  auto* config = program.add_subcommand("config", "Print a configuration, or what keys there are");
  config->require_subcommand(1);
  return {
      add_print(*config, arguments),
      config->add_subcommand("docs", "Print the page of all keys (Markdown)"),
      config->add_subcommand("schema", "Print the JSON Schema, by which editors complete keys")};
}

}  // namespace regard
