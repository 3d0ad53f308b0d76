// The command rerank, and which of its options exclude each other.
#include "cli/arguments.h"

#include <CLI/CLI.hpp>

#include <algorithm>

#include "base/error.h"
#include "cli/option_helpers.h"

namespace regard {
namespace {

void add_tuning_options(CLI::App& command, RerankArguments& arguments, CLI::Option* tune) {
  const HelpGroup group(command, "Tuning");
  tune->group("Tuning");
  auto* references = add_file(command, "-r,--ref", arguments.references,
                              "reference translations, one line for each sentence of the list; "
                              "one file or several")
                         ->needs(tune);
  tune->needs(references);
  add_choice(command, "--metric", arguments.metric, "metric to be raised (default bleu)",
             "bleu|chrf")
      ->needs(tune);
  command
      .add_option("--list-features", arguments.list_features,
                  "features to be tuned, such as score,reverse,lm (default: those with one number "
                  "in each line of the list)")
      ->needs(tune)
      ->delimiter(',')
      ->type_name("NAMES");
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
  if (std::ranges::count(arguments.list_features, "") > 0) {
    throw ConfigError("--list-features: found an empty name, expected names such as score,lm");
  }
  if (!arguments.tune && by_file && by_hand) {
    throw ConfigError("rerank: found --weights and --weight, expected one of both");
  }
  if (!arguments.tune && !by_file && !by_hand) {
    throw ConfigError(
        "rerank: expected either --weights FILE or --weight NAME=X, or --tune to find weights");
  }
}

CLI::App* add_rerank(CLI::App& program, RerankArguments& arguments) {
  auto* command = program.add_subcommand(
      "rerank", "Choose from n-best lists by weighted features, and tune the weights");
  add_file(*command, "-i,--input", arguments.input,
           "n-best list of `regard translate --n-best`; `regard score --n-best` adds features of "
           "models (default: standard input)");
  add_file(*command, "-o,--output", arguments.output,
           "output file: translations, a list or tuned weights (default: standard output)");
  auto* tune = command->add_flag("--tune", arguments.tune,
                                 "write the weights with the best metric (JSON): minimum error "
                                 "rate training (Och 2003); --weight sets where it starts");
  add_file(*command, "--weights", arguments.weights, "weights that --tune has written")
      ->excludes(tune);
  command
      ->add_option("--weight", arguments.weight,
                   "weight of a feature: score, length (words), or a name in the third field of "
                   "the list")
      ->type_name("NAME=X");
  add_number(*command, "--n-best", arguments.n_best,
             "print a list of the N best translations of each line instead of the best",
             whole_number(1, 1'000'000))
      ->excludes(tune);
  add_tuning_options(*command, arguments, tune);
  add_threads(*command, arguments.threads);
  return command;
}

}  // namespace regard
