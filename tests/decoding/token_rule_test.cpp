#include "decoding/token_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include "decoding/next_tokens.h"

namespace regard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::int64_t> forbidden(const TokenRule& rule,
                                    const std::vector<std::int32_t>& history) {
  Limits limits;
  rule.limit({history, nullptr}, limits);
  return limits.forbidden;
}

TEST(TokenRule, TheEndWaitsForTheLeastLength) {
  const MinimumLength rule(2);
  EXPECT_THAT(forbidden(rule, {}), ElementsAre(3));
  EXPECT_THAT(forbidden(rule, {7}), ElementsAre(3));
  EXPECT_THAT(forbidden(rule, {7, 7}), IsEmpty());
}

TEST(TokenRule, NoNgramComesTwice) {
  SearchOptions options;
  options.no_repeat_ngram = 3;
  const NoRepeatedNgram rule(options);
  EXPECT_THAT(forbidden(rule, {4}), IsEmpty());
  EXPECT_THAT(forbidden(rule, {4, 5, 6, 4}), IsEmpty());
  EXPECT_THAT(forbidden(rule, {4, 5, 6, 4, 5}), ElementsAre(6));
  EXPECT_THAT(forbidden(rule, {4, 5, 6, 4, 5, 7, 4, 5}), ElementsAre(6, 7));
  EXPECT_THAT(forbidden(rule, {4, 4}), IsEmpty());
  EXPECT_THAT(forbidden(rule, {4, 4, 4}), ElementsAre(4));
  options.no_repeat_ngram = 1;
  EXPECT_THAT(forbidden(NoRepeatedNgram(options), {4, 9}), ElementsAre(4, 9));
}

TEST(TokenChooser, WhatIsThereIsPenalisedOnceWhicheverItsSign) {
  const auto logits = torch::tensor({{2.0, -1.0, 0.5, 3.0}, {2.0, -1.0, 0.5, 3.0}});
  const auto penalised = penalise_repetition(logits, {{{0, 1, 0}}, {}}, 2);
  EXPECT_TRUE(penalised.equal(torch::tensor({{1.0, -2.0, 0.5, 3.0}, {2.0, -1.0, 0.5, 3.0}})));
  EXPECT_EQ(logits[0][0].item<double>(), 2);
}

TEST(TokenChooser, WhatIsForbiddenKeepsItsProbability) {
  SearchOptions options;
  options.min_output_length = 1;
  const auto logits = torch::tensor({{9.0, 1.0, 9.0, 5.0, 4.0, 2.0}});
  const auto next = TokenChooser(options).best(logits, 2, {{}});
  EXPECT_TRUE(next.tokens.equal(torch::tensor({{4, 5}})));
  EXPECT_TRUE(next.log_p.allclose(
      logits.log_softmax(-1).index_select(1, torch::tensor({4, 5})).to(torch::kDouble), 1e-6,
      1e-6));
}

}  // namespace
}  // namespace regard
