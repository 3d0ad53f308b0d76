#include "commands/scorer.h"

#include <algorithm>
#include <limits>

#include "base/log.h"
#include "data/line_reader.h"
#include "report/progress.h"
#include "text/unicode.h"
#include "text/vocabulary.h"
#include "translation/ensemble_folders.h"

namespace regard {

void Scorer::score(const SentencePairs& pairs, bool want_weights, std::int64_t batch_size) {
  DecodingReporter reporter("scoring", static_cast<std::int64_t>(pairs.source.size()));
  translations_ = translator_.score(pairs.source, pairs.target, want_weights, batch_size,
                                    [&](std::int64_t done) { reporter.update(done); });
}

double Scorer::log_probability(std::size_t i) const {
  const auto& hypotheses = translations_[i].hypotheses;
  if (!hypotheses.empty()) return hypotheses[0].log_probability;
  return is_blank(translations_[i].text) ? 0 : -std::numeric_limits<double>::infinity();
}

std::vector<WordScore> Scorer::words(std::size_t i) const {
  if (translations_[i].hypotheses.empty()) return {};
  const auto& hypothesis = translations_[i].hypotheses[0];
  auto tokens = translator_.tokens(hypothesis, translations_[i]);
  const auto pieces = model_.contents.codec.target->pieces(translations_[i].text);
  for (std::size_t t = 0; t < std::min(hypothesis.tokens.size(), pieces.size()); ++t) {
    if (hypothesis.tokens[t] == unk_id) tokens[t] = pieces[t];
  }
  return word_scores(hypothesis, tokens, model_.contents.options.data.tokenizer.kind);
}

std::vector<NBestEntry> read_n_best(const std::string& path) {
  std::vector<NBestEntry> list;
  LineReader reader(path);
  for (std::string line; reader.next(line);) {
    list.push_back(parse_n_best(line, reader.name(), reader.line_number()));
  }
  return list;
}

void warn_if_not_reverse(const std::pair<std::string, std::string>& forward,
                         const LoadedModel& reverse) {
  const auto& [source, target] = forward;
  const auto [from, to] = languages(reverse.contents.options);
  if (source == to && target == from) return;
  if (source.empty() || from.empty()) return;
  log::warning("--reverse {}: trained from {} to {}, expected a model from {} to {}",
               reverse.path.string(), from, to, target, source);
}

}  // namespace regard
