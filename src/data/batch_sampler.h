// Assigns sentence pairs to batches.
//
// The plan of an epoch is a function of the corpus, the batch size, the seed and the number of the
// epoch. No state is carried between epochs, and any batch can be requested at any time: to resume
// after batch i of epoch e, continue with batch i + 1.
//
// A corpus in memory is planned an epoch at a time. A prepared corpus, which may have more pairs
// than fit into memory, is planned a window at a time (PreparedEpoch).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "config/training_options.h"
#include "data/batch.h"
#include "data/corpus.h"
#include "data/epoch_order.h"
#include "data/hallucination.h"
#include "data/noise.h"

namespace regard {

// training.batch_size and training.batch_type.
struct BatchSize {
  std::int64_t size = 80;  // sentences, or target positions if the type is `token`
  BatchType type = BatchType::sentence;
};

// The pairs of an epoch in order. Batch i consists of the pairs starts[i] to starts[i + 1] − 1.
struct EpochPlan {
  std::vector<std::int64_t> pairs;  // indices in the corpus
  std::vector<std::size_t> starts;  // one for each batch, then pairs.size()

  std::int64_t batches() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  std::span<const std::int64_t> batch(std::int64_t i) const;
};

// Plans a training epoch. Each pair occurs floor(weight) times, and once more with the probability
// of the remaining fraction; weight is that of its corpus. The pairs are shuffled, divided into
// buckets of about 512 batches, sorted by length within each bucket (target, then source), and
// divided into batches, which are shuffled: batches are random and have little padding. A batch of
// type `token` has at most `size` target positions: sentences times the longest target with its
// </s>. A longer single sentence is a batch of its own. The plan is empty if weights below 1 left
// no pair.
EpochPlan plan_epoch(const Corpus& corpus, BatchSize size, std::uint64_t seed, std::int64_t epoch);

// An epoch of a prepared corpus. The pairs in the order of EpochOrder are divided into windows of
// 512 batches, at most about a million pairs. In each window the pairs are sorted by length and
// divided into batches as by plan_epoch(), and the batches are shuffled. In memory are only the
// number of batches in each window and the plan of one window.
class PreparedEpoch {
 public:
  // `corpus` must outlive this.
  PreparedEpoch(const Corpus& corpus, BatchSize size, std::uint64_t seed, std::int64_t epoch);

  std::int64_t batches() const { return batch_ends_.empty() ? 0 : batch_ends_.back(); }
  std::size_t windows() const { return batch_ends_.size(); }
  // Returns the window of batch i < batches().
  std::size_t window_of(std::int64_t i) const;
  // Returns the number of batches before a window.
  std::int64_t first_batch(std::size_t window) const {
    return window == 0 ? 0 : batch_ends_[window - 1];
  }
  // Returns the number of pairs in the windows before.
  std::int64_t first_pair(std::size_t window) const {
    return static_cast<std::int64_t>(window) * window_pairs_;
  }
  EpochPlan plan(std::size_t window) const;

 private:
  std::int64_t end_pair(std::size_t window) const;
  std::int64_t count_batches(std::size_t window, std::vector<std::int64_t>& pairs_of_length) const;

  const Corpus& corpus_;
  BatchSize size_;
  EpochOrder order_;
  std::uint64_t window_seed_;
  std::int64_t window_pairs_;
  std::vector<std::int64_t> batch_ends_;  // number of batches up to the end of each window
};

// Options of sub-word sampling (data.tokenizer.sampling), which segments the text of each batch
// anew, at random. If the result exceeds the maximum length of the model, the line keeps its best
// segmentation, the one in the corpus. A result depends only on the seed, the epoch and the
// position of the pair in the epoch.
struct SubwordSampling {
  double amount = 0;                                                          // 0: off
  std::int64_t max_source_length = std::numeric_limits<std::int64_t>::max();  // tokens without </s>
  std::int64_t max_target_length = std::numeric_limits<std::int64_t>::max();
};

// Plans a validation: each pair once, sorted by length.
EpochPlan plan_by_length(const Corpus& corpus, BatchSize size);

// Creates training batches on demand. Not thread-safe: keeps the plan of the last epoch requested,
// or of its last window.
class BatchSampler {
 public:
  // With sub-word sampling, the corpus must have kept its text. Batches are planned with the
  // lengths in the corpus, so that a batch may have somewhat more tokens than `size`. The corpus
  // must outlive this object.
  BatchSampler(const Corpus& corpus, BatchSize size, std::uint64_t seed,
               const SubwordSampling& sampling = {}, const SourceNoise& noise = {},
               const Hallucination& hallucination = {});

  // Returns the number of batches of an epoch; epochs and batches count from 0.
  std::int64_t count(std::int64_t epoch);
  // Returns batch i of an epoch.
  Batch batch(std::int64_t epoch, std::int64_t i);

 private:
  // The plan that contains a batch, and the batches and pairs of the epoch before the plan.
  struct PlanPart {
    const EpochPlan& plan;
    std::int64_t first_batch;
    std::size_t first_pair;
  };
  const PreparedEpoch& prepared_epoch(std::int64_t epoch);
  const EpochPlan& plan(std::int64_t epoch);
  PlanPart plan_of(std::int64_t epoch, std::int64_t i);
  // Sets `tokens` to a random segmentation of the text, unless that has more than `max_length`.
  void sample(const Tokenizer& tokenizer, std::string_view text, std::int64_t max_length,
              Random& random, std::vector<std::int32_t>& tokens) const;
  // Returns a batch of `pairs` with random segmentations, if there is sub-word sampling,
  // hallucination and noise. The first pair is at position `first` of the epoch.
  Batch changed_batch(std::int64_t epoch, std::size_t first,
                      std::span<const std::int64_t> pairs) const;

  const Corpus& corpus_;
  BatchSize size_;
  std::uint64_t seed_;
  SubwordSampling sampling_;
  SourceNoise noise_;
  Hallucination hallucination_;
  std::int64_t planned_epoch_ = -1;
  EpochPlan plan_;  // of the epoch or, if the corpus is prepared, of a window
  std::optional<PreparedEpoch> prepared_epoch_;
  std::int64_t planned_window_ = -1;
};

}  // namespace regard
