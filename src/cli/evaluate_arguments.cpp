// The command evaluate, and which of its options exclude each other.
#include "cli/arguments.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/strings.h"
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

// Accepts metrics of `choices` ("bleu|chrf") separated by commas or blanks, and rewrites them as
// "bleu,chrf".
CLI::Validator metric_list(const std::string& choices) {
  const auto rewrite = [accept = one_of(choices)](std::string& text) -> std::string {
    std::ranges::replace(text, ' ', ',');
    std::string names;
    for (const auto part : split(text, ',')) {
      if (part.empty()) continue;
      const auto name = canonical_metric(std::string(part));
      if (auto fault = accept(name); !fault.empty()) return fault;
      names += (names.empty() ? "" : ",") + name;
    }
    if (names.empty()) return accept(names);
    text = names;
    return {};
  };
  return CLI::Validator(rewrite, "");
}

// Adds the options of the settings from `first` to `last`.
void add_settings(CLI::App& command, MetricSettings& settings, std::string_view first,
                  std::string_view last) {
  bool is_inside = false;
  for_each_field(
      [&](const auto& field, auto& value) {
        is_inside = is_inside || field.name == first;
        if (is_inside) add_field(command, field, value);
        if (field.name == last) is_inside = false;
      },
      settings);
}

void add_metric_options(CLI::App& command, EvaluateArguments& arguments) {
  const std::string names = "bleu|chrf|chrf++|ter|wer|cer|per|exact";
  const auto set_names = [&metrics = arguments.metrics](const std::vector<std::string>& lists) {
    metrics.clear();
    for (const auto& list : lists) {
      for (const auto name : split(list, ',')) metrics.emplace_back(name);
    }
  };
  command
      .add_option_function<std::vector<std::string>>(
          "--metrics", set_names,
          "metrics, e.g. bleu,chrf++,ter or bleu chrf++ ter (default bleu,chrf and, with a model, "
          "training.early_stopping_metric if it is wer, cer or exact)")
      ->transform(metric_list(names))
      ->type_name(names);
  add_settings(command, arguments.settings, "tokenize", "ter_case_sensitive");
  command.add_flag("--force", arguments.force,
                   "do not warn about texts that look tokenised, swapped or misplaced, or that a "
                   "metric cannot judge");
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

// True if scores of parts of the text or of the alignment are requested.
bool has_parts(const EvaluateArguments& arguments) {
  return !arguments.by_length.empty() || !arguments.labels.empty() || !arguments.training.empty() ||
         !arguments.gold.empty();
}

void check_sentence_level(const EvaluateArguments& arguments) {
  const auto& settings = arguments.settings;
  if (!settings.sentence_level) return;
  if (!arguments.json && arguments.format != "text" && arguments.format != "json") {
    throw ConfigError("--format: found {}, but --sentence-level prints text or json",
                      arguments.format);
  }
  if (settings.confidence || settings.paired_bs || settings.paired_ar || has_parts(arguments)) {
    throw ConfigError(
        "--sentence-level scores single lines, which have no confidence, tests, groups or "
        "alignments; leave out the other options");
  }
}

}  // namespace

std::vector<std::string> EvaluateArguments::metrics_or_default() const {
  return metrics.empty() ? std::vector<std::string>{"bleu", "chrf"} : metrics;
}

std::vector<std::string> EvaluateArguments::system_files() const {
  auto files = hypotheses;
  files.insert(files.end(), compared.begin(), compared.end());
  return files;
}

void check_evaluate(const EvaluateArguments& arguments) {
  const auto& settings = arguments.settings;
  const bool counts_words = !arguments.training.empty();
  check_metric_settings(settings, arguments.metrics_or_default(), counts_words, option_name);
  check_sentence_level(arguments);
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
  if (systems < 2 && (settings.paired_bs || settings.paired_ar)) {
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
      "-l,--sentence-level", arguments.settings.sentence_level,
      "print the scores of each line, separated by tabs, instead of those of the text");
  add_part_options(*command, arguments, source, model);
  auto* format = add_choice(*command, "--format", arguments.format, "output format (default text)",
                            "text|json|sacrebleu|markdown|latex");
  command->add_flag("--json", arguments.json, "same as --format json")->excludes(format);
  {
    const HelpGroup group(*command, "Significance (defaults and definitions of sacreBLEU)");
    add_settings(*command, arguments.settings, "confidence", "resampling_seed");
  }
  command->get_option("--paired-ar")->excludes(command->get_option("--paired-bs"));
  add_shortlist_options(*command, model, arguments.shortlist);
  add_search_options(*command, model, arguments.search);
  return command;
}

}  // namespace regard
