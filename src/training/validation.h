// Validation of a model during training: the loss of the references, and BLEU and chrF of
// translations by greedy or beam search.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "config/options.h"
#include "data/corpus.h"
#include "data/noise.h"
#include "kernels/packed_weights.h"
#include "model/seq2seq.h"
#include "training/early_stopping.h"
#include "training/process_group.h"

namespace regard {

struct Validation {
  Scores scores;
  std::vector<std::string> translations;  // one for each line of the validation source
  double seconds = 0;                     // duration of the validation
};

class Validator {
 public:
  // `pool` and `group` must outlive this object.
  Validator(const Options& options, Corpus dev, torch::Device device, ThreadPool& pool,
            ProcessGroup& group);

  // Scores the model with its current weights. The processes of the group share the sentences and
  // return the same. Calls cancelled() before every batch and every decoding step, from any thread;
  // returns nullopt if it returned true in any process.
  // Uses batches of search.batch_size sentences. If they do not fit into memory, halves them with
  // a warning, also for later validations, and throws EnvironmentError if one sentence does not
  // fit. Leaves the model in training mode, also after an exception.
  std::optional<Validation> validate(const std::shared_ptr<Seq2Seq>& model,
                                     const std::function<bool()>& cancelled);

  const std::vector<std::string>& sources() const { return sources_; }
  const std::vector<std::string>& references() const { return references_; }

 private:
  // False for a language model, and if the text is to be reconstructed from noise: there are no
  // translations and no scores of them.
  bool translates() const {
    return options_.model.kind == ModelKind::translation &&
           !is_denoising(options_.data, options_.data.dev);
  }
  bool is_own(std::int64_t i) const;  // this process has sentence i
  // The results of a process for its sentences.
  struct Share {
    double nll = 0;           // −log P in nats, without label smoothing
    std::int64_t tokens = 0;  // predicted tokens
    std::vector<std::string> translations = {};
  };
  // Returns −log P of this process's sentences and the number of their tokens. Shares `packed` with
  // the search. Throws CancelledSearch.
  Share nll(Seq2Seq& model, const std::function<bool()>& cancelled,
            kernels::PackedWeights& packed) const;
  // Computes the share with batches of batch_size_. Throws if they do not fit into memory.
  Share share(const std::shared_ptr<Seq2Seq>& model, const std::function<bool()>& cancelled) const;
  // The same with smaller batches if they do not fit. Returns nullopt if it was cancelled.
  std::optional<Share> share_in_memory(const std::shared_ptr<Seq2Seq>& model,
                                       const std::function<bool()>& cancelled);
  // Puts the shares of all processes together; nullopt if one was cancelled.
  std::optional<Validation> together(std::optional<Share> own) const;

  Options options_;
  SourceNoise noise_;  // the same in each validation
  Corpus dev_;
  torch::Device device_;
  ThreadPool& pool_;
  ProcessGroup& group_;
  std::int64_t batch_size_;       // sentences
  std::vector<std::string> own_;  // sources of this process: rank, rank + size, …
  std::vector<std::string> sources_;
  std::vector<std::string> references_;
};

}  // namespace regard
