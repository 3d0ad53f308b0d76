#include "model/attention/hard.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/utils.h>

#include "kernels/attention.h"
#include "kernels/mode.h"
#include "kernels/packed_weights.h"
#include "model/output/loss.h"
#include "model/random_stream.h"
#include "tests/model/attention/sentences.h"

namespace regard::hard_reference_test {
namespace {

AttentionOptions hard_options(HardEstimator estimator) {
  auto options = options_of("hard");
  options.estimator = estimator;
  options.reward = 1;
  options.entropy = 0;
  return options;
}

Hard make_hard(const AttentionOptions& options) {
  torch::manual_seed(4);
  Hard hard(D, C, options);
  hard.to(torch::kDouble);
  return hard;
}

// alpha of a general score: queries [n, D], states [S, C], n positions of which are real.
torch::Tensor alpha_of(const Hard& hard, const torch::Tensor& queries, const torch::Tensor& h) {
  return queries.matmul(hard.named_parameters()["content.W.weight"]).matmul(h.t()).softmax(1);
}

// Whole rows of 0 but one.
void expect_one_hot(const torch::Tensor& weights) {
  EXPECT_TRUE(weights.sum(1).eq(1).all().item<bool>());
  EXPECT_TRUE(weights.eq(1).sum(1).eq(1).all().item<bool>());
}

TEST(HardReference, DecodingLooksAtTheLikeliestPosition) {
  auto hard = make_hard(hard_options(HardEstimator::reinforce));
  hard.eval();
  const Sentences s;
  const auto weights = hard.step(s.query, {}, s.encoded(hard)).weights;
  expect_one_hot(weights);
  for (std::int64_t b = 0; b < B; ++b) {
    const auto n = s.mask[b].sum().item<std::int64_t>();
    const auto alpha = alpha_of(hard, s.query.slice(0, b, b + 1), s.states[b].slice(0, 0, n));
    EXPECT_EQ(weights[b].argmax().item<std::int64_t>(), alpha.argmax().item<std::int64_t>());
  }
}

TEST(HardReference, InASearchTheMixtureIsTheStateOfThatPosition) {
  auto hard = make_hard(hard_options(HardEstimator::gumbel));
  hard.eval();
  const Sentences s;
  kernels::PackedWeights packed;
  const auto mode = kernels::Mode::search(packed);
  const auto encoded = s.encoded(hard);
  const auto weights = hard.step(s.query, {}, encoded).weights;
  const auto mixed = kernels::mix(weights, s.states, encoded.lengths);
  for (std::int64_t b = 0; b < B; ++b) {
    EXPECT_TRUE(torch::equal(mixed[b], s.states[b][weights[b].argmax().item<std::int64_t>()]));
  }
}

// One sentence, many times over.
struct Copies {
  torch::Tensor h = torch::randn({S - 2, C}, torch::kDouble);
  EncoderOutput encoded(Hard& hard, std::int64_t n) const {
    EncoderOutput encoded;
    encoded.states = torch::cat({h, torch::randn({2, C}, torch::kDouble)}).expand({n, S, C});
    encoded.set_lengths(torch::full({n}, S - 2), S, torch::kCPU);
    hard.prepare(encoded);
    return encoded;
  }
};

TEST(HardReference, TrainingDrawsEachPositionAsOftenAsItsWeightSays) {
  constexpr std::int64_t n = 20000;
  for (const auto estimator : {HardEstimator::reinforce, HardEstimator::gumbel}) {
    auto hard = make_hard(hard_options(estimator));
    const Copies copies;
    const auto query = torch::randn({1, D}, torch::kDouble);
    const auto alpha = alpha_of(hard, query, copies.h)[0];
    const RandomStream stream(1, 1);
    const auto weights = hard.step(query.expand({n, D}), {}, copies.encoded(hard, n)).weights;
    expect_one_hot((weights * 1e9).round() / 1e9);  // straight through, 1 + x - x
    const auto share = weights.mean(0);
    for (std::int64_t i = 0; i < S - 2; ++i) {
      const auto p = alpha[i].item<double>();
      EXPECT_NEAR(share[i].item<double>(), p, 4 * std::sqrt(p * (1 - p) / n));
    }
    EXPECT_EQ(share.slice(0, S - 2).sum().item<double>(), 0);
  }
}

TEST(HardReference, APositionWithoutWeightIsNeverDrawn) {
  auto hard = make_hard(hard_options(HardEstimator::reinforce));
  EncoderOutput encoded;
  encoded.states = torch::zeros({1, S, C}, torch::kDouble);
  encoded.set_lengths(torch::tensor({S}), S, torch::kCPU);
  encoded.states[0][2].fill_(1);
  hard.prepare(encoded);
  // Scores of 0 but for one of 1000: all the others' weights are exactly 0.
  const auto W = hard.named_parameters()["content.W.weight"].detach();
  const auto along = W.sum(1);  // [D], W 1
  const auto query = (1000 * along / along.square().sum()).unsqueeze(0);
  const RandomStream stream(1, 3);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(hard.step(query, {}, encoded).weights.argmax().item<std::int64_t>(), 2);
  }
}

// Two steps, the second of which asks with what the first saw; −log P at each depends on what was
// seen there.
struct TwoSteps {
  torch::Tensor q = torch::randn({1, D}, torch::kDouble);
  torch::Tensor M = torch::randn({C, D}, torch::kDouble);
  torch::Tensor u = torch::randn({2, C}, torch::kDouble);

  torch::Tensor second_query(const torch::Tensor& context) const { return q + context.mm(M); }
  torch::Tensor nll(const torch::Tensor& context, std::int64_t t) const {
    return context.matmul(u[t]).square();
  }
};

TEST(HardReference, TheMeanOfReinforceIsTheGradientByEnumeration) {
  auto hard = make_hard(hard_options(HardEstimator::reinforce));
  const auto W = hard.named_parameters()["content.W.weight"];
  Copies copies;
  copies.h.requires_grad_();
  const TwoSteps model;

  const auto first = alpha_of(hard, model.q, copies.h)[0];
  auto expected = torch::zeros({}, torch::kDouble);
  for (std::int64_t i = 0; i < S - 2; ++i) {
    const auto seen = copies.h.slice(0, i, i + 1);
    const auto second = alpha_of(hard, model.second_query(seen), copies.h)[0];
    expected = expected + first[i] * (model.nll(seen, 0)[0] + second.dot(model.nll(copies.h, 1)));
  }
  const auto exact = torch::autograd::grad({expected}, {W, copies.h});

  constexpr std::int64_t n = 500;
  constexpr std::int64_t groups = 100;
  std::vector<torch::Tensor> sampled;
  const RandomStream stream(1, 2);
  for (std::int64_t group = 0; group < groups; ++group) {
    const auto encoded = copies.encoded(hard, n);
    const auto one = hard.step(model.q.expand({n, D}), {}, encoded);
    const auto seen = kernels::mix(one.weights, encoded.states, encoded.lengths);
    const auto two = hard.step(model.second_query(seen), {}, encoded);
    const auto nll =
        torch::stack({model.nll(seen, 0),
                      model.nll(kernels::mix(two.weights, encoded.states, encoded.lengths), 1)},
                     1);  // [n, 2]
    const auto sampled_log_p = torch::stack({one.loss.sampled_log_p, two.loss.sampled_log_p}, 1);
    const auto real = torch::ones({n, 2}, torch::kBool);
    const auto loss = nll.sum() + reinforce(sampled_log_p, nll, real, /*mean_log_p=*/-1);
    const auto gradient = torch::autograd::grad({loss / n}, {W, copies.h});
    sampled.push_back(torch::cat({gradient[0].flatten(), gradient[1].flatten()}));
  }
  const auto all = torch::stack(sampled);
  const auto error = all.std(0) / std::sqrt(static_cast<double>(groups));
  const auto off = (all.mean(0) - torch::cat({exact[0].flatten(), exact[1].flatten()})).abs();
  EXPECT_TRUE(off.le(3 * error).all().item<bool>()) << torch::cat({off, error}).view({2, -1});
  EXPECT_GT(error.max().item<double>(), 0);
}

TEST(HardReference, WhatAPositionEarnedCountsAsMuchAsTheOptionSays) {
  const Sentences s;
  const auto sampled_log_p = [&](double reward) {
    auto options = hard_options(HardEstimator::reinforce);
    options.reward = reward;
    auto hard = make_hard(options);
    const RandomStream stream(5, 5);
    return hard.step(s.query, {}, s.encoded(hard)).loss.sampled_log_p;
  };
  EXPECT_TRUE(torch::allclose(sampled_log_p(0.25), 0.25 * sampled_log_p(1)));
}

TEST(HardReference, EntropyIsRewarded) {
  auto options = hard_options(HardEstimator::reinforce);
  options.entropy = 0.5;
  auto hard = make_hard(options);
  const Sentences s;
  const auto penalty = hard.step(s.query, {}, s.encoded(hard)).loss.penalty;
  for (std::int64_t b = 0; b < B; ++b) {
    const auto n = s.mask[b].sum().item<std::int64_t>();
    const auto alpha = alpha_of(hard, s.query.slice(0, b, b + 1), s.states[b].slice(0, 0, n));
    EXPECT_NEAR(penalty[b].item<double>(), 0.5 * (alpha * alpha.log()).sum().item<double>(), 1e-12);
  }
}

TEST(HardReference, StraightThroughHasTheGradientOfTheSoftenedChoice) {
  auto options = hard_options(HardEstimator::gumbel);
  options.temperature = 0.5;
  auto hard = make_hard(options);
  const Sentences s;
  const auto W = hard.named_parameters()["content.W.weight"];
  const auto along = torch::randn({B, S}, torch::kDouble);
  const auto encoded = s.encoded(hard);
  torch::Tensor weights;
  {
    const RandomStream stream(7, 7);
    weights = hard.step(s.query, {}, encoded).weights;
  }
  const auto found = torch::autograd::grad({(weights * along).sum()}, {W})[0];

  const RandomStream stream(7, 7);
  const auto g = -(-RandomStream::uniform(B * S, along.options()).view({B, S}).log()).log();
  auto softened = torch::zeros({}, torch::kDouble);
  for (std::int64_t b = 0; b < B; ++b) {
    const auto n = s.mask[b].sum().item<std::int64_t>();
    const auto alpha = alpha_of(hard, s.query.slice(0, b, b + 1), s.states[b].slice(0, 0, n))[0];
    const auto y = ((alpha.log() + g[b].slice(0, 0, n)) / 0.5).softmax(0);
    EXPECT_NEAR(weights[b][y.argmax().item<std::int64_t>()].item<double>(), 1, 1e-12);
    softened = softened + (y * along[b].slice(0, 0, n)).sum();
  }
  EXPECT_TRUE(torch::allclose(found, torch::autograd::grad({softened}, {W})[0]));
}

TEST(HardReference, AnnealingReadsAllSoftlyAtFirstAndNoneInTheEnd) {
  auto options = hard_options(HardEstimator::reinforce);
  options.anneal_steps = 10;
  auto hard = make_hard(options);
  const Copies copies;
  const auto encoded = copies.encoded(hard, 1000);
  const auto query = torch::randn({1, D}, torch::kDouble).expand({1000, D});
  const auto soft_share = [&](std::int64_t step) {
    const RandomStream stream(1, static_cast<std::uint64_t>(step));
    hard.set_training_step(step);
    const auto taken = hard.step(query, hard.initial_state(encoded), encoded);
    const auto soft = std::get<0>(taken.weights.max(1)).lt(1);
    EXPECT_TRUE(taken.loss.sampled_log_p.masked_select(soft).eq(0).all().item<bool>());
    return soft.to(torch::kDouble).mean().item<double>();
  };
  EXPECT_EQ(soft_share(1), 1);
  EXPECT_NEAR(soft_share(6), 0.5, 0.06);
  EXPECT_EQ(soft_share(11), 0);
  EXPECT_EQ(soft_share(100), 0);
}

}  // namespace
}  // namespace regard::hard_reference_test
