#include "commands/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "data/line_checks.h"
#include "data/line_reader.h"
#include "text/unicode.h"

namespace regard {
namespace {

bool needs_bootstrap(const EvaluationOptions& options) {
  return options.confidence || options.test == PairedTest::bootstrap;
}

// The counts of one system and, if a bootstrap is needed, the scores of its resamples.
struct ResampledCounts {
  SentenceCounts counts;
  std::vector<double> resample_scores;
};

ResampledCounts count_and_resample(const CorpusMetric& metric,
                                   const std::vector<std::string>& hypotheses,
                                   const References& references, const EvaluationOptions& options) {
  ResampledCounts system{metric.count(hypotheses, references), {}};
  if (needs_bootstrap(options))
    system.resample_scores = bootstrap_scores(metric, system.counts, options.resampling);
  return system;
}

MetricScore score_of(const CorpusMetric& metric, const ResampledCounts& system) {
  MetricScore score;
  score.counts = system.counts;
  score.sums = system.counts.sum();
  score.value = metric.score(score.sums);
  if (!system.resample_scores.empty()) {
    score.confidence = confidence_interval(system.resample_scores);
  }
  return score;
}

double p_value(const CorpusMetric& metric, const ResampledCounts& baseline,
               const ResampledCounts& system, const EvaluationOptions& options) {
  if (options.test == PairedTest::randomisation) {
    return approximate_randomisation(metric, baseline.counts, system.counts, options.resampling);
  }
  const double difference =
      std::abs(metric.score(baseline.counts.sum()) - metric.score(system.counts.sum()));
  return paired_bootstrap(baseline.resample_scores, system.resample_scores, difference);
}

}  // namespace

void check_metrics(const EvaluationOptions& options) {
  for (const auto& name : options.metrics) make_metric(name, options.metric_options);
}

Evaluation score_systems(const Systems& systems, const References& references,
                         const EvaluationOptions& options) {
  Evaluation evaluation;
  evaluation.options = options;
  evaluation.sentences = systems.front().second.size();
  evaluation.references = references.size();
  for (const auto& [name, hypotheses] : systems) evaluation.systems.push_back({name, {}, {}, {}});
  for (const auto& name : options.metrics) {
    evaluation.metrics.push_back(make_metric(name, options.metric_options));
    const auto& metric = *evaluation.metrics.back();
    const auto baseline = count_and_resample(metric, systems.front().second, references, options);
    evaluation.systems.front().scores.push_back(score_of(metric, baseline));
    for (std::size_t s = 1; s < systems.size(); ++s) {
      const auto system = count_and_resample(metric, systems[s].second, references, options);
      auto& scores = evaluation.systems[s].scores;
      scores.push_back(score_of(metric, system));
      if (options.test != PairedTest::none)
        scores.back().p_value = p_value(metric, baseline, system, options);
    }
  }
  return evaluation;
}

std::vector<CountedMetric> counted_metrics(const Evaluation& evaluation, std::size_t system) {
  std::vector<CountedMetric> counted;
  for (std::size_t m = 0; m < evaluation.metrics.size(); ++m) {
    counted.push_back({evaluation.metrics[m].get(), &evaluation.systems[system].scores[m].counts});
  }
  return counted;
}

std::string signature_of(const CorpusMetric& metric, const Evaluation& evaluation) {
  const auto& options = evaluation.options;
  std::string resampling;
  if (needs_bootstrap(options)) resampling += fmt::format("bs:{}|", options.resampling.resamples);
  if (options.test == PairedTest::randomisation) {
    resampling += fmt::format("ar:{}|", options.resampling.trials);
  }
  if (!resampling.empty()) resampling += fmt::format("seed:{}|", options.resampling.seed);
  auto signature = metric.signature(evaluation.references);
  return signature.insert(signature.find('|') + 1, resampling);
}

namespace {

void check_counts(const std::string& first_path, std::size_t first, const std::string& second_path,
                  std::size_t second) {
  check_line_counts(first_path, static_cast<std::int64_t>(first), second_path,
                    static_cast<std::int64_t>(second));
}

void warn_of_byte_order_mark(const LineReader& reader, bool is_scored) {
  if (!reader.had_byte_order_mark()) return;
  log::warning("{}:1: begins with a byte order mark (U+FEFF), which is ignored{}", reader.name(),
               is_scored ? "; sacreBLEU scores it as a part of the first word, so its scores "
                           "differ: remove the mark from the file to compare"
                         : "");
}

// Warns if the file begins with a byte order mark. `is_scored`: true for hypotheses and references.
std::vector<std::string> read_text(const std::string& path, bool is_scored,
                                   SourceKind source = SourceKind::text) {
  LineReader reader(path, source);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  warn_of_byte_order_mark(reader, is_scored);
  return lines;
}

// Names each system by its file name, or by its path if two files have the same name.
Systems read_systems(const std::vector<std::string>& files) {
  Systems systems;
  for (const auto& file : files) {
    const auto same =
        std::ranges::count(files, system_name(file), [](auto& f) { return system_name(f); });
    systems.emplace_back(same > 1 ? file : system_name(file), read_text(file, /*is_scored=*/true));
  }
  return systems;
}

}  // namespace

std::vector<GoldAlignment> read_alignments(const std::string& path) {
  std::vector<GoldAlignment> alignments;
  for (const auto& line : read_lines(path)) {
    alignments.push_back(parse_alignment(line, input_name(path), alignments.size() + 1));
  }
  return alignments;
}

void check_links(const std::string& path, const std::vector<GoldAlignment>& alignments,
                 const std::vector<std::string>& source, const std::vector<std::string>& target) {
  for (std::size_t i = 0; i < alignments.size(); ++i) {
    const auto source_words = split_at_ascii_space(source.at(i)).size();
    const auto target_words = split_at_ascii_space(target.at(i)).size();
    for (const auto& link : alignments[i].possible) {
      if (link.source < source_words && link.target < target_words) continue;
      throw InputError(
          "{}:{}: found the link {}-{}, but the source has {} and the target {}; words are counted "
          "from 0",
          input_name(path), i + 1, link.source, link.target, counted(source_words, "word"),
          target_words);
    }
  }
}

std::vector<std::string> system_files(const EvaluateArguments& arguments) {
  auto files = arguments.hypotheses;
  files.insert(files.end(), arguments.compared.begin(), arguments.compared.end());
  return files;
}

std::string system_name(const std::filesystem::path& path) {
  if (path == "-") return input_name("-");
  return (path.has_filename() ? path : path.parent_path()).stem().string();
}

EvaluationTexts read_texts(const EvaluateArguments& arguments, SourceKind source) {
  EvaluationTexts texts;
  for (const auto& path : arguments.references) {
    texts.references.push_back(read_text(path, /*is_scored=*/true));
    if (!std::ranges::all_of(texts.references.back(), is_blank)) continue;
    throw InputError("{}: empty, so there is nothing to score", path);
  }
  const auto& first = arguments.references[0];
  const auto count = texts.references[0].size();
  for (std::size_t r = 1; r < texts.references.size(); ++r) {
    check_counts(arguments.references[r], texts.references[r].size(), first, count);
  }
  if (!arguments.source.empty()) {
    texts.source = read_text(arguments.source, /*is_scored=*/false, source);
    check_counts(arguments.source, texts.source.size(), first, count);
  }
  const auto files = system_files(arguments);
  texts.systems = read_systems(files);
  for (std::size_t s = 0; s < files.size(); ++s) {
    check_counts(files[s], texts.systems[s].second.size(), first, count);
  }
  if (!arguments.gold.empty()) {
    texts.gold = read_alignments(arguments.gold);
    check_counts(arguments.gold, texts.gold.size(), first, count);
    check_links(arguments.gold, texts.gold, texts.source, texts.references[0]);
  }
  return texts;
}

WordFrequencies count_words(const std::vector<std::string>& files, const BleuOptions& options) {
  WordFrequencies frequencies(options);
  for (const auto& file : files) {
    LineReader reader(file);
    std::int64_t lines = 0;
    for (std::string line; reader.next(line);) lines += frequencies.add(line) ? 1 : 0;
    warn_of_byte_order_mark(reader, /*is_scored=*/false);
    if (lines == 0) throw InputError("{}: empty, so there are no words to count", file);
  }
  return frequencies;
}

}  // namespace regard
