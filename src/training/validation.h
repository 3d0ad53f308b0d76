// How good the model is on the validation pair: loss by the references, BLEU and chrF of real
// translations, with whatever weights it has at the moment.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/workers.h"
#include "config/options.h"
#include "data/corpus.h"
#include "model/seq2seq.h"
#include "training/scores.h"

namespace regard {

struct Validation {
  Scores scores;
  std::vector<std::string> translations;  // line i of the validation source
  double seconds = 0;                     // that it took
};

// What the caller of a validation does while it runs; both may be empty.
struct ValidationHooks {
  // Called before every batch and every decoding step, from any thread: true ends the validation.
  std::function<bool()> cancelled = {};
  // Called after every batch, from one thread at a time.
  std::function<void()> after_batch = {};
};

class Validator {
 public:
  Validator(const Options& options, Corpus dev, torch::Device device, Workers& workers);

  // Returns nothing if it was cancelled. Uses batches of testing.batch_size, or, with a warning, of
  // as many sentences as the memory holds; throws EnvironmentError if it does not hold one. The
  // model is in training mode afterwards, also after an exception.
  std::optional<Validation> validate(const std::shared_ptr<Seq2Seq>& model,
                                     const ValidationHooks& hooks = {});

  const std::vector<std::string>& sources() const { return sources_; }
  const std::vector<std::string>& references() const { return references_; }

 private:
  // −log P per target token, label smoothing left out.
  double loss(Seq2Seq& model, const ValidationHooks& hooks) const;
  Validation validate_in_batches(const std::shared_ptr<Seq2Seq>& model,
                                 const ValidationHooks& hooks) const;

  Options options_;
  Corpus dev_;
  torch::Device device_;
  Workers& workers_;
  std::int64_t batch_size_;  // sentences
  std::vector<std::string> sources_;
  std::vector<std::string> references_;
};

}  // namespace regard
