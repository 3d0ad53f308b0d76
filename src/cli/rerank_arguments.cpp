// The command rerank, and which of its options exclude each other.
#include "cli/arguments.h"

#include <CLI/CLI.hpp>

#include "base/error.h"

namespace regard {
namespace {

void add_feature_options(CLI::App& command, RerankArguments& arguments) {
  const std::string group = "Features";
  auto* model = command
                    .add_option("-m,--model", arguments.models,
                                "models whose log-probabilities of the translations are the "
                                "features model, model_2, …")
                    ->type_name("MODEL")
                    ->group(group);
  add_tag_options(command, model, arguments.device.tags);
  auto* reverse = command
                      .add_option("--reverse", arguments.reverse,
                                  "models of the opposite direction, whose log-probabilities of "
                                  "the source are the features reverse, reverse_2, …")
                      ->type_name("MODEL")
                      ->group(group);
  add_tag_options(command, reverse, arguments.reverse_tags, reverse_tag_options);
  command
      .add_option("--lm", arguments.language_models,
                  "language models of the target side: the features lm, lm_2, …")
      ->type_name("MODEL")
      ->group(group);
  command
      .add_option("--features", arguments.features,
                  "table of the features of models and of others (text, tabs): read if it exists; "
                  "missing columns are computed and added")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--batch-size", arguments.batch_size, "number of translations scored together")
      ->transform(whole_number(1, 1000000))
      ->type_name("N")
      ->group(group);
}

void add_tuning_options(CLI::App& command, RerankArguments& arguments, CLI::Option* tune) {
  const std::string group = "Tuning";
  tune->group(group);
  auto* references = command
                         .add_option("-r,--ref", arguments.references,
                                     "reference translations of the source, one file or several")
                         ->needs(tune)
                         ->type_name("FILE")
                         ->group(group);
  tune->needs(references);
  command.add_option("--metric", arguments.metric, "metric to be raised (default bleu)")
      ->needs(tune)
      ->type_name("bleu|chrf")
      ->group(group);
  command
      .add_option("--list-features", arguments.list_features,
                  "features of the list: score (default), or names in its third field such as "
                  "logprob; none for none")
      ->needs(tune)
      ->delimiter(',')
      ->type_name("NAMES")
      ->group(group);
  command
      .add_flag("--per-token", arguments.per_token,
                "also use the log-probability per token of each model: model_per_token, …")
      ->needs(tune)
      ->group(group);
  command
      .add_flag("--no-length", arguments.no_length,
                "do not use the length: for text whose references are longer or shorter than usual")
      ->needs(tune)
      ->group(group);
  command
      .add_option("--restarts", arguments.restarts, "number of random starting points (default 20)")
      ->needs(tune)
      ->transform(whole_number(0, 100'000))
      ->type_name("N")
      ->group(group);
  command.add_option("--seed", arguments.seed, "random seed of the tuning (default 1)")
      ->needs(tune)
      ->transform(whole_number(0))
      ->type_name("N")
      ->group(group);
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
  command->add_option("-s,--src", arguments.source, "source text of the list, plain or compressed")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("-i,--input", arguments.input,
                   "n-best list of `regard translate --n-best` (default: standard input)")
      ->type_name("FILE");
  command
      ->add_option("-o,--output", arguments.output,
                   "output file: translations, a list or tuned weights (default: standard output)")
      ->type_name("FILE");
  auto* tune = command->add_flag("--tune", arguments.tune,
                                 "write the weights with the best metric (JSON): minimum error "
                                 "rate training (Och 2003); --weight sets where it starts");
  command->add_option("--weights", arguments.weights, "weights that --tune has written")
      ->excludes(tune)
      ->type_name("FILE");
  command
      ->add_option("--weight", arguments.weight,
                   "weight of a feature: score, length (words), model, reverse, lm, "
                   "model_per_token, …, or a name in the third field of the list")
      ->type_name("NAME=X");
  command
      ->add_option("--n-best", arguments.n_best,
                   "print a list of the N best translations of each line instead of the best")
      ->excludes(tune)
      ->transform(whole_number(1, 1'000'000))
      ->type_name("N");
  add_feature_options(*command, arguments);
  add_tuning_options(*command, arguments, tune);
  add_device_options(*command, arguments.device);
  add_precision_option(*command, arguments.device);
  return command;
}

}  // namespace regard
