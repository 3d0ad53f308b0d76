// The order and the batches of a prepared corpus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/error.h"
#include "data/batch_sampler.h"
#include "data/prepare_corpus.h"
#include "tests/data/synthetic_corpus.h"

namespace regard::prepared_epoch_test {
namespace {

constexpr BatchSize one_sentence{1, BatchType::sentence};
constexpr BatchSize ten_sentences{10, BatchType::sentence};
constexpr BatchSize hundred_tokens{100, BatchType::token};

class PreparedEpochTest : public testing::Test {
 protected:
  // Prepares corpora of these sizes and weights.
  Corpus prepare(const std::vector<std::pair<int, double>>& corpora, double temperature = 1) {
    Options options;
    options.data.max_ratio = 0;
    options.data.temperature = temperature;
    options.data.tokenizer.kind = TokenizerKind::word;
    Random random(11);
    for (std::size_t i = 0; i < corpora.size(); ++i) {
      std::string source;
      std::string target;
      for (int k = 0; k < corpora[i].first; ++k) {
        source += words(1 + random.below(20));
        target += words(1 + random.below(20));
      }
      const auto name = std::to_string(i);
      options.data.train.push_back({folder_.write(name + ".src", source),
                                    folder_.write(name + ".trg", target), corpora[i].second});
    }
    const auto path = folder_.path("prepared" + std::to_string(++folders_));
    ThreadPool pool;
    prepare_corpus(options, path, pool);
    return Corpus::training(options, std::make_shared<const PreparedCorpus>(path));
  }
  // Returns the pairs of an epoch, batch by batch.
  static std::vector<std::vector<std::int64_t>> batches(const Corpus& corpus, BatchSize size,
                                                        std::int64_t epoch,
                                                        std::uint64_t seed = 1) {
    const PreparedEpoch planned(corpus, size, seed, epoch);
    std::vector<std::vector<std::int64_t>> all;
    for (std::size_t window = 0; window < planned.windows(); ++window) {
      const auto plan = planned.plan(window);
      EXPECT_EQ(planned.first_batch(window), std::ssize(all));
      for (std::int64_t i = 0; i < plan.batches(); ++i) {
        EXPECT_EQ(planned.window_of(std::ssize(all)), window);
        const auto batch = plan.batch(i);
        all.emplace_back(batch.begin(), batch.end());
      }
    }
    EXPECT_EQ(planned.batches(), std::ssize(all));
    return all;
  }
  static std::map<std::int64_t, int> times(const Corpus& corpus, BatchSize size,
                                           std::int64_t epochs) {
    std::map<std::int64_t, int> counts;
    for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
      for (const auto& batch : batches(corpus, size, epoch)) {
        for (const auto pair : batch) ++counts[pair];
      }
    }
    return counts;
  }
  static void expect_each_pair(const std::map<std::int64_t, int>& counts, std::size_t size,
                               int wanted) {
    EXPECT_EQ(counts.size(), size);
    for (const auto& [pair, count] : counts) EXPECT_EQ(count, wanted) << "pair " << pair;
  }

  ScratchFolder folder_;
  int folders_ = 0;
};

TEST_F(PreparedEpochTest, AnEpochHasEachPairOnce) {
  const auto corpus = prepare({{1501, 1}});
  for (const auto size : {one_sentence, ten_sentences, hundred_tokens}) {
    expect_each_pair(times(corpus, size, 1), 1501, 1);
  }
  EXPECT_GT(PreparedEpoch(corpus, one_sentence, 1, 0).windows(), 2U);
}

TEST_F(PreparedEpochTest, AWholeWeightRepeatsAPairInEachEpoch) {
  expect_each_pair(times(prepare({{50, 3}}), ten_sentences, 1), 50, 3);
}

TEST_F(PreparedEpochTest, AFractionIsSharedEquallyByThePairs) {
  const auto half = prepare({{100, 0.5}});
  EXPECT_EQ(times(half, ten_sentences, 1).size(), 50U);
  expect_each_pair(times(half, ten_sentences, 2), 100, 1);
  expect_each_pair(times(half, ten_sentences, 6), 100, 3);
  expect_each_pair(times(prepare({{101, 1.5}}), ten_sentences, 2), 101, 3);
  // Not the same pairs in the same half each time.
  std::map<std::int64_t, int> third;
  for (const auto& batch : batches(half, ten_sentences, 2)) {
    for (const auto pair : batch) ++third[pair];
  }
  EXPECT_NE(times(half, ten_sentences, 1), third);
}

TEST_F(PreparedEpochTest, ASmallWeightLeavesSomeEpochsEmpty) {
  const auto corpus = prepare({{3, 0.4}});
  std::vector<std::size_t> sizes;
  for (std::int64_t epoch = 0; epoch < 5; ++epoch) {
    sizes.push_back(batches(corpus, ten_sentences, epoch).size());
  }
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 1U), 5);  // 1.2 pairs an epoch
  const auto rare = prepare({{2, 0.5}, {1, 0.2}});
  for (std::int64_t epoch = 0; epoch < 10; ++epoch) {
    EXPECT_EQ(batches(rare, ten_sentences, epoch).size(), 1U);
  }
  EXPECT_EQ(times(rare, ten_sentences, 10).at(2), 2);
}

TEST_F(PreparedEpochTest, CorporaAreMixedByTheirWeights) {
  const auto corpus = prepare({{1000, 0.25}, {200, 2}, {100, 0}});
  std::int64_t first = 0;
  std::int64_t second = 0;
  for (const auto& [pair, count] : times(corpus, ten_sentences, 4)) {
    ASSERT_LT(pair, 1200);
    (pair < 1000 ? first : second) += count;
  }
  EXPECT_EQ(first, 1000);
  EXPECT_EQ(second, 1600);
}

TEST_F(PreparedEpochTest, TemperatureRaisesTheShareOfSmallCorpora) {
  const auto shares = [&](double temperature) {
    const auto corpus = prepare({{900, 1}, {100, 1}}, temperature);
    std::int64_t small = 0;
    std::int64_t all = 0;
    for (const auto& [pair, count] : times(corpus, ten_sentences, 10)) {
      all += count;
      if (pair >= 900) small += count;
    }
    EXPECT_NEAR(all, 10000, 2);  // an epoch keeps its size
    return static_cast<double>(small) / static_cast<double>(all);
  };
  EXPECT_DOUBLE_EQ(shares(1), 0.1);
  EXPECT_NEAR(shares(2), 0.25, 1e-3);  // √100 / (√900 + √100)
  EXPECT_NEAR(shares(1000), 0.5, 1e-3);
}

TEST_F(PreparedEpochTest, IsAFunctionOfSeedAndEpoch) {
  const auto corpus = prepare({{2000, 1}});
  EXPECT_EQ(batches(corpus, ten_sentences, 4), batches(corpus, ten_sentences, 4));
  EXPECT_NE(batches(corpus, ten_sentences, 4), batches(corpus, ten_sentences, 5));
  EXPECT_NE(batches(corpus, ten_sentences, 4, 1), batches(corpus, ten_sentences, 4, 2));
}

TEST_F(PreparedEpochTest, BatchesHaveTheirSizeAndLittlePadding) {
  const auto corpus = prepare({{5000, 1}});
  std::int64_t partial = 0;
  for (const auto& batch : batches(corpus, ten_sentences, 0)) partial += batch.size() < 10;
  EXPECT_EQ(partial, 0);
  std::int64_t positions = 0;
  std::int64_t tokens = 0;
  for (const auto& batch : batches(corpus, hundred_tokens, 0)) {
    std::int64_t longest = 0;
    for (const auto pair : batch) {
      longest = std::max(longest, corpus.target_length(pair) + 1);
      tokens += corpus.target_length(pair) + 1;
    }
    EXPECT_LE(longest * std::ssize(batch), 100);
    positions += longest * std::ssize(batch);
  }
  EXPECT_LT(positions, tokens * 1.05);
}

TEST_F(PreparedEpochTest, APairAboveTheBatchSizeIsABatch) {
  const auto corpus = prepare({{300, 1}});
  expect_each_pair(times(corpus, {5, BatchType::token}, 1), 300, 1);
}

TEST_F(PreparedEpochTest, AnyBatchCanBeRequestedAtAnyTime) {
  const auto corpus = prepare({{1501, 1.25}});
  for (const auto size : {one_sentence, hundred_tokens}) {
    BatchSampler in_order(corpus, size, 3);
    std::vector<Batch> expected;
    for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
      for (std::int64_t i = 0; i < in_order.count(epoch); ++i) {
        expected.push_back(in_order.batch(epoch, i));
      }
    }
    const auto first = BatchSampler(corpus, size, 3).count(0);
    for (const std::int64_t number : {1700, 511, 512, 2500, 0, 1875}) {
      const auto at = number % std::ssize(expected);
      BatchSampler resumed(corpus, size, 3);
      const auto batch = at < first ? resumed.batch(0, at) : resumed.batch(1, at - first);
      const auto& wanted = expected[static_cast<std::size_t>(at)];
      EXPECT_TRUE(batch.source.elements().equal(wanted.source.elements()) &&
                  batch.target.equal(wanted.target));
      EXPECT_EQ(batch.indices, wanted.indices);
    }
  }
}

}  // namespace
}  // namespace regard::prepared_epoch_test
