// What a model makes of given translations, for `regard score`.
#pragma once

#include <string>
#include <vector>

#include "cli/model_arguments.h"
#include "commands/ready_model.h"
#include "translation/word_scores.h"

namespace regard {

// Line i of one belongs to line i of the other.
struct Pairs {
  std::vector<std::string> source;
  std::vector<std::string> target;
};

class Scorer {
 public:
  // Errors as of load_model().
  explicit Scorer(const ModelArguments& arguments)
      : model_(load_model(arguments)), translator_(model_.translator()) {}

  const ReadyModel& model() const { return model_; }

  // Leads the model along all pairs, batch_size at a time, with progress in a terminal.
  void score(const Pairs& pairs, bool want_weights, std::int64_t batch_size);

  // As force_translations() gives them.
  const std::vector<Translation>& forced() const { return forced_; }

  // log P(target | source) of pair i, 0 or less. A blank source is translated to a blank line,
  // surely: log 1, and log 0 = −inf for anything else.
  double log_probability(std::size_t i) const;
  // Of its words as they were given, unknown ones too; none where the source is blank.
  std::vector<WordScore> words(std::size_t i) const;

 private:
  ReadyModel model_;
  Translator translator_;
  std::vector<Translation> forced_;
};

}  // namespace regard
