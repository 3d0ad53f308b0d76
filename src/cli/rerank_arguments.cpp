// The command rerank, and which of its options exclude each other.
#include "cli/arguments.h"

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "cli/option_helpers.h"

namespace regard {
namespace {

void add_feature_options(CLI::App& command, RerankArguments& arguments) {
  const HelpGroup group(command, "Features");
  auto* model = command
                    .add_option("-m,--model", arguments.models,
                                "models whose log-probabilities of the translations are the "
                                "features model, model_2, …")
                    ->type_name("MODEL");
  add_tag_options(command, model, arguments.device.tags);
  auto* reverse = command
                      .add_option("--reverse", arguments.reverse,
                                  "models of the opposite direction, whose log-probabilities of "
                                  "the source are the features reverse, reverse_2, …")
                      ->type_name("MODEL");
  add_tag_options(command, reverse, arguments.reverse_tags, reverse_tag_options);
  command
      .add_option("--lm", arguments.language_models,
                  "language models of the target side: the features lm, lm_2, …")
      ->type_name("MODEL");
  add_file(command, "--features", arguments.features,
           "table of the features of models and of others (text, tabs): read if it exists; "
           "missing columns are computed and added");
  add_number(command, "--batch-size", arguments.batch_size,
             "number of translations scored together", whole_number(1, 1000000));
}

void add_tuning_options(CLI::App& command, RerankArguments& arguments, CLI::Option* tune) {
  const HelpGroup group(command, "Tuning");
  tune->group("Tuning");
  auto* references = add_file(command, "-r,--ref", arguments.references,
                              "reference translations of the source, one file or several")
                         ->needs(tune);
  tune->needs(references);
  command.add_option("--metric", arguments.metric, "metric to be raised (default bleu)")
      ->needs(tune)
      ->type_name("bleu|chrf");
  command
      .add_option("--list-features", arguments.list_features,
                  "features of the list: score (default), or names in its third field such as "
                  "logprob; none for none")
      ->needs(tune)
      ->delimiter(',')
      ->type_name("NAMES");
  command
      .add_flag("--per-token", arguments.per_token,
                "also use the log-probability per token of each model: model_per_token, …")
      ->needs(tune);
  command
      .add_flag("--no-length", arguments.no_length,
                "do not use the length: for text whose references are longer or shorter than usual")
      ->needs(tune);
  add_number(command, "--restarts", arguments.restarts,
             "number of random starting points (default 20)", whole_number(0, 100'000))
      ->needs(tune);
  add_number(command, "--seed", arguments.seed, "random seed of the tuning (default 1)",
             whole_number(0))
      ->needs(tune);
}

}  // namespace

void check_rerank(const RerankArguments& arguments) {
  const bool by_file = !arguments.weights.empty();
  const bool by_hand = !arguments.weight.empty();
  if (!arguments.tune && by_file && by_hand) {
    throw ConfigError("rerank: found --weights and --weight, expected one of both");
  }
  if (!arguments.tune && !by_file && !by_hand) {
    throw ConfigError(
        "rerank: expected either --weights FILE or --weight NAME=X, or --tune to find weights");
  }
  if (arguments.tune && arguments.metric != "bleu" && arguments.metric != "chrf") {
    throw ConfigError("--metric: found {}, expected bleu or chrf", arguments.metric);
  }
}

CLI::App* add_rerank(CLI::App& program, RerankArguments& arguments) {
  auto* command = program.add_subcommand(
      "rerank", "Choose from n-best lists by weighted features, and tune the weights");
  add_file(*command, "-s,--src", arguments.source, "source text of the list, plain or compressed")
      ->required();
  add_file(*command, "-i,--input", arguments.input,
           "n-best list of `regard translate --n-best` (default: standard input)");
  add_file(*command, "-o,--output", arguments.output,
           "output file: translations, a list or tuned weights (default: standard output)");
  auto* tune = command->add_flag("--tune", arguments.tune,
                                 "write the weights with the best metric (JSON): minimum error "
                                 "rate training (Och 2003); --weight sets where it starts");
  add_file(*command, "--weights", arguments.weights, "weights that --tune has written")
      ->excludes(tune);
  command
      ->add_option("--weight", arguments.weight,
                   "weight of a feature: score, length (words), model, reverse, lm, "
                   "model_per_token, …, or a name in the third field of the list")
      ->type_name("NAME=X");
  add_number(*command, "--n-best", arguments.n_best,
             "print a list of the N best translations of each line instead of the best",
             whole_number(1, 1'000'000))
      ->excludes(tune);
  add_feature_options(*command, arguments);
  add_tuning_options(*command, arguments, tune);
  add_device_options(*command, arguments.device);
  add_precision_option(*command, arguments.device);
  return command;
}

}  // namespace regard
