// regard evaluate: scores translations, from files or made by a model, against references.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/choice.h"
#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "commands/commands.h"
#include "commands/evaluate/evaluation.h"
#include "commands/evaluate/evaluation_report.h"
#include "commands/loaded_model.h"
#include "commands/output_file.h"
#include "commands/translate/attention_output.h"
#include "data/line_reader.h"
#include "metrics/input_warnings.h"
#include "report/progress.h"
#include "text/unicode.h"
#include "training/early_stopping.h"
#include "translation/score_translations.h"
#include "translation/translator.h"

namespace regard {
namespace {

using Lines = std::vector<std::string>;

// Translates with a model or an ensemble and scores the references with it.
class ModelEvaluation {
 public:
  ModelEvaluation(const EvaluateArguments& arguments, const std::vector<std::string>& models)
      : model_(load(arguments.model, models)),
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

  // `gold` may be empty.
  ReferenceScores score_reference(const Lines& source, const Lines& reference,
                                  const std::vector<GoldAlignment>& gold) const {
    const bool align = !gold.empty();
    DecodingReporter reporter("scoring", static_cast<std::int64_t>(source.size()));
    const auto scored = translator_.score(source, reference, align, search_.batch_size,
                                          [&](std::int64_t done) { reporter.update(done); });
    ReferenceScores scores{perplexity(scored), {}};
    if (align) scores.alignment = score_alignments(alignments_of(model_, scored), gold);
    return scores;
  }

 private:
  static LoadedModel load(ModelArguments arguments, const std::vector<std::string>& models) {
    arguments.models = models;
    return load_models(arguments);
  }

  LoadedModel model_;
  Translator translator_;
  SearchOptions search_;
};

// A system that is a model or an ensemble.
struct ModelSystem {
  std::string name;
  std::vector<std::string> models;
};

std::vector<ModelSystem> model_systems(const EvaluateArguments& arguments) {
  const auto& models = arguments.model.models;
  if (models.empty()) return {};
  if (!arguments.each) return {{system_name(models), models}};
  std::vector<ModelSystem> systems;
  const auto names = system_names(models);
  for (std::size_t m = 0; m < models.size(); ++m) systems.push_back({names[m], {models[m]}});
  return systems;
}

// Warns of files that were probably passed by mistake, and of text without spaces between words.
// `counts_words`: words are scored by their frequency.
void warn_of_texts(const EvaluationFiles& files, const EvaluationTexts& texts,
                   const EvaluationOptions& options, bool counts_words) {
  const auto print = [](const std::string& warning) {
    log::warning("{} (--force turns such warnings off)", warning);
  };
  const NamedText reference{files.references[0], texts.references[0]};
  auto metrics = options.metrics;
  if (counts_words) metrics.emplace_back("bleu");  // they are counted with its tokenizer
  for (const auto& warning :
       unspaced_text_warnings(reference.name, reference.lines, metrics, options.metric_options)) {
    print(warning);
  }
  const auto short_lines = short_lines_warning(reference, options.metric_options.bleu.tokenizer);
  if (short_lines && std::ranges::count(options.metrics, "bleu") > 0) {
    print(*short_lines + "; see --metrics exact, wer or chrf");
  }
  std::size_t empty = 0;
  for (std::size_t i = 0; i < reference.lines.size(); ++i) {
    empty += std::ranges::all_of(texts.references, [&](auto& lines) { return is_blank(lines[i]); });
  }
  if (empty > 0) {
    print(fmt::format("{}: {} of {} {} empty; an empty hypothesis is right there", reference.name,
                      empty, counted(reference.lines.size(), "line"), empty == 1 ? "is" : "are"));
  }
  const NamedText source{files.source, texts.source};
  const auto models = texts.systems.size() - files.systems.size();  // these come first
  for (std::size_t s = 0; s < texts.systems.size(); ++s) {
    const auto& [name, lines] = texts.systems[s];
    const NamedText hypotheses{s < models ? name : files.systems[s - models], lines};
    for (const auto& warning : input_warnings(hypotheses, reference, source)) {
      print(warning);
    }
  }
}

void warn_if_identical(const EvaluationTexts& texts) {
  for (std::size_t s = 1; s < texts.systems.size(); ++s) {
    if (texts.systems[s].second != texts.systems[0].second) continue;
    log::warning("{}: the same translations as {}, so every score is the same",
                 texts.systems[s].first, texts.systems[0].first);
  }
}

// Adds the metric that chose the model's checkpoint, if it is wer, cer or exact, after the others.
void add_metric_of(const TrainingOptions& training, EvaluationOptions& options) {
  const auto metric = training.early_stopping_metric;
  const std::string name(enum_name(metric));
  if (!is_optional(metric) || std::ranges::count(options.metrics, name) > 0) return;
  options.metrics.push_back(name);
}

// Adds the scores by length, by label and by frequency, if requested.
void score_buckets(const std::vector<std::size_t>& by_length, const EvaluationTexts& texts,
                   const std::optional<WordFrequencies>& frequencies, Evaluation& evaluation) {
  for (std::size_t s = 0; s < texts.systems.size(); ++s) {
    auto& system = evaluation.systems[s];
    if (!by_length.empty()) {
      system.by_length = score_by_length(texts.source, counted_metrics(evaluation, s), by_length);
    }
    if (!texts.labels.empty()) {
      system.by_label = score_by_label(texts.labels, counted_metrics(evaluation, s));
    }
    if (frequencies) {
      system.by_frequency =
          score_by_frequency(texts.systems[s].second, texts.references[0], *frequencies,
                             evaluation.options.metric_options.bleu);
    }
  }
}

}  // namespace

ExitCode evaluate(const EvaluateArguments& arguments) {
  check_evaluate(arguments);
  const EvaluationFiles files = {arguments.source, arguments.references, arguments.system_files(),
                                 arguments.gold, arguments.labels};
  std::vector<std::string> inputs = {files.source, files.gold, files.labels,
                                     arguments.shortlist.file, arguments.settings.spm_model};
  for (const auto* more : {&files.systems, &files.references, &arguments.training}) {
    inputs.insert(inputs.end(), more->begin(), more->end());
  }
  check_files(inputs, {"-", arguments.output, arguments.by_length_svg});
  check_length_edges(arguments.by_length);
  auto options = evaluation_options(arguments.metrics_or_default(), arguments.settings);
  const auto format =
      choice_named<ReportFormat>("--format", arguments.json ? "json" : arguments.format);
  if (!arguments.force) {
    for (const auto* paths : {&files.references, &files.systems}) {
      std::ranges::for_each(*paths, warn_of_missing_column);
    }
    warn_of_missing_column(files.source);
  }
  auto texts = read_texts(files, source_kind(arguments.model, arguments.source));
  std::optional<WordFrequencies> frequencies;
  if (!arguments.training.empty()) {
    frequencies = count_words(arguments.training, options.metric_options.bleu);
  }
  std::optional<OutputFile> translations;
  std::optional<OutputFile> picture;
  if (!arguments.output.empty()) translations.emplace(arguments.output);
  if (!arguments.by_length_svg.empty()) picture.emplace(arguments.by_length_svg);
  // All inputs and options are checked at this point.
  std::vector<ReferenceScores> reference_scores;
  Systems systems;
  for (const auto& [name, models] : model_systems(arguments)) {
    if (arguments.each) log::info("{}", name);
    const ModelEvaluation model(arguments, models);
    if (arguments.metrics.empty()) add_metric_of(model.model().contents.options.training, options);
    const auto source = truncate_source_lines(model.model(), texts.source, arguments.source);
    const auto reference =
        truncate_target_lines(model.model(), texts.references[0], arguments.references[0]);
    // This takes less time than translating, and finds lines that the model cannot read.
    reference_scores.push_back(model.score_reference(source, reference, texts.gold));
    systems.emplace_back(name, model.translate(source));
  }
  if (translations) {
    for (const auto& line : systems[0].second) translations->write(line + "\n");
    translations->commit();
  }
  texts.systems.insert(texts.systems.begin(), std::make_move_iterator(systems.begin()),
                       std::make_move_iterator(systems.end()));
  if (!arguments.force) warn_of_texts(files, texts, options, frequencies.has_value());
  if (options.test != PairedTest::none) warn_if_identical(texts);
  auto evaluation = score_systems(texts.systems, texts.references, options);
  for (std::size_t s = 0; s < reference_scores.size(); ++s) {
    evaluation.systems[s].reference = reference_scores[s];
  }
  if (arguments.model.models.size() > 1 && !arguments.each) {
    evaluation.ensemble = arguments.model.models;
  }
  score_buckets(arguments.by_length, texts, frequencies, evaluation);
  if (picture) {
    picture->write(by_length_svg(evaluation));
    picture->commit();
  }
  write_output("", arguments.settings.sentence_level ? sentence_report(evaluation, format)
                                                     : report(evaluation, format));
  return ExitCode::ok;
}

}  // namespace regard
