// Assigns sentence pairs to batches.
//
// The plan of an epoch is a function of the corpus, the batch size, the seed and the number of the
// epoch. No state is carried between epochs, and any batch can be requested at any time: to resume
// after batch i of epoch e, continue with batch i + 1.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "config/training_options.h"
#include "data/batch.h"
#include "data/corpus.h"

namespace regard {

struct BatchSize {
  std::int64_t size = 80;
  BatchType type = BatchType::sentence;
};

// The pairs of an epoch in order. Batch i consists of the pairs starts[i] to starts[i + 1] − 1.
struct EpochPlan {
  std::vector<std::int64_t> pairs;
  std::vector<std::size_t> starts;

  std::int64_t batches() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  std::span<const std::int64_t> batch(std::int64_t i) const;
};

// Plans a training epoch. Each pair occurs floor(weight) times, and once more with the probability
// of the remaining fraction. The pairs are shuffled, divided into buckets of about 512 batches,
// sorted by length within each bucket (target, then source), and divided into batches, which are
// shuffled. A batch of type `token` has at most `size` target positions: sentences times the
// longest target with its </s>. A longer single sentence is a batch of its own. The plan is empty
// if weights below 1 left no pair.
EpochPlan plan_epoch(const Corpus& corpus, BatchSize size, std::uint64_t seed, std::int64_t epoch);

// Options of sub-word sampling (data.tokenizer.sampling), which segments each batch anew from its
// text. If a sample exceeds the maximum length of the model, the line keeps its best segmentation,
// which is the one in the corpus. Samples are a function of the seed, the epoch and the line.
struct SubwordSampling {
  double amount = 0;                                                          // 0: off
  std::int64_t max_source_length = std::numeric_limits<std::int64_t>::max();  // tokens without </s>
  std::int64_t max_target_length = std::numeric_limits<std::int64_t>::max();
};

// Plans validation: each pair once, sorted by length.
EpochPlan plan_by_length(const Corpus& corpus, BatchSize size);

// Creates training batches on demand.
class BatchSampler {
 public:
  // With sampling, batches are planned by the lengths without it, so that a sampled batch may be
  // somewhat larger, and the corpus must have kept its text. The corpus must outlive this.
  BatchSampler(const Corpus& corpus, BatchSize size, std::uint64_t seed,
               const SubwordSampling& sampling = {});

  // Returns the number of batches of an epoch; epochs count from 0.
  std::int64_t count(std::int64_t epoch);
  Batch batch(std::int64_t epoch, std::int64_t i);

 private:
  const EpochPlan& plan(std::int64_t epoch);
  // Returns a sample, or `best` if the sample has more than `max_length` tokens.
  std::vector<std::int32_t> sample(const Tokenizer& tokenizer, std::string_view text,
                                   std::span<const std::int32_t> best, std::int64_t max_length,
                                   Random& random) const;
  // Segments `pairs`, of which the first is at position `first` of the epoch.
  Batch sampled_batch(std::int64_t epoch, std::size_t first,
                      std::span<const std::int64_t> pairs) const;

  const Corpus& corpus_;
  BatchSize size_;
  std::uint64_t seed_;
  SubwordSampling sampling_;
  std::int64_t planned_epoch_ = -1;
  EpochPlan plan_;
};

}  // namespace regard
