#include "cli/evaluate_arguments.h"

#include "cli/numbers.h"

namespace regard {
namespace {

// In lower case; chrF2 and chrF2++ are what scores of chrf and chrf++ are called.
std::string metric_meant(const std::string& given) {
  const auto name = CLI::detail::to_lower(given);
  if (name == "chrf2") return "chrf";
  return name == "chrf2++" ? "chrf++" : name;
}

void add_metric_options(CLI::App& command, EvaluateArguments& arguments) {
  command
      .add_option("--metrics", arguments.metrics,
                  "which metrics, e.g. bleu,chrf++,ter or bleu chrf++ ter (default bleu,chrf)")
      ->delimiter(',')
      ->transform(metric_meant)
      ->type_name("bleu|chrf|chrf++|ter");
  command.add_option("--tokenize", arguments.tokenizer, "BLEU's tokenizer, as in sacreBLEU")
      ->type_name("13a|intl|zh|char|none");
  command
      .add_option("--smooth-method", arguments.smooth_method,
                  "what BLEU makes of a precision without a match, as in sacreBLEU (default exp)")
      ->type_name("exp|floor|add-k|none");
  command
      .add_option("--smooth-value", arguments.smooth_value,
                  "of floor (default 0.1) or add-k (default 1)")
      ->transform(real_number(0, 1e6))
      ->type_name("N");
  command.add_flag("--lowercase", arguments.lowercase,
                   "score BLEU and chrF without regard to case");
  command
      .add_option("--chrf-word-order", arguments.chrf_word_order,
                  "word n-grams in chrF; 2 is chrF++")
      ->transform(whole_number(0, 9))
      ->type_name("N");
  command.add_flag("--ter-normalized", arguments.ter_normalized,
                   "TER: part punctuation from words");
  command.add_flag("--ter-no-punct", arguments.ter_no_punctuation, "TER: leave punctuation out");
  command.add_flag("--ter-asian-support", arguments.ter_asian_support,
                   "TER: with the two above, Chinese and Japanese characters and marks too");
  command.add_flag("--ter-case-sensitive", arguments.ter_case_sensitive,
                   "TER: with regard to case");
  command.add_flag("--force", arguments.force,
                   "no warnings about texts that look tokenised, swapped or misplaced");
}

void add_significance_options(CLI::App& command, EvaluateArguments& arguments) {
  const auto* group = "How sure it is (defaults and definitions are sacreBLEU's)";
  command
      .add_flag("--confidence", arguments.confidence,
                "95 % confidence intervals by bootstrap resampling")
      ->group(group);
  auto* bootstrap = command
                        .add_flag("--paired-bs", arguments.paired_bootstrap,
                                  "p-values of the other systems' differences from the first, by "
                                  "paired bootstrap")
                        ->group(group);
  command
      .add_flag("--paired-ar", arguments.paired_randomisation,
                "the same by paired approximate randomisation")
      ->excludes(bootstrap)
      ->group(group);
  command.add_option("--resamples", arguments.resamples, "of the bootstrap (default 1000)")
      ->transform(whole_number(2, 1'000'000))
      ->type_name("N")
      ->group(group);
  command.add_option("--trials", arguments.trials, "of the randomisation (default 10000)")
      ->transform(whole_number(1, 10'000'000))
      ->type_name("N")
      ->group(group);
  command.add_option("--resampling-seed", arguments.resampling_seed, "of either (default 12345)")
      ->transform(whole_number(0))
      ->type_name("N")
      ->group(group);
}

void add_part_options(CLI::App& command, EvaluateArguments& arguments, CLI::Option* source,
                      CLI::Option* model) {
  auto* by_length =
      command
          .add_option("--by-length", arguments.by_length,
                      "also score by source length, e.g. 10,20,30: up to 10 words, 11 to 20, …")
          ->delimiter(',')
          ->transform(whole_number(0, 1'000'000'000).description(""))
          ->needs(source)
          ->type_name("LENGTHS");
  command.add_option("--by-length-svg", arguments.by_length_svg, "draw the scores by length")
      ->needs(by_length)
      ->type_name("FILE");
  command
      .add_option("--training", arguments.training,
                  "also score words by how often this text, the target side of the training, has "
                  "them")
      ->type_name("FILE");
  command
      .add_option("--alignments-gold", arguments.gold,
                  "word alignments of source and first reference (Pharaoh): the alignment "
                  "error rate of the model's attention against them")
      ->needs(model)
      ->type_name("FILE");
}

}  // namespace

CLI::App* add_evaluate(CLI::App& program, EvaluateArguments& arguments) {
  auto* command =
      program.add_subcommand("evaluate", "Score a model's translations, or those in files");
  auto* source = command->add_option("-s,--src", arguments.source, "the source text, plain or .gz")
                     ->type_name("FILE");
  command
      ->add_option("-r,--ref", arguments.references,
                   "its reference translations, one file or several")
      ->required()
      ->type_name("FILE");
  auto* model = add_model_options(*command, arguments.model)->needs(source);
  command
      ->add_option("--hypotheses", arguments.hypotheses,
                   "score the translations in this file, no model is needed; of several files, "
                   "one a system, the first is what the others are compared with")
      ->excludes(model)
      ->type_name("FILE");
  command
      ->add_option("--compare", arguments.compared,
                   "other systems' translations of the same source, scored beside the model's")
      ->type_name("FILE");
  command->add_option("-o,--output", arguments.output, "keep the model's translations here")
      ->needs(model)
      ->type_name("FILE");
  add_metric_options(*command, arguments);
  add_part_options(*command, arguments, source, model);
  auto* format =
      command->add_option("--format", arguments.format, "how figures are printed (default text)")
          ->type_name("text|json|markdown|latex");
  command->add_flag("--json", arguments.json, "the same as --format json")->excludes(format);
  add_significance_options(*command, arguments);
  add_search_options(*command, model, arguments.search);
  return command;
}

}  // namespace regard
