// How good the model is on the validation pair: loss by the references, BLEU and chrF of real
// translations, with whatever weights it has at the moment.
#pragma once

#include <torch/types.h>

#include <memory>
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

class Validator {
 public:
  Validator(const Options& options, Corpus dev, torch::Device device, Workers& workers);

  // In batches of testing.batch_size, or, with a warning, of as many as the memory holds.
  // EnvironmentError where it does not hold one.
  Validation validate(const std::shared_ptr<Seq2Seq>& model);

  const std::vector<std::string>& sources() const { return sources_; }
  const std::vector<std::string>& references() const { return references_; }

 private:
  // −log P per target token, label smoothing left out.
  double loss(Seq2Seq& model) const;
  Validation validate_in_batches(const std::shared_ptr<Seq2Seq>& model) const;

  Options options_;
  Corpus dev_;
  torch::Device device_;
  Workers& workers_;
  std::int64_t batch_size_;  // sentences
  std::vector<std::string> sources_;
  std::vector<std::string> references_;
};

}  // namespace regard
