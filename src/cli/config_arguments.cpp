#include "cli/config_arguments.h"

#include "cli/numbers.h"

namespace regard {
namespace {

CLI::App* add_print(CLI::App& config, ConfigArguments& arguments) {
  auto* command = config.add_subcommand(
      "print", "Check a configuration and print every key as regard understands it (YAML)");
  command
      ->add_option("-c,--config", arguments.config,
                   "the configuration (YAML); the defaults when not given")
      ->type_name("FILE");
  command
      ->add_option("overrides", arguments.overrides,
                   "key=value, e.g. training.learning_rate=0.0005")
      ->type_name("KEY=VALUE");
  command->add_flag("--help-comments", arguments.help_comments,
                    "with each key's help and range above it");
  return command;
}

CLI::App* add_init(CLI::App& config, ConfigInitArguments& arguments) {
  auto* command = config.add_subcommand(
      "init", "Write a configuration that fits two text files; on a terminal, ask what is open");
  auto* source = command->add_option("source", arguments.source, "the source text, plain or .gz")
                     ->type_name("FILE");
  command
      ->add_option("target", arguments.target,
                   "its translation, line by line; the files' endings "
                   "tell the languages")
      ->type_name("FILE");
  auto* dev = command
                  ->add_option("--dev", arguments.dev,
                               "the validation pair, two files; else dev, valid or val beside the "
                               "source is taken")
                  ->expected(2)
                  ->needs(source)
                  ->type_name("FILE");
  command
      ->add_option("--split", arguments.split,
                   "set so many pairs, drawn at random, apart for validation, in new files beside "
                   "the configuration")
      ->transform(whole_number(1, 1'000'000))
      ->needs(source)
      ->excludes(dev)
      ->type_name("N");
  command->add_option("--name", arguments.name, "what the model is called")->type_name("NAME");
  command
      ->add_option("-o,--output", arguments.output,
                   "where the configuration goes, a new file; standard output when not given")
      ->type_name("FILE");
  command->add_flag("-y,--yes", arguments.yes, "ask nothing, take what is guessed");
  return command;
}

CLI::App* add_convert(CLI::App& config, ConfigConvertArguments& arguments) {
  auto* command = config.add_subcommand(
      "convert", "Make a configuration of JoeyNMT's (version 2); says what has no counterpart");
  command->add_option("file", arguments.input, "JoeyNMT's configuration (YAML)")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("-o,--output", arguments.output,
                   "where the configuration goes; standard output when not given")
      ->type_name("FILE");
  return command;
}

}  // namespace

ConfigCommands add_config(CLI::App& program, ConfigArguments& print, ConfigInitArguments& init,
                          ConfigConvertArguments& convert) {
  auto* config = program.add_subcommand(
      "config", "Begin, convert or print a configuration, or say what keys there are");
  config->require_subcommand(1);
  return {
      add_print(*config, print), add_init(*config, init), add_convert(*config, convert),
      config->add_subcommand("docs", "Print the page of all keys (Markdown)"),
      config->add_subcommand("schema", "Print the JSON Schema, by which editors complete keys")};
}

}  // namespace regard
