#include "cli/arguments.h"

#include "cli/numbers.h"

namespace regard {
namespace {

CLI::App* add_print(CLI::App& config, ConfigArguments& arguments) {
  auto* command =
      config.add_subcommand("print", "Check a configuration and print it with all keys (YAML)");
  command
      ->add_option("-c,--config", arguments.config,
                   "configuration file (YAML); without it, print the defaults")
      ->type_name("FILE");
  command
      ->add_option("overrides", arguments.overrides,
                   "key=value, e.g. training.learning_rate=0.0005")
      ->type_name("KEY=VALUE");
  command->add_flag("--help-comments", arguments.help_comments,
                    "write the help and range of each key above it");
  return command;
}

CLI::App* add_init(CLI::App& config, ConfigInitArguments& arguments) {
  auto* command = config.add_subcommand(
      "init", "Write a configuration for two text files; on a terminal, ask for missing choices");
  auto* source = command->add_option("source", arguments.source, "source text, plain or .gz")
                     ->type_name("FILE");
  command
      ->add_option("target", arguments.target,
                   "its translation, line by line; the file extensions name the languages")
      ->type_name("FILE");
  auto* dev =
      command
          ->add_option(
              "--dev", arguments.dev,
              "validation pair, two files (default: dev, valid or val beside the source, if found)")
          ->expected(2)
          ->needs(source)
          ->type_name("FILE");
  command
      ->add_option("--split", arguments.split,
                   "draw N random pairs for validation, and write the split to new files beside "
                   "the configuration")
      ->transform(whole_number(1, 1'000'000))
      ->needs(source)
      ->excludes(dev)
      ->type_name("N");
  command->add_option("--name", arguments.name, "name of the model")->type_name("NAME");
  command
      ->add_option("-o,--output", arguments.output,
                   "output file, which must not exist (default: standard output)")
      ->type_name("FILE");
  command->add_flag("-y,--yes", arguments.yes, "ask nothing, accept all guesses");
  return command;
}

CLI::App* add_convert(CLI::App& config, ConfigConvertArguments& arguments) {
  auto* command = config.add_subcommand(
      "convert", "Convert a configuration of JoeyNMT 2, and list keys without an equivalent");
  command->add_option("file", arguments.input, "configuration file of JoeyNMT (YAML)")
      ->required()
      ->type_name("FILE");
  command->add_option("-o,--output", arguments.output, "output file (default: standard output)")
      ->type_name("FILE");
  return command;
}

}  // namespace

ConfigCommands add_config(CLI::App& program, ConfigArguments& print, ConfigInitArguments& init,
                          ConfigConvertArguments& convert) {
  auto* config = program.add_subcommand(
      "config", "Create, convert or print a configuration, or list all keys");
  config->require_subcommand(1);
  return {add_print(*config, print), add_init(*config, init), add_convert(*config, convert),
          config->add_subcommand("docs", "Print the documentation of all keys (Markdown)"),
          config->add_subcommand("schema", "Print the JSON Schema, for completion in editors")};
}

}  // namespace regard
