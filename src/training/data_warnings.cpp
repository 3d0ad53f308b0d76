#include "training/data_warnings.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/strings.h"
#include "config/output_lengths.h"
#include "data/corpus_statistics.h"
#include "metrics/input_warnings.h"
#include "text/unicode.h"
#include "text/unspaced_script.h"

namespace regard {
namespace {

// BLEU in training uses the tokenizer 13a, which splits words at spaces, and counts sequences of up
// to bleu_order words: shorter lines have none, and a score near 0 however good they are.
void warn_of_bleu(const Options& options, const Corpus& dev) {
  const auto& o = options.training;
  const bool selects_best = o.early_stopping_metric == Metric::bleu;
  const bool is_objective =
      o.objective == Objective::minimum_risk && o.minimum_risk.metric == RiskMetric::bleu;
  if (!selects_best && !is_objective) return;
  std::vector<std::string> lines;
  lines.reserve(static_cast<std::size_t>(dev.size()));
  for (std::int64_t i = 0; i < dev.size(); ++i) lines.emplace_back(dev.pair(i).target_text);
  const auto script = unspaced_script(lines);
  const auto warn = [&](const char* what, const char* key) {
    log::warning(
        "{}: found {}, which has no spaces between words. {} counts each clause as one word; set "
        "training.{} to chrf",
        options.data.dev.trg, language_name(*script), what, key);
  };
  if (script && selects_best) {
    warn("Validation BLEU, which selects the best checkpoint,", "early_stopping_metric");
  }
  if (script && is_objective) warn("The BLEU of minimum risk training", "minimum_risk.metric");
  if (script || !selects_best) return;
  if (const auto warning =
          short_lines_warning({options.data.dev.trg, std::move(lines)}, BleuOptions().tokenizer)) {
    log::warning("{}; set training.early_stopping_metric to exact or chrf", *warning);
  }
}

// Outputs that end before the reference are never right.
void warn_of_long_targets(const Options& options, const Corpus& dev) {
  if (options.data.source != SourceKind::text) return;  // frames and cells have other limits
  const auto& search = options.search;
  OutputLengths lengths(search);
  for (std::int64_t i = 0; i < dev.size(); ++i) {
    lengths.add(dev.source_length(i), dev.target_length(i));
  }
  if (!lengths.exceed_limits()) return;
  log::warning(
      "{}: {} of {} have more tokens than an output may have by search.max_output_length ({}) and "
      "search.max_output_ratio ({}): {:.1f} % of the tokens cannot be reached; set them to {} and "
      "{}",
      options.data.dev.trg, lengths.longer_targets(), counted(dev.size(), "line"),
      search.max_output_length, search.max_output_ratio, 100 * lengths.unreachable_share(),
      std::max(search.max_output_length, lengths.needed_length()),
      search.max_output_ratio == 0 ? 0 : std::max(search.max_output_ratio, lengths.needed_ratio()));
}

// A validation pair without a tag that all corpora have is translated as no user would.
void warn_of_missing_tags(const DataOptions& data) {
  if (data.train.empty() || data.dev.src.empty()) return;
  const auto warn = [&](const char* key, const auto& tag_of) {
    const auto has_tag = [&](const auto& pair) { return !tag_of(pair).empty(); };
    if (has_tag(data.dev) || !std::ranges::all_of(data.train, has_tag)) return;
    log::warning(
        "data.dev has no {0}, but each corpus of data.train has one; set data.dev.{0}, or the "
        "validation scores are those of text without a tag",
        key);
  };
  warn("src_tag", [](const auto& pair) { return pair.src_tag; });
  warn("trg_tag", [](const auto& pair) { return pair.trg_tag; });
}

void warn_of_known_text(const DataOptions& data) {
  const auto is_dev = [&](const CorpusOptions& corpus) {
    return corpus.weight > 0 && corpus.src == data.dev.src && corpus.trg == data.dev.trg;
  };
  if (data.dev.src.empty() || std::ranges::none_of(data.train, is_dev)) return;
  log::warning(
      "{}, {}: the validation pair is in data.train too, so its scores say nothing of other text",
      data.dev.src, data.dev.trg);
}

// Scores of a validation pair of the opposite direction say nothing.
void warn_of_exchanged_sides(const DataOptions& data) {
  const bool is_text = data.prepared.empty() && data.source == SourceKind::text;
  if (!is_text || data.train.empty() || data.dev.src.empty()) return;
  const auto is_exchanged = [&](const CorpusOptions& corpus) {
    return sides_are_exchanged({corpus.src, corpus.trg}, {data.dev.src, data.dev.trg});
  };
  if (!std::ranges::all_of(data.train, is_exchanged)) return;
  log::warning(
      "{}, {}: the words are those of the other side of data.train; exchange data.dev.src and "
      "data.dev.trg",
      data.dev.src, data.dev.trg);
}

}  // namespace

void warn_of_validation_data(const Options& options, const Corpus* dev) {
  if (dev != nullptr) {
    warn_of_bleu(options, *dev);
    warn_of_long_targets(options, *dev);
  }
  warn_of_missing_tags(options.data);
  warn_of_known_text(options.data);
  warn_of_exchanged_sides(options.data);
}

}  // namespace regard
