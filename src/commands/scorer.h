// Scores given translations with a model, and reads n-best lists to be scored.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "commands/loaded_model.h"
#include "text/n_best.h"
#include "translation/score_translations.h"
#include "translation/translator.h"

namespace regard {

// Target line i translates source line i.
struct SentencePairs {
  std::vector<std::string> source;
  std::vector<std::string> target;
};

// Scores given translations with a model.
class Scorer {
 public:
  // Throws the errors of load_models().
  explicit Scorer(const ModelArguments& arguments)
      : model_(load_models(arguments)), translator_(model_.translator()) {}

  const LoadedModel& model() const { return model_; }

  // Scores all pairs, batch_size at a time, with progress in a terminal.
  void score(const SentencePairs& pairs, bool want_weights, std::int64_t batch_size);

  // The result of Translator::score().
  const std::vector<Translation>& translations() const { return translations_; }

  // log P(target | source) of pair i, 0 or less. For a blank source: log 1 = 0 if the target is
  // blank too, else log 0 = −inf.
  double log_probability(std::size_t i) const;
  // Scores of the words of target i as they were given, including unknown words. Empty if the
  // source is blank.
  std::vector<WordScore> words(std::size_t i) const;

 private:
  LoadedModel model_;
  Translator translator_;
  std::vector<Translation> translations_;
};

// Reads an n-best list, "-" for standard input; entry i is its line i + 1. Throws InputError with
// file:line for a malformed entry.
std::vector<NBestEntry> read_n_best(const std::string& path);

// Warns if `reverse`, the model of --reverse, was not trained from the second of the languages to
// the first. Languages that are not known are not compared.
void warn_if_not_reverse(const std::pair<std::string, std::string>& languages,
                         const LoadedModel& reverse);

}  // namespace regard
