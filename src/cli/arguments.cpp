// The commands that have no file of their own here.

#include "cli/arguments.h"

#include <CLI/CLI.hpp>

#include "cli/option_helpers.h"

namespace regard {
namespace {

// Adds the arguments key=value. `example` is shown in the help.
void add_overrides(CLI::App& command, std::vector<std::string>& overrides,
                   const std::string& example = "training.learning_rate=0.0005") {
  command.add_option("overrides", overrides, "key=value, e.g. " + example)->type_name("KEY=VALUE");
}

void add_model(CLI::App& command, std::string& model) {
  command
      .add_option("model", model, "a run folder (its best model, else its last) or a model folder")
      ->required()
      ->type_name("MODEL");
}

void add_model_output(CLI::App& command, std::string& output) {
  command.add_option("-o,--output", output, "output model folder; an existing model is replaced")
      ->type_name("FOLDER")
      ->required();
}

void add_alignment_options(CLI::App& command, ScoreArguments& arguments, CLI::Option* target) {
  auto* align = add_file(command, "--align", arguments.align,
                         "write word alignments from the attention, in Pharaoh format")
                    ->needs(target);
  auto* reverse =
      command
          .add_option(
              "--reverse", arguments.reverse,
              "a model of the opposite direction; both alignments are merged (--symmetrise)")
          ->needs(align)
          ->type_name("MODEL");
  add_tag_options(command, reverse, arguments.reverse_tags, reverse_tag_options);
  add_choice(command, "--symmetrise", arguments.symmetrise,
             "how to merge both alignments (default grow-diag-final-and)",
             "grow-diag-final-and|intersection|union")
      ->needs(reverse);
  add_file(command, "--alignments-gold", arguments.gold,
           "gold alignments of the pairs, to report the alignment error rate")
      ->needs(align);
}

}  // namespace

CLI::App* add_train(CLI::App& program, TrainArguments& arguments) {
  auto* command = program.add_subcommand("train", "Train a model, or resume a stopped run");
  add_file(*command, "-c,--config", arguments.config, "configuration file (YAML)")->required();
  add_overrides(*command, arguments.overrides);
  command->add_option("--device", arguments.device, "device to train on; also cuda:N")
      ->type_name("auto|cpu|cuda");
  add_threads(*command, arguments.threads);
  command
      ->add_option("--init-from", arguments.init_from,
                   "start from the weights and vocabularies of this run or model folder")
      ->type_name("MODEL");
  command->add_flag("--fresh", arguments.fresh, "delete the existing run and start over");
  auto* dry_run = command->add_flag(
      "--dry-run", arguments.dry_run,
      "check everything, try a few steps, estimate time and memory; write nothing");
  command
      ->add_flag("--json", arguments.json,
                 "at the end, print the output of `regard info --json` for the run")
      ->excludes(dry_run);
  return command;
}

CLI::App* add_prepare(CLI::App& program, PrepareArguments& arguments) {
  auto* command = program.add_subcommand(
      "prepare", "Tokenize the training corpora once, for corpora larger than memory");
  auto* config = add_file(*command, "-c,--config", arguments.config, "configuration file (YAML)");
  add_overrides(*command, arguments.overrides, "data.remove_duplicates=true");
  auto* output = command
                     ->add_option("-o,--output", arguments.output,
                                  "output folder: new, empty, or of a prepare that was stopped")
                     ->type_name("FOLDER");
  add_threads(*command, arguments.threads);
  command
      ->add_option("--verify", arguments.verify,
                   "compare every byte of a prepared folder with its hashes, and write nothing")
      ->excludes(config)
      ->excludes(output)
      ->type_name("FOLDER");
  return command;
}

CLI::App* add_features(CLI::App& program, FeaturesArguments& arguments) {
  auto* command = program.add_subcommand(
      "features", "Compute features of sounds or images (WAV, PNG), for data.source: features");
  add_file(*command, "-i,--input", arguments.input,
           "list of WAV files (PCM, 16 bits, one channel) or of PNG files of one size, one "
           "path in each line (default: standard input)");
  add_file(*command, "-o,--output", arguments.output,
           "output file; item i is the sound or image in line i of the list")
      ->required();
  auto* like = add_file(*command, "--like", arguments.like,
                        "reuse the settings and statistics of this feature file, or its "
                        "image size");
  const auto add_setting = [&](const char* name, auto& value, const char* help,
                               const CLI::Validator& range) {
    add_number(*command, name, value, help, range)->excludes(like);
  };
  add_setting("--rate", arguments.rate, "sound: samples per second that all files must have",
              whole_number(100, 1'000'000));
  add_setting("--bins", arguments.bins, "sound: number of mel bins", whole_number(1, 1024));
  add_setting("--window", arguments.window, "sound: length of a frame in milliseconds",
              real_number(0.1, 10'000));
  add_setting("--hop", arguments.hop, "sound: milliseconds from one frame to the next",
              real_number(0.1, 10'000));
  add_choice(*command, "--normalise", arguments.normalise,
             "sound: mean 0 and variance 1 of each bin, over each item or over all items of "
             "the list",
             "item|global|none")
      ->excludes(like);
  add_threads(*command, arguments.threads);
  return command;
}

CLI::App* add_score(CLI::App& program, ScoreArguments& arguments) {
  auto* command = program.add_subcommand(
      "score", "Print the log-probabilities of given translations, and align them");
  add_model_options(*command, arguments.model)->required();
  add_file(*command, "-s,--src", arguments.source,
           "source text, plain or compressed; a language model needs none");
  auto* target =
      add_file(*command, "-t,--trg", arguments.target, "translations of the source, line by line");
  auto* n_best = add_file(*command, "--n-best", arguments.n_best,
                          "an n-best list (Moses) instead of -t; adds the log-probability "
                          "to each line as a feature")
                     ->excludes(target);
  command
      ->add_option("--feature", arguments.feature,
                   "name of the feature, which the list must not have yet (default regard)")
      ->needs(n_best)
      ->type_name("NAME");
  command
      ->add_flag("--swap", arguments.swap,
                 "score the source given the translation, for a model of the opposite direction")
      ->needs(n_best);
  command
      ->add_flag("--per-token", arguments.per_token,
                 "also add the log-probability per token as the feature NAME_per_token")
      ->needs(n_best);
  add_file(*command, "-o,--output", arguments.output, "output file (default: standard output)");
  command->add_flag("--words", arguments.words, "also print the log-probability of each word")
      ->excludes(n_best);
  command->add_flag("--json", arguments.json, "print one JSON object")->excludes(n_best);
  add_number(*command, "--batch-size", arguments.batch_size, "number of pairs scored together",
             whole_number(1, 1'000'000));
  add_alignment_options(*command, arguments, target);
  return command;
}

CLI::App* add_shortlist(CLI::App& program, ShortlistArguments& arguments) {
  auto* command = program.add_subcommand(
      "shortlist", "Learn the likely target tokens of each source token, for faster translation");
  add_model_options(*command, arguments.model)->required();
  add_file(*command, "-s,--src", arguments.source, "source text, plain or compressed")->required();
  add_file(*command, "-t,--trg", arguments.target,
           "translations of the source, line by line, such as the training data")
      ->required();
  add_file(*command, "--alignments", arguments.alignments,
           "word alignments of the two texts (Pharaoh), instead of the model's attention");
  add_file(*command, "-o,--output", arguments.output, "output file (default: standard output)");
  return command;
}

CLI::App* add_average(CLI::App& program, AverageArguments& arguments) {
  auto* command = program.add_subcommand(
      "average", "Average the weights of models that share their first weights");
  command
      ->add_option("models", arguments.models,
                   "one run folder, with --last or --best; or two or more models, each a run "
                   "folder (its best model, else its last) or a model folder, of one run or of "
                   "runs that started from one model (train --init-from)")
      ->required()
      ->type_name("MODEL");
  auto* last = add_number(*command, "--last", arguments.last,
                          "average the N newest checkpoints of the run; a run keeps as many as "
                          "training.keep_newest says",
                          whole_number(1, 1000));
  add_number(*command, "--best", arguments.best,
             "average the N best checkpoints of the run, by training.early_stopping_metric; a "
             "run keeps as many as training.keep_best says",
             whole_number(1, 1000))
      ->excludes(last);
  add_model_output(*command, arguments.output);
  command->add_flag("--force", arguments.force, "average models of different descent too");
  return command;
}

CLI::App* add_quantize(CLI::App& program, QuantizeArguments& arguments) {
  auto* command = program.add_subcommand(
      "quantize", "Store the weights of a model in 8 bits, in a quarter of the space");
  add_model(*command, arguments.model);
  add_model_output(*command, arguments.output);
  return command;
}

CLI::App* add_info(CLI::App& program, InfoArguments& arguments) {
  auto* command = program.add_subcommand("info", "Describe a model, or compare training runs");
  command
      ->add_option("model", arguments.models,
                   "a run folder or a model folder; several run folders are compared")
      ->required()
      ->type_name("MODEL");
  command->add_flag("--json", arguments.json, "print one JSON object");
  return command;
}

CLI::App* add_report(CLI::App& program, ReportArguments& arguments) {
  auto* command = program.add_subcommand(
      "report", "Write an .html page about a run, or about several side by side");
  command
      ->add_option("run", arguments.model.models,
                   "a run folder; several are compared: options, learning curves, BLEU with "
                   "intervals, means over seeds")
      ->required()
      ->type_name("FOLDER");
  add_file(*command, "-o,--output", arguments.output,
           "output file (default: report.html in the run folder; comparison.html for "
           "several runs)");
  auto* source = add_file(*command, "-s,--src", arguments.source,
                          "score translations of this text (plain or compressed) instead of the "
                          "validation text; needs --ref and --hypotheses");
  auto* reference =
      add_file(*command, "-r,--ref", arguments.reference, "reference translations")->needs(source);
  auto* hypotheses =
      add_file(*command, "--hypotheses", arguments.hypotheses, "file of translations")
          ->needs(source)
          ->needs(reference);
  source->needs(reference)->needs(hypotheses);
  reference->needs(hypotheses);
  add_number(*command, "--sentences", arguments.sentences,
             "number of sentences in each part (default 5)", whole_number(0, 100));
  add_device_options(*command, arguments.model);
  return command;
}

CLI::App* add_export(CLI::App& program, ExportArguments& arguments) {
  auto* command = program.add_subcommand(
      "export", "Write a model for ONNX, CTranslate2 or Hugging Face, with Python");
  add_model(*command, arguments.model);
  add_choice(*command, "--to", arguments.format, "runtime that reads the export",
             "onnx|ctranslate2|huggingface")
      ->required();
  command->add_option("-o,--output", arguments.output, "folder to write")
      ->required()
      ->type_name("FOLDER");
  command
      ->add_option("--quantization", arguments.quantization,
                   "numbers of the weights for ctranslate2 (default float32)")
      ->type_name("TYPE");
  command->add_flag("--force", arguments.force, "replace an earlier export");
  return command;
}

CLI::App* add_pipeline(CLI::App& program, PipelineArguments& arguments) {
  auto* command = program.add_subcommand(
      "pipeline", "Run the steps of a plan, such as teachers, synthetic pairs and a student");
  add_file(*command, "plan", arguments.plan, "plan (YAML)")->required();
  command->add_option("variables", arguments.variables, "variable=value, e.g. out=runs/mine")
      ->type_name("VARIABLE=VALUE");
  add_number(*command, "--jobs", arguments.jobs,
             "number of steps that run at the same time, if they need no others",
             whole_number(1, 1024));
  add_threads(*command, arguments.threads);
  auto* dry_run = command->add_flag("--dry-run", arguments.dry_run,
                                    "check everything and print the commands; write nothing");
  command->add_flag("--fresh", arguments.fresh,
                    "do changed steps again, and all steps after them; old results are kept as "
                    "RESULT.old-N");
  command->add_flag("--json", arguments.json, "print the scores as one JSON object")
      ->excludes(dry_run);
  return command;
}

CLI::App* add_completions(CLI::App& program, CompletionsArguments& arguments) {
  auto* command = program.add_subcommand(
      "completions", "Print a script that completes the command line in a shell");
  add_choice(*command, "shell", arguments.shell, "name of the shell", "bash|zsh|fish")->required();
  return command;
}

CLI::App* add_man(CLI::App& program, ManArguments& arguments) {
  auto* command = program.add_subcommand("man", "Print the manual page of regard or of a command");
  auto* name =
      command
          ->add_option("command", arguments.command, "name of the command (default: regard itself)")
          ->type_name("COMMAND");
  command->add_option("--into", arguments.into, "write all pages to this folder")
      ->excludes(name)
      ->type_name("FOLDER");
  return command;
}

CLI::App* add_config(CLI::App& program) {
  auto* config = program.add_subcommand(
      "config", "Create, convert or print a configuration, or list all keys");
  config->require_subcommand(1);
  return config;
}

CLI::App* add_config_print(CLI::App& config, ConfigArguments& arguments) {
  auto* command =
      config.add_subcommand("print", "Check a configuration and print it with its defaults (YAML)");
  add_file(*command, "-c,--config", arguments.config,
           "configuration file (YAML); without it, print the defaults");
  add_overrides(*command, arguments.overrides);
  command->add_flag("--help-comments", arguments.help_comments,
                    "write the help and range of each key above it");
  return command;
}

CLI::App* add_config_init(CLI::App& config, ConfigInitArguments& arguments) {
  auto* command = config.add_subcommand(
      "init",
      "Write a configuration for two text files, or one with both sides; on a terminal, ask for "
      "missing choices");
  auto* source = add_file(*command, "source", arguments.source,
                          "source text, or a file with both sides (.tsv, .csv, .jsonl, "
                          ".tmx); docs/formats.md");
  add_file(*command, "target", arguments.target,
           "its translation, line by line; the file extensions name the languages");
  auto* dev = add_file(*command, "--dev", arguments.dev,
                       "validation pair, two files or one with both sides (default: dev, valid or "
                       "val beside the source, if found)")
                  ->expected(1, 2)
                  ->needs(source);
  add_number(*command, "--split", arguments.split,
             "draw N random pairs for validation, and write the split to new files beside "
             "the configuration",
             whole_number(1, 1'000'000))
      ->needs(source)
      ->excludes(dev);
  add_choice(*command, "--architecture", arguments.architecture,
             "recurrent: GRUs with attention (default for up to 60,000 pairs); transformer "
             "(default for more)",
             "recurrent|transformer");
  command->add_option("--name", arguments.name, "name of the model")->type_name("NAME");
  add_file(*command, "-o,--output", arguments.output,
           "output file, which must not exist (default: standard output)");
  command->add_flag("-y,--yes", arguments.yes, "ask nothing, accept all guesses");
  return command;
}

CLI::App* add_config_convert(CLI::App& config, ConfigConvertArguments& arguments) {
  auto* command = config.add_subcommand(
      "convert", "Convert a configuration of another trainer, and list keys without an equivalent");
  add_file(*command, "file", arguments.input,
           "configuration of JoeyNMT 2, OpenNMT-py or Marian (YAML), or a command of fairseq-train")
      ->required();
  add_file(*command, "-o,--output", arguments.output, "output file (default: standard output)");
  return command;
}

CLI::App* add_config_docs(CLI::App& config, ConfigDocsArguments& arguments) {
  auto* command = config.add_subcommand(
      "docs",
      "Print the documentation of a key, a section or all keys (Markdown unless on a terminal)");
  command
      ->add_option("key", arguments.key,
                   "key or section, such as training.optimizer, or its last part")
      ->type_name("KEY");
  return command;
}

CLI::App* add_config_schema(CLI::App& config, ConfigSchemaArguments&) {
  return config.add_subcommand("schema", "Print the JSON Schema, for completion in editors");
}

}  // namespace regard
