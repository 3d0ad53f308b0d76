#include "decoding/token_constraint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cmath>
#include <limits>

#include "decoding/logits_processor.h"
#include "model/output/batch_shortlist.h"

namespace regard::token_constraint_test {
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
  SearchRequest options;
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

TEST(TokenConstraint, AWordIsNotContinuedRightAfterThePrefix) {
  const WholeWordPrefix constraint({{false, false, false, false, false, true, true}, {}});
  SentenceOptions sentence;
  const auto banned = [&](const std::vector<std::int32_t>& history) {
    TokenMask mask;
    constraint.apply({history, &sentence}, mask);
    return mask.banned;
  };
  EXPECT_THAT(banned({}), IsEmpty());
  sentence.prefix = {4, 5};
  EXPECT_THAT(banned({4}), IsEmpty());
  EXPECT_THAT(banned({4, 5}), ElementsAre(5, 6));
  EXPECT_THAT(banned({4, 5, 6}), IsEmpty());
}

TEST(TokenConstraint, ACopiedCharacterDoesNotContinueAWordRightAfterThePrefix) {
  SearchRequest options;
  options.words = {{false, false, false, false, false, true},
                   {false, false, false, false, true, true}};
  SentenceOptions sentence;
  sentence.prefix = {4};
  LogitsProcessor processor(options);
  processor.include(sentence);
  const auto logits = torch::tensor({{0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0}});  // 6 and 7: copies
  EXPECT_EQ(processor.best({logits}, 1, {{{4}, &sentence}}).tokens.item<std::int64_t>(), 4);
  EXPECT_EQ(processor.best({logits}, 1, {{{4, 4}, &sentence}}).tokens.item<std::int64_t>(), 7);
  sentence.prefix = {3};
  EXPECT_EQ(processor.best({logits}, 1, {{{3}, &sentence}}).tokens.item<std::int64_t>(), 7);
}

TEST(LogitsProcessor, PenalisesRepeatedTokensOnceForEitherSign) {
  const auto logits = torch::tensor({{2.0, -1.0, 0.5, 3.0}, {2.0, -1.0, 0.5, 3.0}});
  const auto penalised = penalise_repetition({logits}, {{{0, 1, 0}}, {}}, 2).values;
  EXPECT_TRUE(penalised.equal(torch::tensor({{1.0, -2.0, 0.5, 3.0}, {2.0, -1.0, 0.5, 3.0}})));
  EXPECT_EQ(logits[0][0].item<double>(), 2);
}

TEST(LogitsProcessor, DoesNotRenormaliseProbabilities) {
  SearchRequest options;
  options.min_output_length = 1;
  const auto logits = torch::tensor({{9.0, 1.0, 9.0, 5.0, 4.0, 2.0}});
  const auto next = LogitsProcessor(options).best({logits}, 2, {{}});
  EXPECT_TRUE(next.tokens.equal(torch::tensor({{4, 5}})));
  EXPECT_TRUE(next.log_p.allclose(
      logits.log_softmax(-1).index_select(1, torch::tensor({4, 5})).to(torch::kDouble), 1e-6,
      1e-6));
}

// The same logits as columns of a shortlist, and as all tokens with −∞ elsewhere.
class ShortlistLogits : public testing::Test {
 protected:
  ShortlistLogits() {
    torch::manual_seed(7);
    columns.values = torch::randn({4, 6});
    columns.values.narrow(0, 2, 2).narrow(1, 5, 1).fill_(minus_infinity);
    columns.tokens = torch::tensor({{1, 3, 4, 7, 9, 12}, {1, 3, 5, 6, 8, 0}}, torch::kInt64);
    columns.tokens[1][5] = no_token;
    all.values = torch::full({4, 15}, minus_infinity);
    for (std::int64_t n = 0; n < 4; ++n) {
      for (std::int64_t k = 0; k < (n < 2 ? 6 : 5); ++k) {
        all.values[n][columns.tokens[n / 2][k].item<std::int64_t>()] = columns.values[n][k];
      }
    }
    sentences.resize(2);
    options.suppressed_tokens = {0, 2};
  }

  std::vector<History> histories() const {
    return {
        {{4}, &sentences[0]}, {{4, 7}, &sentences[0]}, {{5}, &sentences[1]}, {{}, &sentences[1]}};
  }
  void expect_same() const {
    LogitsProcessor processor(options);
    for (const auto& sentence : sentences) processor.include(sentence);
    const auto found = processor.best(columns, 4, histories());
    const auto expected = processor.best(all, 4, histories());
    EXPECT_TRUE(torch::equal(found.tokens, expected.tokens)) << found.tokens << expected.tokens;
    EXPECT_TRUE(torch::allclose(found.log_p, expected.log_p, 1e-6, 1e-6));
    const auto log_p = processor.log_probabilities(columns, histories());
    const auto all_log_p = processor.log_probabilities(all, histories());
    for (std::int64_t n = 0; n < 4; ++n) {
      for (std::int64_t k = 0; k < (n < 2 ? 6 : 5); ++k) {
        const auto other = all_log_p[n][columns.token(n, k)].item<double>();
        if (std::isinf(other)) {
          EXPECT_EQ(log_p[n][k].item<double>(), other) << n << ' ' << k;
        } else {
          EXPECT_NEAR(log_p[n][k].item<double>(), other, 1e-6) << n << ' ' << k;
        }
      }
    }
  }

  static constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
  NextLogits columns, all;
  std::vector<SentenceOptions> sentences;
  SearchRequest options;
};

TEST_F(ShortlistLogits, ColumnsAreTokens) {
  EXPECT_EQ(columns.token(1, 5), 12);
  EXPECT_EQ(columns.token(2, 2), 5);
  EXPECT_EQ(columns.column(3, 8), 4);
  EXPECT_EQ(columns.column(3, 9), std::nullopt);
  EXPECT_EQ(all.column(3, 9), 9);
  expect_same();
}

TEST_F(ShortlistLogits, ConstraintsAndPenaltiesApplyToTokens) {
  options.min_output_length = 2;
  options.repetition_penalty = 1.5;
  options.no_repeat_ngram = 1;
  expect_same();
  sentences[0].bad_words = {{9}, {12}};
  expect_same();
  sentences[1].required_phrases = {{8, 6}};
  expect_same();
  sentences[0].prefix = {4, 12};
  expect_same();
}

}  // namespace
}  // namespace regard::token_constraint_test
