#include "decoding/token_constraint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include "decoding/logits_processor.h"

namespace regard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::int64_t> banned_tokens(const TokenConstraint& constraint,
                                        const std::vector<std::int32_t>& history) {
  TokenMask mask;
  constraint.apply({history, nullptr}, mask);
  return mask.banned;
}

TEST(TokenConstraint, BansTheEndBeforeTheMinimumLength) {
  const MinimumLength constraint(2);
  EXPECT_THAT(banned_tokens(constraint, {}), ElementsAre(3));
  EXPECT_THAT(banned_tokens(constraint, {7}), ElementsAre(3));
  EXPECT_THAT(banned_tokens(constraint, {7, 7}), IsEmpty());
}

TEST(TokenConstraint, BansRepeatedNgrams) {
  SearchOptions options;
  options.no_repeat_ngram = 3;
  const NoRepeatNgram constraint(options);
  EXPECT_THAT(banned_tokens(constraint, {4}), IsEmpty());
  EXPECT_THAT(banned_tokens(constraint, {4, 5, 6, 4}), IsEmpty());
  EXPECT_THAT(banned_tokens(constraint, {4, 5, 6, 4, 5}), ElementsAre(6));
  EXPECT_THAT(banned_tokens(constraint, {4, 5, 6, 4, 5, 7, 4, 5}), ElementsAre(6, 7));
  EXPECT_THAT(banned_tokens(constraint, {4, 4}), IsEmpty());
  EXPECT_THAT(banned_tokens(constraint, {4, 4, 4}), ElementsAre(4));
  options.no_repeat_ngram = 1;
  EXPECT_THAT(banned_tokens(NoRepeatNgram(options), {4, 9}), ElementsAre(4, 9));
}

TEST(LogitsProcessor, PenalisesRepeatedTokensOnceForEitherSign) {
  const auto logits = torch::tensor({{2.0, -1.0, 0.5, 3.0}, {2.0, -1.0, 0.5, 3.0}});
  const auto penalised = penalise_repetition(logits, {{{0, 1, 0}}, {}}, 2);
  EXPECT_TRUE(penalised.equal(torch::tensor({{1.0, -2.0, 0.5, 3.0}, {2.0, -1.0, 0.5, 3.0}})));
  EXPECT_EQ(logits[0][0].item<double>(), 2);
}

TEST(LogitsProcessor, DoesNotRenormaliseProbabilities) {
  SearchOptions options;
  options.min_output_length = 1;
  const auto logits = torch::tensor({{9.0, 1.0, 9.0, 5.0, 4.0, 2.0}});
  const auto next = LogitsProcessor(options).best(logits, 2, {{}});
  EXPECT_TRUE(next.tokens.equal(torch::tensor({{4, 5}})));
  EXPECT_TRUE(next.log_p.allclose(
      logits.log_softmax(-1).index_select(1, torch::tensor({4, 5})).to(torch::kDouble), 1e-6,
      1e-6));
}

}  // namespace
}  // namespace regard
