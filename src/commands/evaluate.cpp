// regard evaluate: translations against references, either a model's, made here, or a file's.
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "commands/attention_output.h"
#include "commands/commands.h"
#include "commands/evaluation_report.h"
#include "commands/evaluation_texts.h"
#include "commands/output_file.h"
#include "commands/ready_model.h"
#include "metrics/suspicions.h"
#include "metrics/unspaced_text.h"
#include "report/progress.h"
#include "translation/check_search.h"
#include "translation/forced_translation.h"

namespace regard {
namespace {

using Lines = std::vector<std::string>;

EvaluationPlan plan_of(const EvaluateArguments& arguments) {
  EvaluationPlan plan;
  plan.metrics = arguments.metrics;
  plan.options.bleu.tokenizer = bleu_tokenizer_named(arguments.tokenizer);
  plan.options.bleu.lowercase = arguments.lowercase;
  plan.options.bleu.smoothing = bleu_smoothing_named(arguments.smooth_method);
  plan.options.bleu.smoothing_value = arguments.smooth_value;
  plan.options.chrf.lowercase = arguments.lowercase;
  plan.options.chrf.word_order = arguments.chrf_word_order;
  plan.options.ter = {arguments.ter_normalized, arguments.ter_no_punctuation,
                      arguments.ter_asian_support, arguments.ter_case_sensitive};
  plan.confidence = arguments.confidence;
  if (arguments.paired_bootstrap) plan.test = PairedTest::bootstrap;
  if (arguments.paired_randomisation) plan.test = PairedTest::randomisation;
  auto& [resamples, trials, seed] = plan.resampling;
  resamples = arguments.resamples.value_or(resamples);
  trials = arguments.trials.value_or(trials);
  seed = arguments.resampling_seed.value_or(seed);
  check_metrics(plan);
  return plan;
}

// What only a model can tell: its translations, and what it makes of the references.
class ModelEvaluation {
 public:
  explicit ModelEvaluation(const EvaluateArguments& arguments)
      : model_(load_model(arguments.model)),
        testing_(arguments.search.over(model_.loaded.options.testing)) {
    check_search(testing_, *model_.loaded.model);
    if (!arguments.gold.empty()) require_attention(model_, "--alignments-gold");
  }

  const ReadyModel& model() const { return model_; }

  Lines translate(const Lines& source) const {
    DecodingReporter reporter("translating", static_cast<std::int64_t>(source.size()));
    Lines hypotheses;
    for (auto& translation :
         model_.translator().translate(source, search_options(testing_), testing_.batch_size,
                                       [&](std::int64_t done) { reporter.update(done); })) {
      hypotheses.push_back(std::move(translation.text));
    }
    return hypotheses;
  }

  ReferenceFigures judge_reference(const EvaluationTexts& texts, const Lines& reference) const {
    const bool align = !texts.gold.empty();
    DecodingReporter reporter("scoring", static_cast<std::int64_t>(texts.source.size()));
    const auto forced = force_translations(model_.loaded, model_.device, *model_.workers,
                                           texts.source, reference, align, testing_.batch_size,
                                           [&](std::int64_t done) { reporter.update(done); });
    ReferenceFigures figures{perplexity(forced), {}};
    if (align) figures.alignment = score_alignments(alignments_of(model_, forced), texts.gold);
    return figures;
  }

 private:
  ReadyModel model_;
  TestingOptions testing_;
};

void warn(const EvaluateArguments& arguments, const EvaluationTexts& texts,
          const EvaluationPlan& plan) {
  if (arguments.force) return;
  const auto say = [](const std::string& sentence) {
    log::warning("{} (--force: no such warnings)", sentence);
  };
  const NamedLines reference{arguments.references[0], texts.references[0]};
  auto metrics = plan.metrics;
  if (!arguments.training.empty()) metrics.emplace_back("bleu");  // its words are counted
  for (const auto& sentence :
       unspaced_text_warnings(reference.name, reference.lines, metrics, plan.options)) {
    say(sentence);
  }
  const NamedLines source{arguments.source, texts.source};
  const auto files = system_files(arguments);
  const auto made_here = texts.systems.size() - files.size();  // a model's come first
  for (std::size_t s = 0; s < texts.systems.size(); ++s) {
    const auto& [name, lines] = texts.systems[s];
    const NamedLines hypotheses{s < made_here ? name : files[s - made_here], lines};
    for (const auto& sentence : suspicions(hypotheses, reference, source)) {
      say(sentence);
    }
  }
}

// A system is no better or worse than itself, whatever a p-value says of no difference at all.
void warn_of_equals(const EvaluateArguments& arguments, const EvaluationTexts& texts) {
  if (!arguments.paired_bootstrap && !arguments.paired_randomisation) return;
  for (std::size_t s = 1; s < texts.systems.size(); ++s) {
    if (texts.systems[s].second != texts.systems[0].second) continue;
    log::warning("{}: the same translations as {}, so that its p-value says nothing",
                 texts.systems[s].first, texts.systems[0].first);
  }
}

// By length and by frequency, where asked for.
void score_parts(const EvaluateArguments& arguments, const EvaluationTexts& texts,
                 const std::optional<WordFrequencies>& frequencies, Evaluation& evaluation) {
  for (std::size_t s = 0; s < texts.systems.size(); ++s) {
    auto& system = evaluation.systems[s];
    if (!arguments.by_length.empty()) {
      system.by_length =
          score_by_length(texts.source, counted_metrics(evaluation, s), arguments.by_length);
    }
    if (frequencies) {
      system.by_frequency = score_by_frequency(texts.systems[s].second, texts.references[0],
                                               *frequencies, evaluation.plan.options.bleu);
    }
  }
}

// How to draw is said only where something is drawn.
void check_resampling(const EvaluateArguments& arguments) {
  const bool bootstraps = arguments.confidence || arguments.paired_bootstrap;
  if (arguments.resamples && !bootstraps) {
    throw ConfigError("--resamples is of the bootstrap: give --confidence or --paired-bs too");
  }
  if (arguments.trials && !arguments.paired_randomisation) {
    throw ConfigError("--trials is of the randomisation: give --paired-ar too");
  }
  if (arguments.resampling_seed && !bootstraps && !arguments.paired_randomisation) {
    throw ConfigError(
        "--resampling-seed: nothing is drawn; give --confidence, --paired-bs or --paired-ar too");
  }
}

void check_arguments(const EvaluateArguments& arguments) {
  check_resampling(arguments);
  if (arguments.smooth_value && arguments.smooth_method != "floor" &&
      arguments.smooth_method != "add-k") {
    throw ConfigError("--smooth-value is of --smooth-method floor or add-k, not of {}",
                      arguments.smooth_method);
  }
  if (arguments.model.models.empty() == arguments.hypotheses.empty()) {
    throw ConfigError("evaluate: give either a model (-m) to translate with, or --hypotheses");
  }
  const auto files = system_files(arguments);
  const auto systems = files.size() + (arguments.model.models.empty() ? 0 : 1);
  if (systems < 2 && (arguments.paired_bootstrap || arguments.paired_randomisation)) {
    throw ConfigError(
        "evaluate: a paired test compares systems, but there is one: give several "
        "files to --hypotheses, or others to --compare");
  }
  std::vector<std::string> inputs = {arguments.source, arguments.gold};
  for (const auto* more : {&files, &arguments.references, &arguments.training}) {
    inputs.insert(inputs.end(), more->begin(), more->end());
  }
  check_files(inputs, {"-", arguments.output, arguments.by_length_svg});
  check_length_edges(arguments.by_length);
}

}  // namespace

ExitCode evaluate(const EvaluateArguments& arguments) {
  check_arguments(arguments);
  const auto plan = plan_of(arguments);
  const auto format = report_format_named(arguments.json ? "json" : arguments.format);
  auto texts = read_texts(arguments);
  std::optional<WordFrequencies> frequencies;
  if (!arguments.training.empty()) {
    frequencies = count_words(arguments.training, plan.options.bleu);
  }
  std::optional<OutputFile> translations;
  std::optional<OutputFile> picture;
  if (!arguments.output.empty()) translations.emplace(arguments.output);
  if (!arguments.by_length_svg.empty()) picture.emplace(arguments.by_length_svg);
  // All that could be wrong has been looked at: now the work begins.
  ReferenceFigures figures;
  if (!arguments.model.models.empty()) {
    const ModelEvaluation model(arguments);
    texts.source = readable_source(model.model(), std::move(texts.source), arguments.source);
    // First, as a line that the model cannot read is found here.
    figures = model.judge_reference(
        texts, readable_target(model.model(), texts.references[0], arguments.references[0]));
    texts.systems.emplace(texts.systems.begin(), name_of(arguments.model.models[0]),
                          model.translate(texts.source));
    if (translations) {
      for (const auto& line : texts.systems[0].second) translations->write(line + "\n");
      translations->commit();
    }
  }
  warn(arguments, texts, plan);
  warn_of_equals(arguments, texts);
  auto evaluation = score_systems(texts.systems, texts.references, plan);
  evaluation.reference = figures;
  score_parts(arguments, texts, frequencies, evaluation);
  if (picture) {
    picture->write(by_length_svg(evaluation));
    picture->commit();
  }
  OutputFile output("");
  output.write(report(evaluation, format));
  output.commit();
  return ExitCode::ok;
}

}  // namespace regard
