// The command evaluate, and which of its options exclude each other.
#include "cli/arguments.h"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <initializer_list>

#include "base/error.h"
#include "cli/option_helpers.h"

namespace regard {
namespace {

// Returns the metric in lower case. Accepts chrF2 and chrF2++, the names of the scores of chrf and
// chrf++.
std::string canonical_metric(const std::string& given) {
  const auto name = CLI::detail::to_lower(given);
  if (name == "chrf2") return "chrf";
  return name == "chrf2++" ? "chrf++" : name;
}

void add_metric_options(CLI::App& command, EvaluateArguments& arguments) {
  command
      .add_option("--metrics", arguments.metrics,
                  "metrics, e.g. bleu,chrf++,ter or bleu chrf++ ter (default bleu,chrf)")
      ->delimiter(',')
      ->transform(canonical_metric)
      ->type_name("bleu|chrf|chrf++|ter|wer|cer|per|exact");
  command.add_option("--tokenize", arguments.tokenizer, "BLEU's tokenizer, as in sacreBLEU")
      ->type_name("13a|intl|zh|char|spm|none");
  add_file(command, "--spm-model", arguments.spm_model,
           "SentencePiece model of --tokenize spm, such as that of FLORES-200");
  command
      .add_option("--smooth-method", arguments.smooth_method,
                  "smoothing of BLEU for precisions without a match, as in sacreBLEU (default exp)")
      ->type_name("exp|floor|add-k|none");
  add_number(command, "--smooth-value", arguments.smooth_value,
             "parameter of floor (default 0.1) or add-k (default 1)", real_number(0, 1e6));
  command.add_flag("--lowercase", arguments.lowercase, "ignore case in BLEU and chrF");
  add_number(command, "--chrf-char-order", arguments.chrf_char_order,
             "order of character n-grams in chrF (default 6)", whole_number(1, 9));
  add_number(command, "--chrf-beta", arguments.chrf_beta,
             "weight of recall relative to precision in chrF (default 2)", real_number(0, 100));
  add_number(command, "--chrf-word-order", arguments.chrf_word_order,
             "order of word n-grams in chrF; 2 is chrF++", whole_number(0, 9));
  command.add_flag("--ter-normalized", arguments.ter_normalized,
                   "TER: separate punctuation from words");
  command.add_flag("--ter-no-punct", arguments.ter_no_punctuation, "TER: remove punctuation");
  command.add_flag("--ter-asian-support", arguments.ter_asian_support,
                   "TER: apply the two options above also to Chinese and Japanese");
  command.add_flag("--ter-case-sensitive", arguments.ter_case_sensitive, "TER: do not ignore case");
  command.add_flag("--force", arguments.force,
                   "do not warn about texts that look tokenised, swapped or misplaced, or that a "
                   "metric cannot judge");
}

void add_significance_options(CLI::App& command, EvaluateArguments& arguments) {
  const HelpGroup group(command, "Significance (defaults and definitions of sacreBLEU)");
  command.add_flag("--confidence", arguments.confidence,
                   "95 % confidence intervals by bootstrap resampling");
  auto* bootstrap =
      command.add_flag("--paired-bs", arguments.paired_bootstrap,
                       "p-values of the differences from the first system, by paired bootstrap");
  command
      .add_flag("--paired-ar", arguments.paired_randomisation,
                "p-values by paired approximate randomisation")
      ->excludes(bootstrap);
  add_number(command, "--resamples", arguments.resamples,
             "number of bootstrap samples (default 1000)", whole_number(2, 1'000'000));
  add_number(command, "--trials", arguments.trials,
             "number of randomisation trials (default 10000)", whole_number(1, 10'000'000));
  add_number(command, "--resampling-seed", arguments.resampling_seed,
             "random seed of bootstrap and randomisation (default 12345)", whole_number(0));
}

// Adds the options for scores of parts of the text: by length, by label, by word frequency, of the
// alignment.
void add_part_options(CLI::App& command, EvaluateArguments& arguments, CLI::Option* source,
                      CLI::Option* model) {
  auto* by_length =
      command
          .add_option("--by-length", arguments.by_length,
                      "also score by source length, e.g. 10,20,30: up to 10 words, 11 to 20, …")
          ->delimiter(',')
          // Without the range in the help, which means nothing to the user.
          ->transform(whole_number(0, 1'000'000'000).description(""))
          ->needs(source)
          ->type_name("LENGTHS");
  add_file(command, "--by-length-svg", arguments.by_length_svg,
           "write a plot of the scores by length")
      ->needs(by_length);
  add_file(command, "--by", arguments.labels,
           "also score by the labels in this file, one for each line, such as its domain");
  add_file(
      command, "--training", arguments.training,
      "also score words by their frequency in this text, the target side of the training data");
  add_file(command, "--alignments-gold", arguments.gold,
           "word alignments of source and first reference (Pharaoh), to report the "
           "alignment error rate of the attention")
      ->needs(model);
}

// An option of a bootstrap or test that was not requested.
void check_resampling(const EvaluateArguments& arguments) {
  const bool bootstraps = arguments.confidence || arguments.paired_bootstrap;
  if (arguments.resamples && !bootstraps) {
    throw ConfigError("--resamples: there is no bootstrap; add --confidence or --paired-bs");
  }
  if (arguments.trials && !arguments.paired_randomisation) {
    throw ConfigError("--trials: there is no randomisation test; add --paired-ar");
  }
  if (arguments.resampling_seed && !bootstraps && !arguments.paired_randomisation) {
    throw ConfigError(
        "--resampling-seed: there is no resampling; add --confidence, --paired-bs or --paired-ar");
  }
}

// True if scores of parts of the text or of the alignment are requested.
bool has_parts(const EvaluateArguments& arguments) {
  return !arguments.by_length.empty() || !arguments.labels.empty() || !arguments.training.empty() ||
         !arguments.gold.empty();
}

void check_sentence_level(const EvaluateArguments& arguments) {
  if (!arguments.sentence_level) return;
  if (!arguments.json && arguments.format != "text" && arguments.format != "json") {
    throw ConfigError("--format: found {}, but --sentence-level prints text or json",
                      arguments.format);
  }
  if (arguments.confidence || arguments.paired_bootstrap || arguments.paired_randomisation ||
      has_parts(arguments)) {
    throw ConfigError(
        "--sentence-level scores single lines, which have no confidence, tests, groups or "
        "alignments; leave out the other options");
  }
}

}  // namespace

std::vector<std::string> EvaluateArguments::system_files() const {
  auto files = hypotheses;
  files.insert(files.end(), compared.begin(), compared.end());
  return files;
}

void check_evaluate(const EvaluateArguments& arguments) {
  check_resampling(arguments);
  check_sentence_level(arguments);
  const bool wants_pieces = arguments.tokenizer == "spm";
  if (wants_pieces && arguments.spm_model.empty()) {
    throw ConfigError("--tokenize spm: found no model, expected one with --spm-model");
  }
  if (!wants_pieces && !arguments.spm_model.empty()) {
    throw ConfigError("--spm-model: found no --tokenize spm, which alone reads it");
  }
  if (arguments.smooth_value && arguments.smooth_method != "floor" &&
      arguments.smooth_method != "add-k") {
    throw ConfigError("--smooth-value: found --smooth-method {}, expected floor or add-k",
                      arguments.smooth_method);
  }
  const auto has_metric = [&](const char* name) {
    return std::ranges::count(arguments.metrics, name) > 0;
  };
  const auto needs = [&](const char* option, bool is_given,
                         std::initializer_list<const char*> metrics) {
    if (!is_given || std::ranges::any_of(metrics, has_metric)) return;
    throw ConfigError("{}: found no metric that reads it, expected {} in --metrics", option,
                      fmt::join(metrics, " or "));
  };
  if (arguments.training.empty()) {  // words by frequency are those of the tokenizer too
    needs("--tokenize", arguments.tokenizer != EvaluateArguments().tokenizer, {"bleu"});
  }
  needs("--smooth-method", arguments.smooth_method != EvaluateArguments().smooth_method, {"bleu"});
  needs("--lowercase", arguments.lowercase, {"bleu", "chrf", "chrf++"});
  needs("--ter-normalized", arguments.ter_normalized, {"ter"});
  needs("--ter-no-punct", arguments.ter_no_punctuation, {"ter"});
  needs("--ter-asian-support", arguments.ter_asian_support, {"ter"});
  needs("--ter-case-sensitive", arguments.ter_case_sensitive, {"ter"});
  if (arguments.chrf_word_order && !has_metric("chrf")) {
    throw ConfigError("--chrf-word-order: found no metric chrf, which alone reads it");
  }
  needs("--chrf-beta", arguments.chrf_beta.has_value(), {"chrf", "chrf++"});
  needs("--chrf-char-order", arguments.chrf_char_order.has_value(), {"chrf", "chrf++"});
  if (arguments.model.models.empty() == arguments.hypotheses.empty()) {
    throw ConfigError("evaluate: expected either a model (-m) or --hypotheses");
  }
  const auto models = arguments.model.models.size();
  const auto systems = arguments.system_files().size() +
                       (arguments.each ? models : std::min<std::size_t>(models, 1));
  if (arguments.format == "sacrebleu") {
    if (systems > 1) {
      throw ConfigError("--format sacrebleu: found {} systems, expected one; use json", systems);
    }
    if (has_parts(arguments)) {
      throw ConfigError(
          "--format sacrebleu: it has no place for --by-length, --by, --training or "
          "--alignments-gold; use json");
    }
  }
  if (systems < 2 && (arguments.paired_bootstrap || arguments.paired_randomisation)) {
    throw ConfigError(
        "evaluate: found one system, but a paired test compares several: give more files with "
        "--hypotheses or --compare");
  }
}

CLI::App* add_evaluate(CLI::App& program, EvaluateArguments& arguments) {
  auto* command =
      program.add_subcommand("evaluate", "Score a model's translations, or those in files");
  auto* source =
      add_file(*command, "-s,--src", arguments.source, "source text, plain or compressed");
  add_file(*command, "-r,--ref", arguments.references,
           "reference translations, one file or several")
      ->required();
  auto* model = add_model_options(*command, arguments.model)->needs(source);
  auto* each = command->add_flag("--each", arguments.each,
                                 "score each model of -m by itself, and not their ensemble");
  each->needs(model);
  for (const auto* option : {"--ensemble-mean", "--ensemble-weights"}) {
    each->excludes(command->get_option(option));
  }
  add_file(*command, "--hypotheses", arguments.hypotheses,
           "score the translations in this file without a model; with several files, one "
           "per system, the others are compared with the first")
      ->excludes(model);
  add_file(*command, "--compare", arguments.compared,
           "translations of other systems, scored together with those of the model");
  add_file(*command, "-o,--output", arguments.output, "write the model's translations to this file")
      ->needs(model)
      ->excludes(each);
  add_metric_options(*command, arguments);
  command->add_flag(
      "-l,--sentence-level", arguments.sentence_level,
      "print the scores of each line, separated by tabs, instead of those of the text");
  add_part_options(*command, arguments, source, model);
  auto* format = command->add_option("--format", arguments.format, "output format (default text)")
                     ->type_name("text|json|sacrebleu|markdown|latex");
  command->add_flag("--json", arguments.json, "same as --format json")->excludes(format);
  add_significance_options(*command, arguments);
  add_shortlist_options(*command, model, arguments.shortlist);
  add_search_options(*command, model, arguments.search);
  return command;
}

}  // namespace regard
