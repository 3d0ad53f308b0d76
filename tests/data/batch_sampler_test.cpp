#include "data/batch_sampler.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <optional>

#include "tests/data/synthetic_corpus.h"
#include "text/vocabulary.h"

namespace regard::batch_sampler_test {
namespace {

constexpr BatchSize ten_sentences{10, BatchType::sentence};
constexpr BatchSize hundred_tokens{100, BatchType::token};

std::map<std::int64_t, int> times(const EpochPlan& plan) {
  std::map<std::int64_t, int> counts;
  for (const std::int64_t pair : plan.pairs) ++counts[pair];
  return counts;
}

void expect_each_pair(const EpochPlan& plan, std::size_t pairs, int wanted) {
  const auto counts = times(plan);
  EXPECT_EQ(counts.size(), pairs);
  for (const auto& [pair, count] : counts) EXPECT_EQ(count, wanted) << "pair " << pair;
}

std::int64_t max_target_length(const Corpus& corpus, std::span<const std::int64_t> batch) {
  std::size_t longest = 0;
  for (const std::int64_t pair : batch)
    longest = std::max(longest, corpus.pair(pair).target.size());
  return static_cast<std::int64_t>(longest) + 1;
}

bool same(const Batch& a, const Batch& b) {
  return a.source.elements().equal(b.source.elements()) && a.target.equal(b.target) &&
         a.indices == b.indices;
}

TEST(EpochPlan, AnEpochHasEachPairOnce) {
  const ScratchFolder folder;
  const Corpus corpus = random_corpus(folder, 1501);
  for (const BatchSize size : {ten_sentences, hundred_tokens}) {
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
      expect_each_pair(plan_epoch(corpus, size, 1, epoch), 1501, 1);
    }
    expect_each_pair(plan_by_length(corpus, size), 1501, 1);
  }
}

TEST(EpochPlan, WholeWeightsRepeatAndFractionsAreDrawn) {
  const ScratchFolder folder;
  expect_each_pair(plan_epoch(random_corpus(folder, 50, 3), ten_sentences, 1, 0), 50, 3);
  const Corpus half = random_corpus(folder, 1000, 1.5);
  const auto counts = times(plan_epoch(half, ten_sentences, 1, 0));
  EXPECT_EQ(counts.size(), 1000u);
  const auto twice = std::count_if(counts.begin(), counts.end(),
                                   [](const auto& entry) { return entry.second == 2; });
  EXPECT_GT(twice, 400);
  EXPECT_LT(twice, 600);
  EXPECT_NE(times(plan_epoch(half, ten_sentences, 1, 1)), counts);
}

TEST(EpochPlan, AnEpochWithSmallWeightsMayBeEmpty) {
  const ScratchFolder folder;
  const Corpus corpus = random_corpus(folder, 2, 0.5);
  int empty = 0;
  for (std::int64_t epoch = 0; epoch < 100; ++epoch) {
    const EpochPlan plan = plan_epoch(corpus, ten_sentences, 1, epoch);
    EXPECT_EQ(plan.batches(), plan.pairs.empty() ? 0 : 1);
    empty += plan.pairs.empty() ? 1 : 0;
  }
  EXPECT_NEAR(empty, 25, 15);
}

TEST(EpochPlan, DependsOnlyOnSeedAndEpoch) {
  const ScratchFolder folder;
  const Corpus corpus = random_corpus(folder, 200);
  const EpochPlan plan = plan_epoch(corpus, ten_sentences, 1, 4);
  EXPECT_EQ(plan_epoch(corpus, ten_sentences, 1, 4).pairs, plan.pairs);
  EXPECT_EQ(plan_epoch(corpus, ten_sentences, 1, 4).starts, plan.starts);
  EXPECT_NE(plan_epoch(corpus, ten_sentences, 1, 5).pairs, plan.pairs);
  EXPECT_NE(plan_epoch(corpus, ten_sentences, 2, 4).pairs, plan.pairs);
}

TEST(EpochPlan, AllSentenceBatchesButTheLastAreFull) {
  const ScratchFolder folder;
  const EpochPlan plan = plan_epoch(random_corpus(folder, 95), ten_sentences, 1, 0);
  ASSERT_EQ(plan.batches(), 10);
  int small = 0;
  for (std::int64_t i = 0; i < 10; ++i) small += plan.batch(i).size() == 10 ? 0 : 1;
  EXPECT_EQ(small, 1);
}

TEST(EpochPlan, TokenBatchesFitWithPaddingAndAreNearlyFull) {
  const ScratchFolder folder;
  const Corpus corpus = random_corpus(folder, 2000);
  const EpochPlan plan = plan_epoch(corpus, hundred_tokens, 1, 0);
  double filled = 0;
  for (std::int64_t i = 0; i < plan.batches(); ++i) {
    const auto batch = plan.batch(i);
    const auto positions =
        static_cast<std::int64_t>(batch.size()) * max_target_length(corpus, batch);
    EXPECT_LE(positions, 100);
    filled += static_cast<double>(positions);
  }
  const auto& report = corpus.report();
  EXPECT_GT(static_cast<double>(report.target.tokens + report.kept), 0.95 * filled);
}

TEST(EpochPlan, ASentenceLongerThanTheLimitIsABatchOfItsOwn) {
  const ScratchFolder folder;
  const Corpus corpus = random_corpus(folder, 40);
  const EpochPlan plan = plan_epoch(corpus, {5, BatchType::token}, 1, 0);
  expect_each_pair(plan, 40, 1);
  for (std::int64_t i = 0; i < plan.batches(); ++i) {
    const auto batch = plan.batch(i);
    if (max_target_length(corpus, batch) > 5) {
      EXPECT_EQ(batch.size(), 1u);
    }
  }
}

TEST(EpochPlan, ShufflesTrainingBatches) {
  const ScratchFolder folder;
  const Corpus corpus = random_corpus(folder, 300);
  const EpochPlan plan = plan_epoch(corpus, ten_sentences, 1, 0);
  std::vector<std::int64_t> longest;
  for (std::int64_t i = 0; i < plan.batches(); ++i) {
    longest.push_back(max_target_length(corpus, plan.batch(i)));
  }
  EXPECT_FALSE(std::is_sorted(longest.begin(), longest.end()));
}

TEST(EpochPlan, SortsValidationByLength) {
  const ScratchFolder folder;
  const Corpus corpus = random_corpus(folder, 300);
  const EpochPlan plan = plan_by_length(corpus, ten_sentences);
  EXPECT_TRUE(std::is_sorted(plan.pairs.begin(), plan.pairs.end(), [&](auto a, auto b) {
    return corpus.pair(a).target.size() < corpus.pair(b).target.size();
  }));
}

TEST(EpochPlan, SourceOrderAlternatesWithTargetLength) {
  const ScratchFolder folder;
  const Corpus corpus = random_corpus(folder, 300);
  const EpochPlan plan = plan_by_length(corpus, ten_sentences);
  for (std::size_t i = 1; i < plan.pairs.size(); ++i) {
    const auto target = corpus.pair(plan.pairs[i]).target.size();
    if (corpus.pair(plan.pairs[i - 1]).target.size() != target) continue;
    const auto before = corpus.pair(plan.pairs[i - 1]).source.size();
    const auto source = corpus.pair(plan.pairs[i]).source.size();
    EXPECT_TRUE(target % 2 == 0 ? before <= source : before >= source) << "at " << i;
  }
}

TEST(BatchSampler, ABatchDoesNotDependOnEarlierRequests) {
  const ScratchFolder folder;
  const Corpus corpus = random_corpus(folder, 100);
  BatchSampler straight(corpus, ten_sentences, 1);
  std::vector<Batch> seen;
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    for (std::int64_t i = 0; i < straight.count(epoch); ++i) {
      seen.push_back(straight.batch(epoch, i));
    }
  }
  BatchSampler resumed(corpus, ten_sentences, 1);
  EXPECT_TRUE(same(resumed.batch(2, 3), seen[23]));
  EXPECT_TRUE(same(resumed.batch(0, 9), seen[9]));
  EXPECT_TRUE(same(resumed.batch(2, 4), seen[24]));
}

TEST(BatchSampler, ReturnsThePairsOfThePlan) {
  const ScratchFolder folder;
  const Corpus corpus = random_corpus(folder, 30);
  const Batch batch = BatchSampler(corpus, ten_sentences, 1).batch(0, 1);
  for (std::size_t row = 0; row < 10; ++row) {
    const std::int64_t pair = batch.indices[row];
    const auto length = static_cast<std::int64_t>(corpus.pair(pair).source.size()) + 1;
    EXPECT_EQ(batch.source.lengths[static_cast<std::int64_t>(row)].item<std::int64_t>(), length);
  }
}

TEST(BatchSampler, RejectsABatchOutsideTheEpoch) {
  const ScratchFolder folder;
  const Corpus corpus = random_corpus(folder, 30);
  EXPECT_THROW(BatchSampler(corpus, ten_sentences, 1).batch(0, 3), std::out_of_range);
}

TEST(BatchSampler, SamplingNeedsText) {
  const ScratchFolder folder;
  const Corpus corpus = random_corpus(folder, 30);
  EXPECT_THROW(BatchSampler(corpus, ten_sentences, 1, {.amount = 0.1}), std::logic_error);
}

// A corpus of syllables, split into sub-words; each pair occurs twice per epoch.
class SampledBatches : public testing::Test {
 protected:
  SampledBatches() {
    std::string text;
    for (const std::string& line : syllables(40)) text += line + "\n";
    options_.tokenizer.vocabulary_size = 60;
    options_.tokenizer.sampling = 0.3;
    options_.train = {{folder_.write("src", text), folder_.write("trg", text), 2}};
    corpus_.emplace(training_corpus(options_, make_text_codec(options_)));
  }
  Batch batch(std::int64_t epoch, const SubwordSampling& sampling) const {
    return BatchSampler(*corpus_, {1000, BatchType::sentence}, 1, sampling).batch(epoch, 0);
  }

  ScratchFolder folder_;
  DataOptions options_;
  std::optional<Corpus> corpus_;
};

TEST_F(SampledBatches, DifferByEpochAndAreReproducible) {
  BatchSampler batches(*corpus_, {1000, BatchType::sentence}, 1, {.amount = 0.3});
  const Batch first = batches.batch(0, 0);
  const Batch second = batches.batch(1, 0);
  EXPECT_NE(first.source_tokens, second.source_tokens);
  EXPECT_NE(first.source_tokens, first.target_tokens);  // the sides are sampled independently
  EXPECT_TRUE(same(batch(1, {.amount = 0.3}), second));
}

// Returns the tokens of each pair on a side, with </s>.
std::map<std::int64_t, std::vector<std::int64_t>> lengths_of(const Batch& batch,
                                                             const torch::Tensor& side) {
  std::map<std::int64_t, std::vector<std::int64_t>> lengths;
  for (std::int64_t row = 0; row < batch.size(); ++row) {
    lengths[batch.indices[static_cast<std::size_t>(row)]].push_back(
        side[row].ne(pad_id).sum().item<std::int64_t>());
  }
  return lengths;
}

TEST_F(SampledBatches, UseTheBestSegmentationIfASampleIsTooLong) {
  const auto free = batch(0, {.amount = 0.3});
  const auto longest = corpus_->report().source.max_length;  // the maximum of both sides
  const auto longest_drawn = free.source.positions() - 1;
  ASSERT_GT(longest_drawn, longest + 2);
  const SubwordSampling limited{.amount = 0.3,
                                .max_source_length = (longest + longest_drawn) / 2,
                                .max_target_length = longest};
  const auto found = batch(0, limited);
  EXPECT_LE(found.source.positions(), limited.max_source_length + 1);
  EXPECT_LE(found.target_output().size(1), limited.max_target_length + 1);
  // Each line has its sample if that fits, and its best segmentation otherwise.
  const auto drawn = lengths_of(free, free.source.elements());
  int kept = 0;
  for (const auto& [pair, lengths] : lengths_of(found, found.source.elements())) {
    for (const auto length : lengths) {
      const auto best = static_cast<std::int64_t>(corpus_->pair(pair).source.size()) + 1;
      const bool was_drawn = std::ranges::count(drawn.at(pair), length) > 0;
      EXPECT_TRUE(was_drawn || length == best) << pair;
      kept += was_drawn ? 0 : 1;
    }
  }
  EXPECT_GT(kept, 0);
  EXPECT_GT(found.source_tokens, batch(0, {}).source_tokens) << "short ones are drawn still";
  EXPECT_TRUE(same(batch(0, limited), found)) << "again the same";
}

}  // namespace
}  // namespace regard::batch_sampler_test
