// regard evaluate: scores translations, from files or made by a model, against references.
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "commands/commands.h"
#include "commands/evaluate/evaluation.h"
#include "commands/evaluate/evaluation_report.h"
#include "commands/loaded_model.h"
#include "commands/output_file.h"
#include "commands/translate/attention_output.h"
#include "metrics/input_warnings.h"
#include "report/progress.h"
#include "translation/score_translations.h"
#include "translation/translator.h"

namespace regard {
namespace {

using Lines = std::vector<std::string>;

EvaluationOptions evaluation_options(const EvaluateArguments& arguments) {
  EvaluationOptions options;
  options.metrics = arguments.metrics;
  options.metric_options.bleu.tokenizer = parse_bleu_tokenizer(arguments.tokenizer);
  options.metric_options.bleu.lowercase = arguments.lowercase;
  options.metric_options.bleu.smoothing = parse_bleu_smoothing(arguments.smooth_method);
  options.metric_options.bleu.smoothing_value = arguments.smooth_value;
  options.metric_options.chrf.lowercase = arguments.lowercase;
  auto& chrf = options.metric_options.chrf;
  chrf.char_order = arguments.chrf_char_order.value_or(chrf.char_order);
  chrf.word_order = arguments.chrf_word_order.value_or(chrf.word_order);
  chrf.beta = arguments.chrf_beta.value_or(chrf.beta);
  options.metric_options.bleu.effective_order = arguments.sentence_level;  // as sacreBLEU
  if (!arguments.spm_model.empty()) load_pieces(arguments.spm_model, options.metric_options.bleu);
  options.metric_options.ter = {arguments.ter_normalized, arguments.ter_no_punctuation,
                                arguments.ter_asian_support, arguments.ter_case_sensitive};
  options.confidence = arguments.confidence;
  if (arguments.paired_bootstrap) options.test = PairedTest::bootstrap;
  if (arguments.paired_randomisation) options.test = PairedTest::randomisation;
  auto& [resamples, trials, seed] = options.resampling;
  resamples = arguments.resamples.value_or(resamples);
  trials = arguments.trials.value_or(trials);
  seed = arguments.resampling_seed.value_or(seed);
  check_metrics(options);
  return options;
}

// Translates with a model and scores the references with it.
class ModelEvaluation {
 public:
  explicit ModelEvaluation(const EvaluateArguments& arguments)
      : model_(load_models(arguments.model)),
        translator_(model_.translator(arguments.shortlist)),
        search_(arguments.search.apply_to(model_.contents.options.search)) {
    require_translation(model_, "evaluate");
    check_search(search_, *model_.contents.model);
    if (!arguments.gold.empty()) require_attention(model_, "--alignments-gold");
    const auto reads_text = model_.contents.options.data.source == SourceKind::text;
    if (!reads_text && (!arguments.by_length.empty() || !arguments.gold.empty())) {
      throw ConfigError("{} counts source words, but the model reads features; leave it out",
                        arguments.gold.empty() ? "--by-length" : "--alignments-gold");
    }
  }

  const LoadedModel& model() const { return model_; }

  Lines translate(const Lines& source) const {
    DecodingReporter reporter("translating", static_cast<std::int64_t>(source.size()));
    Lines hypotheses;
    for (auto& translation :
         translator_.translate(source, search_request(search_), search_.batch_size,
                               [&](std::int64_t done) { reporter.update(done); })) {
      hypotheses.push_back(std::move(translation.text));
    }
    return hypotheses;
  }

  ReferenceScores score_reference(const EvaluationTexts& texts, const Lines& reference) const {
    const bool align = !texts.gold.empty();
    DecodingReporter reporter("scoring", static_cast<std::int64_t>(texts.source.size()));
    const auto scored =
        score_translations(model_.contents, model_.device, *model_.pool, texts.source, reference,
                           align, search_.batch_size, translator_.packed_weights(),
                           [&](std::int64_t done) { reporter.update(done); });
    ReferenceScores scores{perplexity(scored), {}};
    if (align) scores.alignment = score_alignments(alignments_of(model_, scored), texts.gold);
    return scores;
  }

 private:
  LoadedModel model_;
  Translator translator_;
  SearchOptions search_;
};

// Warns of files that were probably passed by mistake, and of text without spaces between words.
void warn_of_texts(const EvaluateArguments& arguments, const EvaluationTexts& texts,
                   const EvaluationOptions& options) {
  if (arguments.force) return;
  const auto print = [](const std::string& warning) {
    log::warning("{} (--force turns such warnings off)", warning);
  };
  const NamedText reference{arguments.references[0], texts.references[0]};
  auto metrics = options.metrics;
  if (!arguments.training.empty())
    metrics.emplace_back("bleu");  // training words are counted with its tokenizer
  for (const auto& warning :
       unspaced_text_warnings(reference.name, reference.lines, metrics, options.metric_options)) {
    print(warning);
  }
  const NamedText source{arguments.source, texts.source};
  const auto files = system_files(arguments);
  const auto model_systems = texts.systems.size() - files.size();  // these come first
  for (std::size_t s = 0; s < texts.systems.size(); ++s) {
    const auto& [name, lines] = texts.systems[s];
    const NamedText hypotheses{s < model_systems ? name : files[s - model_systems], lines};
    for (const auto& warning : input_warnings(hypotheses, reference, source)) {
      print(warning);
    }
  }
}

// The p-value of two identical systems has no meaning.
void warn_if_identical(const EvaluateArguments& arguments, const EvaluationTexts& texts) {
  if (!arguments.paired_bootstrap && !arguments.paired_randomisation) return;
  for (std::size_t s = 1; s < texts.systems.size(); ++s) {
    if (texts.systems[s].second != texts.systems[0].second) continue;
    log::warning("{}: the same translations as {}, so its p-value has no meaning",
                 texts.systems[s].first, texts.systems[0].first);
  }
}

// Adds the scores by length and by frequency, if requested.
void score_buckets(const EvaluateArguments& arguments, const EvaluationTexts& texts,
                   const std::optional<WordFrequencies>& frequencies, Evaluation& evaluation) {
  for (std::size_t s = 0; s < texts.systems.size(); ++s) {
    auto& system = evaluation.systems[s];
    if (!arguments.by_length.empty()) {
      system.by_length =
          score_by_length(texts.source, counted_metrics(evaluation, s), arguments.by_length);
    }
    if (frequencies) {
      system.by_frequency =
          score_by_frequency(texts.systems[s].second, texts.references[0], *frequencies,
                             evaluation.options.metric_options.bleu);
    }
  }
}

// Throws ConfigError for an option of a bootstrap or test that was not requested.
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

void check_sentence_level(const EvaluateArguments& arguments) {
  if (!arguments.sentence_level) return;
  if (!arguments.json && arguments.format != "text" && arguments.format != "json") {
    throw ConfigError("--format: found {}, but --sentence-level prints text or json",
                      arguments.format);
  }
  if (arguments.confidence || arguments.paired_bootstrap || arguments.paired_randomisation ||
      !arguments.by_length.empty() || !arguments.training.empty() || !arguments.gold.empty()) {
    throw ConfigError(
        "--sentence-level scores single lines, which have no confidence, tests, groups or "
        "alignments; leave out the other options");
  }
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
  const auto files = system_files(arguments);
  const auto systems = files.size() + (arguments.model.models.empty() ? 0 : 1);
  if (arguments.format == "sacrebleu") {
    if (systems > 1) {
      throw ConfigError("--format sacrebleu: found {} systems, expected one; use json", systems);
    }
    if (!arguments.by_length.empty() || !arguments.training.empty() || !arguments.gold.empty()) {
      throw ConfigError(
          "--format sacrebleu: it has no place for --by-length, --training or --alignments-gold; "
          "use json");
    }
  }
  if (systems < 2 && (arguments.paired_bootstrap || arguments.paired_randomisation)) {
    throw ConfigError(
        "evaluate: found one system, but a paired test compares several: give more files with "
        "--hypotheses or --compare");
  }
  std::vector<std::string> inputs = {arguments.source, arguments.gold, arguments.shortlist.file,
                                     arguments.spm_model};
  for (const auto* more : {&files, &arguments.references, &arguments.training}) {
    inputs.insert(inputs.end(), more->begin(), more->end());
  }
  check_files(inputs, {"-", arguments.output, arguments.by_length_svg});
  check_length_edges(arguments.by_length);
}

}  // namespace

ExitCode evaluate(const EvaluateArguments& arguments) {
  check_evaluate(arguments);
  const auto options = evaluation_options(arguments);
  const auto format = report_format_named(arguments.json ? "json" : arguments.format);
  auto texts = read_texts(arguments, source_kind(arguments.model, arguments.source));
  std::optional<WordFrequencies> frequencies;
  if (!arguments.training.empty()) {
    frequencies = count_words(arguments.training, options.metric_options.bleu);
  }
  std::optional<OutputFile> translations;
  std::optional<OutputFile> picture;
  if (!arguments.output.empty()) translations.emplace(arguments.output);
  if (!arguments.by_length_svg.empty()) picture.emplace(arguments.by_length_svg);
  // All inputs and options are checked at this point.
  ReferenceScores reference_scores;
  if (!arguments.model.models.empty()) {
    const ModelEvaluation model(arguments);
    texts.source = truncate_source_lines(model.model(), std::move(texts.source), arguments.source);
    // This takes less time than translating, and finds lines that the model cannot read.
    reference_scores = model.score_reference(
        texts, truncate_target_lines(model.model(), texts.references[0], arguments.references[0]));
    texts.systems.emplace(texts.systems.begin(), system_name(arguments.model.models),
                          model.translate(texts.source));
    if (translations) {
      for (const auto& line : texts.systems[0].second) translations->write(line + "\n");
      translations->commit();
    }
  }
  warn_of_texts(arguments, texts, options);
  warn_if_identical(arguments, texts);
  auto evaluation = score_systems(texts.systems, texts.references, options);
  evaluation.reference_scores = reference_scores;
  if (arguments.model.models.size() > 1) evaluation.ensemble = arguments.model.models;
  score_buckets(arguments, texts, frequencies, evaluation);
  if (picture) {
    picture->write(by_length_svg(evaluation));
    picture->commit();
  }
  OutputFile output("");
  output.write(arguments.sentence_level ? sentence_report(evaluation, format)
                                        : report(evaluation, format));
  output.commit();
  return ExitCode::ok;
}

}  // namespace regard
