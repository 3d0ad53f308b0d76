#include "commands/scorer.h"

#include <algorithm>
#include <limits>

#include "report/progress.h"
#include "text/utf8.h"
#include "text/vocabulary.h"
#include "translation/forced_translation.h"

namespace regard {

void Scorer::score(const Pairs& pairs, bool want_weights, std::int64_t batch_size) {
  DecodingReporter reporter("scoring", static_cast<std::int64_t>(pairs.source.size()));
  forced_ = force_translations(model_.loaded, model_.device, *model_.workers, pairs.source,
                               pairs.target, want_weights, batch_size,
                               [&](std::int64_t done) { reporter.update(done); });
}

double Scorer::log_probability(std::size_t i) const {
  const auto& hypotheses = forced_[i].hypotheses;
  if (!hypotheses.empty()) return hypotheses[0].log_probability;
  return is_blank(forced_[i].text) ? 0 : -std::numeric_limits<double>::infinity();
}

std::vector<WordScore> Scorer::words(std::size_t i) const {
  if (forced_[i].hypotheses.empty()) return {};
  const auto& hypothesis = forced_[i].hypotheses[0];
  auto tokens = translator_.tokens(hypothesis, forced_[i]);
  const auto given = model_.loaded.tokenizers.target->pieces(forced_[i].text);
  for (std::size_t t = 0; t < std::min(hypothesis.tokens.size(), given.size()); ++t) {
    if (hypothesis.tokens[t] == unk_id) tokens[t] = given[t];
  }
  return word_scores(hypothesis, tokens, model_.loaded.options.data.tokenizer.kind);
}

}  // namespace regard
