#include "data/batch.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <utility>

namespace regard::batch_test {
namespace {

using testing::ElementsAre;

torch::Tensor ids(std::vector<std::vector<std::int64_t>> rows) {
  std::vector<torch::Tensor> tensors;
  for (const auto& row : rows) tensors.push_back(torch::tensor(row, torch::kInt64));
  return torch::stack(tensors);
}

Batch example_batch() {
  const std::vector<Example> examples = {{7, {4}, {5, 6, 7}}, {8, {5, 6}, {4}}, {9, {8}, {}}};
  return make_batch(examples);
}

TEST(Batch, SourcesArePaddedAndSortedLongestFirst) {
  const Batch batch = example_batch();
  EXPECT_TRUE(batch.source.elements().equal(ids({{5, 6, 3}, {4, 3, 0}, {8, 3, 0}})))
      << batch.source.elements();
  EXPECT_TRUE(batch.source.lengths.equal(torch::tensor({3, 2, 2}, torch::kInt64)));
  EXPECT_THAT(batch.indices, ElementsAre(8, 7, 9));
  EXPECT_EQ(batch.size(), 3);
}

TEST(Batch, TargetsHaveBosAndEos) {
  const Batch batch = example_batch();
  EXPECT_TRUE(batch.target.equal(ids({{2, 4, 3, 0, 0}, {2, 5, 6, 7, 3}, {2, 3, 0, 0, 0}})));
  EXPECT_TRUE(batch.target_input().equal(ids({{2, 4, 3, 0}, {2, 5, 6, 7}, {2, 3, 0, 0}})));
  EXPECT_TRUE(batch.target_output().equal(ids({{4, 3, 0, 0}, {5, 6, 7, 3}, {3, 0, 0, 0}})));
}

TEST(Batch, CountsTokensWithEosAndWithoutPadding) {
  const Batch batch = example_batch();
  EXPECT_EQ(batch.source_tokens, 7);
  EXPECT_EQ(batch.target_tokens, 7);
  EXPECT_EQ(batch.source_tokens, batch.source.elements().ne(0).sum().item<std::int64_t>());
  EXPECT_EQ(batch.target_tokens, batch.target_output().ne(0).sum().item<std::int64_t>());
}

TEST(Batch, ASourceBatchHasNoTarget) {
  const std::vector<SourceLine> sources = {{.tokens = {}}, {.tokens = {4, 5}}};
  const Batch batch = make_source_batch(sources);
  EXPECT_TRUE(batch.source.elements().equal(ids({{4, 5, 3}, {3, 0, 0}})));
  EXPECT_FALSE(batch.target.defined());
  EXPECT_EQ(batch.target_tokens, 0);
  EXPECT_THAT(batch.indices, ElementsAre(1, 0));
  EXPECT_FALSE(batch.to(torch::kCPU).target.defined());
}

TEST(Batch, MovingKeepsTheLengthsOnTheCpu) {
  const Batch moved = example_batch().to(torch::kMeta);
  EXPECT_TRUE(moved.source.elements().is_meta());
  EXPECT_TRUE(moved.target.is_meta());
  EXPECT_TRUE(moved.source.lengths.is_cpu());
  EXPECT_THAT(moved.indices, ElementsAre(8, 7, 9));
}

TEST(Batch, APaddedBatchHasWholeBlocksOfRowsAndPositions) {
  const Batch batch = example_batch(), padded = batch.padded(8, 8);
  EXPECT_TRUE(padded.source.elements().narrow(0, 0, 3).equal(
      ids({{5, 6, 3, 0}, {4, 3, 0, 0}, {8, 3, 0, 0}})));
  EXPECT_TRUE(padded.source.elements().narrow(0, 3, 5).equal(ids({{3, 0, 0, 0}}).expand({5, 4})));
  EXPECT_TRUE(padded.source.lengths.equal(torch::tensor({3, 2, 2, 1, 1, 1, 1, 1}, torch::kInt64)));
  EXPECT_TRUE(padded.target.narrow(0, 0, 3).equal(batch.target));
  EXPECT_TRUE(padded.target.narrow(0, 3, 5).equal(ids({{2, 0, 0, 0, 0}}).expand({5, 5})));
  EXPECT_FALSE(padded.target_positions.defined());
  EXPECT_EQ(padded.size(), 3);
  EXPECT_EQ(padded.target_tokens, 7);
  EXPECT_EQ(padded.block.numel(), 8 * (4 + 1 + 5));
  const Batch half = padded.shard(1, 2);
  EXPECT_TRUE(half.source.elements().equal(ids({{4, 3}}))) << half.source.elements();
  EXPECT_EQ(half.target_tokens, 4);
}

TEST(Batch, ABatchOfWholeBlocksIsNotPadded) {
  const std::vector<Example> examples(
      8, Example{.index = 1, .source = {4, 5, 6}, .target = {7, 7, 7}});
  const Batch batch = make_batch(examples), padded = batch.padded(8, 8);
  EXPECT_TRUE(padded.source.elements().equal(batch.source.elements()));
  EXPECT_TRUE(padded.target.equal(batch.target));
}

TEST(Batch, PaddingEndsAtTheLimits) {
  const std::vector<Example> examples = {
      {.index = 0, .source = {4, 5, 6, 7}, .target = {5, 6, 7, 8, 9}}};
  const auto batch = make_batch(examples);  // 5 source positions and 6 of the target
  for (const auto& [max_source, max_target] : {std::pair(6, 7), {5, 6}, {8, 8}, {100, 9}, {1, 2}}) {
    const auto padded = batch.padded(max_source, max_target);
    EXPECT_EQ(padded.source.positions(), std::clamp(max_source, 5, 8));
    EXPECT_EQ(padded.target_output().size(1), std::clamp(max_target, 6, 8));
    EXPECT_EQ(padded.source.elements().size(0), 8);
  }
}

TEST(Batch, PaddingKeepsWordsThatCanBeCopiedAndMaskedPositions) {
  const std::vector<Example> copies = {
      {.index = 0, .source = {4, 1}, .target = {4}, .extended_ids = {4, 50, 3}}};
  const Batch padded = make_batch(copies).padded(8, 8);
  const auto& [words, extended_ids] = std::get<CopyIds>(padded.source.values);
  EXPECT_TRUE(words[0].equal(ids({{4, 1, 3, 0}})[0])) << words[0];
  EXPECT_TRUE(extended_ids[0].equal(ids({{4, 50, 3, 0}})[0])) << extended_ids[0];
  EXPECT_TRUE(words[7].equal(ids({{3, 0, 0, 0}})[0]));
  EXPECT_TRUE(extended_ids[7].equal(words[7]));
  const std::vector<Example> masks = {
      {.index = 0, .source = {4, 1, 5}, .target = {6, 7}, .masked = {1, 2}}};
  const Batch masked = make_masked_batch(masks).padded(8, 8);
  EXPECT_TRUE(masked.masked[0].equal(torch::tensor({1, 2, 0, 0}, torch::kInt64)));
  EXPECT_TRUE(masked.target_output()[0].equal(torch::tensor({6, 7, 0, 0}, torch::kInt64)));
}

TEST(Batch, NumbersHaveAnEndColumn) {
  const std::vector<SourceLine> sources = {{.tokens = {4}, .numbers = {7, 0, 0, 1}},
                                           {.tokens = {4, 4}, .numbers = {5, 0, 6, 0, 0, 1}}};
  const Batch batch = make_source_batch(sources);
  EXPECT_TRUE(batch.source.elements().equal(
      torch::tensor({5, 0, 6, 0, 0, 1, 7, 0, 0, 1, 0, 0}, torch::kFloat).view({2, 3, 2})));
  EXPECT_EQ(batch.shard(1, 2).source.positions(), 2);
}

TEST(Batch, ExtendedIdsAreBesideTheTokens) {
  const std::vector<Example> examples = {{0, {4}, {9}, {}, {9, 3}},
                                         {1, {1, 5}, {4}, {}, {8, 6, 3}}};
  const Batch batch = make_batch(examples);
  const auto& [words, extended_ids] = std::get<CopyIds>(batch.source.values);
  EXPECT_TRUE(words.equal(ids({{1, 5, 3}, {4, 3, 0}})));
  EXPECT_TRUE(extended_ids.equal(ids({{8, 6, 3}, {9, 3, 0}})));
}

TEST(Batch, RejectsExtendedIdsThatAreNotBesideTheTokens) {
  EXPECT_THROW(make_batch(std::vector<Example>{{0, {4}, {9}, {}, {9, 8, 3}}}), std::logic_error);
}

TEST(Batch, RejectsAnEmptyBatch) {
  EXPECT_THROW(make_source_batch({}), std::logic_error);
}

}  // namespace
}  // namespace regard::batch_test
