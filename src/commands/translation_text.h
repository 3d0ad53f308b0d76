// Translations as they are printed: plain text, with scores, n-best lists, JSON.
#pragma once

#include <cstdint>
#include <string>

#include "cli/translate_arguments.h"
#include "commands/ready_model.h"
#include "translation/translator.h"
#include "translation/word_scores.h"

namespace regard {

class TranslationText {
 public:
  // n_best: how many translations of each line; 0 is the best one without a number.
  TranslationText(const TranslateArguments& arguments, const ReadyModel& model,
                  const Translator& translator, std::int64_t n_best);

  // All there is of one line, whose number counts from 0, line ends included:
  //
  //   plain          text; with --scores "log P <tab> score <tab> text"; with --word-scores behind
  //                  it "<tab> word=log P word=log P …"
  //   n-best         lines in the format of Moses, the words' figures as a feature
  //   --json         one object, the n best in it
  std::string of(std::int64_t number, const std::string& line,
                 const Translation& translation) const;

 private:
  std::string plain(const Translation& translation) const;
  std::string n_best_lines(std::int64_t number, const Translation& translation) const;
  std::string json_line(std::int64_t number, const std::string& line,
                        const Translation& translation) const;
  std::vector<WordScore> scores_of(const Translation& translation,
                                   const Hypothesis& hypothesis) const;
  std::string word_scores_of(const Translation& translation, const Hypothesis& hypothesis) const;

  const Translator& translator_;
  TokenizerKind kind_;
  std::size_t n_best_;
  bool scores_;
  bool word_scores_;
  bool json_;
};

}  // namespace regard
