// Formats translations for output: plain text, with scores, n-best lists, JSON, or --explain.
#pragma once

#include <cstdint>
#include <string>

#include "cli/arguments.h"
#include "config/data_options.h"
#include "translation/explanation.h"
#include "translation/score_translations.h"
#include "translation/translator.h"

namespace regard {

class TranslationText {
 public:
  // `n_best` is the number of translations per line in an n-best list; 0 for the best translation
  // alone. `translator` must outlive this object.
  TranslationText(const LineFormat& format, TokenizerKind kind, const Translator& translator,
                  std::int64_t n_best);

  // Returns the output for line `number`, from 0, with newlines:
  //
  //   plain          text; with --scores "log P <tab> score <tab> text"; --word-scores appends
  //                  "<tab> word=log P word=log P …"
  //   n-best         Moses format, with word scores as a feature
  //   --json         one object, with the n best translations
  //
  // The score is ranking_score(); in JSON, `score` is that of the search, and `expected_utility` is
  // added for minimum Bayes risk, but for a blank line.
  std::string format(std::int64_t number, const std::string& line,
                     const Translation& translation) const;

 private:
  std::string plain(const Translation& translation) const;
  std::string n_best_lines(std::int64_t number, const Translation& translation) const;
  std::string json_line(std::int64_t number, const std::string& line,
                        const Translation& translation) const;
  std::vector<WordScore> word_scores_of(const Translation& translation,
                                        const Hypothesis& hypothesis) const;
  std::string word_scores_text(const Translation& translation, const Hypothesis& hypothesis) const;

  const Translator& translator_;
  TokenizerKind kind_;
  std::size_t n_best_;
  LineFormat format_;
};

// Returns a table per decoding step: the query, each source token with score and weight, the
// context. Long vectors are shown by their first numbers and their Euclidean length. `line` counts
// from 1.
std::string explanation_text(std::int64_t line, const std::string& translation,
                             const Explanation& explanation);

}  // namespace regard
