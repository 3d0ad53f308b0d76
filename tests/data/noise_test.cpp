#include "data/noise.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <ranges>

#include "base/special_tokens.h"
#include "data/batch_sampler.h"
#include "tests/data/synthetic_corpus.h"

namespace regard::noise_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Lt;

std::vector<std::int32_t> numbers(std::int32_t count) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
  std::iota(tokens.begin(), tokens.end(), special_count);
  return tokens;
}

// Returns the tokens that are in `all` but not in `left`.
std::ptrdiff_t missing(const std::vector<std::int32_t>& all,
                       const std::vector<std::int32_t>& left) {
  return std::ranges::count_if(all, [&](auto id) { return !std::ranges::count(left, id); });
}

TEST(Noise, MasksTheWantedFractionOfALongText) {
  const auto tokens = numbers(4000);
  for (const double span_length : {0.0, 1.0, 3.0, 8.0}) {
    for (const double fraction : {0.15, 0.3, 0.6}) {
      Random random(1);
      const auto noisy = add_noise(tokens, {.mask = fraction, .span_length = span_length}, random);
      EXPECT_NEAR(static_cast<double>(missing(tokens, noisy)) / 4000, fraction, 0.04)
          << span_length;
      EXPECT_LE(noisy.size(), tokens.size());
      EXPECT_TRUE(
          std::ranges::is_sorted(noisy | std::views::filter([](auto id) { return id != unk_id; })));
    }
  }
}

TEST(Noise, OneMaskReplacesASpanOfTheWantedMeanLength) {
  const auto tokens = numbers(6000);
  Random random(2);
  const auto noisy = add_noise(tokens, {.mask = 0.3, .span_length = 3}, random);
  const auto masks = static_cast<double>(std::ranges::count(noisy, unk_id));
  EXPECT_NEAR(static_cast<double>(missing(tokens, noisy)) / masks, 3, 0.3);
  const auto single = add_noise(tokens, {.mask = 0.3, .span_length = 0}, random);
  EXPECT_EQ(single.size(), tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_TRUE(single[i] == tokens[i] || single[i] == unk_id);
  }
}

TEST(Noise, ShuffleMovesNoTokenFurtherThanItsDistance) {
  const auto tokens = numbers(500);
  Random random(3);
  const auto noisy = add_noise(tokens, {.shuffle = 3}, random);
  EXPECT_NE(noisy, tokens);
  std::vector<std::ptrdiff_t> moved;
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    moved.push_back(std::abs(static_cast<std::ptrdiff_t>(i) - (noisy[i] - special_count)));
  }
  EXPECT_THAT(moved, Each(Lt(4)));
  EXPECT_EQ(missing(tokens, noisy), 0);
}

TEST(Noise, DropLeavesTokensOut) {
  const auto tokens = numbers(2000);
  Random random(4);
  const auto noisy = add_noise(tokens, {.drop = 0.25}, random);
  EXPECT_NEAR(static_cast<double>(noisy.size()), 1500, 60);
  EXPECT_TRUE(std::ranges::is_sorted(noisy));
  EXPECT_THAT(add_noise({}, {.mask = 0.5, .drop = 0.5, .shuffle = 2}, random), ElementsAre());
}

TEST(MaskTokens, ChangesMostOfTheSelectedTokensAndNoOther) {
  const auto tokens = numbers(8000);
  Random random(5);
  const auto masked = mask_tokens(tokens, 0.15, 9000, random);
  const auto selected = static_cast<double>(masked.positions.size());
  EXPECT_NEAR(selected / 8000, 0.15, 0.015);
  EXPECT_TRUE(std::ranges::is_sorted(masked.positions));
  double masks = 0;
  double kept = 0;
  auto restored = masked.tokens;
  for (std::size_t k = 0; k < masked.positions.size(); ++k) {
    const auto i = static_cast<std::size_t>(masked.positions[k]);
    EXPECT_EQ(masked.originals[k], tokens[i]);
    masks += masked.tokens[i] == unk_id;
    kept += masked.tokens[i] == tokens[i];
    restored[i] = masked.originals[k];
  }
  EXPECT_EQ(restored, tokens);
  EXPECT_NEAR(masks / selected, 0.8, 0.05);
  EXPECT_NEAR(kept / selected, 0.1, 0.03);
}

TEST(MaskTokens, SelectsAtLeastOneTokenIfThereIsOne) {
  Random random(6);
  for (int i = 0; i < 100; ++i) {
    const auto masked = mask_tokens(numbers(3), 0.01, 20, random);
    EXPECT_GE(masked.positions.size(), 1U);
  }
  const auto empty = mask_tokens({}, 0.5, 20, random);
  EXPECT_THAT(empty.tokens, ElementsAre());
  EXPECT_THAT(empty.positions, ElementsAre());
}

TEST(MaskedBatch, HasPositionsAndTheirTokensWithoutEnd) {
  const std::vector<Example> examples = {
      {.index = 0, .source = {4, 1, 6}, .target = {5}, .masked = {1}},
      {.index = 1, .source = {1, 9, 7, 1}, .target = {8, 6}, .masked = {0, 3}},
      {.index = 2, .source = {}, .target = {}}};
  const auto batch = make_masked_batch(examples);
  EXPECT_TRUE(batch.target_input().equal(torch::tensor({{0, 3}, {1, 0}, {0, 0}})));
  EXPECT_TRUE(batch.target_output().equal(torch::tensor({{8, 6}, {5, 0}, {0, 0}})));
  EXPECT_EQ(batch.target_tokens, 3);
  EXPECT_EQ(batch.source_tokens, 10);
  const auto part = batch.shard(1, 2);
  EXPECT_TRUE(part.target_input().equal(torch::tensor({{1}})));
  EXPECT_TRUE(part.target_output().equal(torch::tensor({{5}})));
  EXPECT_EQ(part.target_tokens, 1);
  const auto last = batch.shard(2, 3);  // without a token
  EXPECT_EQ(last.target_output().size(1), 1);
  EXPECT_EQ(last.target_tokens, 0);
}

// A corpus whose source and target are the same file, and one of pairs.
class NoisyBatches : public testing::Test {
 protected:
  NoisyBatches() {
    std::string text;
    for (std::uint64_t i = 0; i < 30; ++i) text += words(4 + i % 9);
    const auto same = folder_.write("same", text);
    auto& data = options_.data;
    data.tokenizer.kind = TokenizerKind::word;
    data.train = {{same, same, 1}, {folder_.write("src", text), folder_.write("trg", text), 1}};
    data.noise.mask = 0.4;
    corpus_.emplace(training_corpus(data, letter_words()));
  }
  Batch batch(std::int64_t epoch) const {
    return BatchSampler(*corpus_, {1000, BatchType::sentence}, 1, {}, SourceNoise(options_))
        .batch(epoch, 0);
  }

  ScratchFolder folder_;
  Options options_;
  std::optional<Corpus> corpus_;
};

TEST_F(NoisyBatches, ChangeSourcesOfEqualFilesOnlyAndDifferByEpoch) {
  const auto first = batch(0);
  EXPECT_TRUE(first.source.elements().equal(batch(0).source.elements()));
  bool differs = false;
  for (std::int64_t row = 0; row < first.size(); ++row) {
    const auto pair = first.indices[static_cast<std::size_t>(row)];
    const auto masks = first.source.elements()[row].eq(unk_id).sum().item<std::int64_t>();
    if (pair >= 30) {
      EXPECT_EQ(masks, 0) << pair;
    }
    differs = differs || masks > 0;
    const auto target = first.target_output()[row].ne(pad_id).sum().item<std::int64_t>() - 1;
    EXPECT_EQ(target, corpus_->target_length(pair)) << "the target is the text itself";
  }
  EXPECT_TRUE(differs);
  EXPECT_NE(first.source_tokens, batch(1).source_tokens);
}

TEST_F(NoisyBatches, OfAValidationDependOnTheirPairsOnly) {
  const SourceNoise noise(options_);
  const std::vector<std::int64_t> all = {3, 4, 5, 40};
  const auto together = noise.batch(*corpus_, all, 1);
  for (std::int64_t row = 0; row < together.size(); ++row) {
    const auto pair = together.indices[static_cast<std::size_t>(row)];
    const auto alone = noise.batch(*corpus_, std::vector{pair}, 1);
    const auto length = alone.source.positions();
    EXPECT_TRUE(
        alone.source.elements()[0].equal(together.source.elements()[row].slice(0, 0, length)))
        << pair;
  }
  options_.data.noise = {};
  const auto clean = SourceNoise(options_).batch(*corpus_, all, 1);
  EXPECT_EQ(clean.source.elements().eq(unk_id).sum().item<std::int64_t>(), 0);
}

}  // namespace
}  // namespace regard::noise_test
