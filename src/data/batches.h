// Which pairs make up which batch of which epoch.
//
// An epoch's plan is a function of the corpus, the sizes, the seed and the epoch's number: nothing
// is carried from one epoch to the next, and any batch can be asked for at any time. To resume
// after batch i of epoch e is to go on with batch i + 1.
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

// The pairs in the order of an epoch; batch i is the stretch starts[i] to starts[i + 1].
struct Plan {
  std::vector<std::int64_t> pairs;
  std::vector<std::size_t> starts;

  std::int64_t batches() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  std::span<const std::int64_t> batch(std::int64_t i) const;
};

// A training epoch. Each pair comes floor(weight) times, and once more with the probability of
// what is left of the weight. All are shuffled, cut into buckets of about 512 batches, sorted by
// length within each (target, then source), cut into batches, and the batches shuffled. A batch of
// `token` type has at most `size` target positions, sentences times the longest with its </s>; one
// sentence that alone is longer makes a batch of its own. Empty when weights below 1 left no pair.
Plan plan_epoch(const Corpus& corpus, BatchSize size, std::uint64_t seed, std::int64_t epoch);

// How each batch is segmented anew from its text (data.tokenizer.sampling). Where a sample is
// longer than the model takes, the line keeps its best segmentation, which is that of the corpus:
// so which lines do is a function of the seed, the epoch and the line, as the samples are.
struct Sampling {
  double amount = 0;                                                       // 0: off
  std::int64_t longest_source = std::numeric_limits<std::int64_t>::max();  // tokens without </s>
  std::int64_t longest_target = std::numeric_limits<std::int64_t>::max();
};

// Each pair once, sorted by length, for validation.
Plan plan_in_order(const Corpus& corpus, BatchSize size);

// The training batches, made when asked for.
class Batches {
 public:
  // With sampling the plan still goes by the lengths without it, so a sampled batch may be somewhat
  // larger. The corpus must have its text then, and outlive this.
  Batches(const Corpus& corpus, BatchSize size, std::uint64_t seed, const Sampling& sampling = {});

  // How many batches an epoch has; epochs count from 0.
  std::int64_t count(std::int64_t epoch);
  Batch batch(std::int64_t epoch, std::int64_t i);

 private:
  const Plan& plan(std::int64_t epoch);
  // `best`: what stands in for a sample of more than `longest` tokens.
  std::vector<std::int32_t> sample(const Tokenizer& tokenizer, std::string_view text,
                                   std::span<const std::int32_t> best, std::int64_t longest,
                                   Random& random) const;
  Batch sampled(std::int64_t epoch, std::size_t first, std::span<const std::int64_t> pairs) const;

  const Corpus& corpus_;
  BatchSize size_;
  std::uint64_t seed_;
  Sampling sampling_;
  std::int64_t planned_epoch_ = -1;
  Plan plan_;
};

}  // namespace regard
