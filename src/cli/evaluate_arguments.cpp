#include "cli/evaluate_arguments.h"

namespace regard {
namespace {

void add_metric_options(CLI::App& command, EvaluateArguments& arguments, CLI::Option* source,
                        CLI::Option* model) {
  command.add_option("--tokenize", arguments.tokenizer,
                     "BLEU's tokenizer, as in sacreBLEU: 13a, intl, char or none");
  command.add_flag("--lowercase", arguments.lowercase, "score without regard to case");
  command
      .add_option("--chrf-word-order", arguments.chrf_word_order,
                  "word n-grams in chrF; 2 is chrF++")
      ->check(CLI::Range(0, 9));
  auto* by_length =
      command
          .add_option("--by-length", arguments.by_length,
                      "also score by source length, e.g. 10,20,30: up to 10 words, 11 to 20, …")
          ->delimiter(',')
          ->allow_extra_args(false)
          ->needs(source);
  command.add_option("--by-length-svg", arguments.by_length_svg, "draw the scores by length")
      ->needs(by_length)
      ->type_name("FILE");
  command
      .add_option("--compare", arguments.compared,
                  "other translations of the same source, for the same table and drawing")
      ->needs(by_length)
      ->type_name("FILE");
  command
      .add_option("--alignments-gold", arguments.gold,
                  "word alignments of source and first reference (Pharaoh): the alignment "
                  "error rate of the model's attention against them")
      ->needs(model)
      ->type_name("FILE");
  command.add_flag("--json", arguments.json, "print one JSON object");
}

}  // namespace

CLI::App* add_evaluate(CLI::App& program, EvaluateArguments& arguments) {
  auto* command =
      program.add_subcommand("evaluate", "Score a model's translations, or those in a file");
  auto* source = command->add_option("-s,--src", arguments.source, "the source text, plain or .gz");
  command
      ->add_option("-r,--ref", arguments.references,
                   "its reference translations, one file or several")
      ->required();
  auto* model = add_model_options(*command, arguments.model)->needs(source);
  command
      ->add_option("--hypotheses", arguments.hypotheses,
                   "score the translations in this file; no model is needed")
      ->excludes(model);
  command->add_option("-o,--output", arguments.output, "keep the model's translations here")
      ->needs(model);
  add_metric_options(*command, arguments, source, model);
  add_search_options(*command, model, arguments.search);
  return command;
}

}  // namespace regard
