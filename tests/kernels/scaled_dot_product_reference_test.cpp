#include "kernels/scaled_dot_product.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/utils.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/device.h"
#include "kernels/loops/heads.h"
#include "tests/gradcheck.h"
#include "tests/kernels/portable/portable_loops.h"

namespace regard::kernels::scaled_dot_product_reference_test {
namespace {

constexpr std::int64_t B = 3, H = 2, S = 4;

// Lengths from 1 to all S positions, and the bias of the same padding.
torch::Tensor some_lengths(std::int64_t positions) {
  return torch::tensor({positions, std::int64_t{1}, (positions + 1) / 2});
}
torch::Tensor bias_of(const torch::Tensor& lengths, std::int64_t positions,
                      torch::ScalarType type) {
  const auto mask = torch::arange(positions) < lengths.view({-1, 1, 1, 1});
  return torch::zeros(mask.sizes(), type)
      .masked_fill(mask.logical_not(), -std::numeric_limits<double>::infinity());
}

struct Case {
  Case(std::int64_t T, std::int64_t positions, std::int64_t width, torch::ScalarType type)
      : q(torch::randn({B, T, H * width}, type).requires_grad_()),
        keys_and_values(torch::randn({B, positions, 2 * H * width}, type).requires_grad_()),
        d_y(torch::randn({B, T, H * width}, type)),
        lengths(some_lengths(positions)),
        bias(bias_of(lengths, positions, type)) {}

  torch::Tensor y(bool padded, bool causal) const {
    return scaled_dot_product(q, keys_and_values, H, padded ? bias : torch::Tensor(),
                              padded ? lengths : torch::Tensor(), causal);
  }
  // The values, and the gradients of q and of keys_and_values.
  std::vector<torch::Tensor> run(bool padded, bool causal) const {
    const auto result = y(padded, causal);
    auto results = torch::autograd::grad({result}, {q, keys_and_values}, {d_y});
    results.push_back(result.detach());
    return results;
  }
  std::vector<torch::Tensor> reference(bool padded, bool causal) const {
    use_reference(true);
    auto results = run(padded, causal);
    use_reference(false);
    return results;
  }

  torch::Tensor q, keys_and_values, d_y, lengths, bias;
};

constexpr std::pair<bool, bool> padded_and_causal[] = {
    {false, false}, {true, false}, {false, true}, {true, true}};

TEST(ScaledDotProductReference, TheFusedOperationEqualsTheReferenceInValuesAndGradients) {
  torch::manual_seed(1);
  for (const std::int64_t width : {1, 3, 16, 17, 32, 40}) {
    for (const std::int64_t T : {1, 4, 17, 40}) {
      for (const std::int64_t positions : {1, 4, 15, 33, 70}) {  // weights are kept up to 64
        for (const auto& [padded, causal] : padded_and_causal) {
          for (const auto type : {torch::kDouble, torch::kFloat}) {
            const Case c(T, positions, width, type);
            SCOPED_TRACE(testing::Message()
                         << "width " << width << " T " << T << " S " << positions << " padded "
                         << padded << " causal " << causal << " " << type);
            expect_all_close(c.run(padded, causal), c.reference(padded, causal),
                             type == torch::kDouble ? 1e-12 : 2e-5);
          }
        }
      }
    }
  }
}

TEST(ScaledDotProductReference, PaddingIsNotReadAndItsGradientIsZero) {
  torch::manual_seed(2);
  for (const std::int64_t positions : {9, 70}) {
    const Case c(5, positions, 16, torch::kFloat);
    const auto clean = c.run(true, false);
    const auto is_padding = torch::arange(positions) >= c.lengths.unsqueeze(1);
    c.keys_and_values.data().index_put_({is_padding}, std::numeric_limits<float>::quiet_NaN());
    const auto results = c.run(true, false);
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_TRUE(torch::equal(results[i], clean[i])) << i;
    }
    EXPECT_TRUE(results[1].index({is_padding}).eq(0).all().item<bool>());
  }
}

TEST(ScaledDotProductReference, QueriesWithoutAGradientPropagateNone) {
  torch::manual_seed(3);
  for (const std::int64_t positions : {9, 70}) {
    const Case c(20, positions, 16, torch::kFloat);
    c.d_y.narrow(1, 7, 13).zero_();
    const auto all = c.run(true, false);
    EXPECT_EQ(all[0].narrow(1, 7, 13).count_nonzero().item<int>(), 0);
    Case first(7, positions, 16, torch::kFloat);
    first.q = c.q.detach().narrow(1, 0, 7).requires_grad_();
    first.keys_and_values = c.keys_and_values;
    first.d_y = c.d_y.narrow(1, 0, 7);
    EXPECT_TRUE(torch::allclose(first.run(true, false)[1], all[1], 1e-5, 1e-6));
  }
}

TEST(ScaledDotProductReference, ValuesHaveTheSameBitsInEveryBatchAndWithoutGradients) {
  torch::manual_seed(4);
  for (const auto& [padded, causal] : {std::pair(true, false), std::pair(false, true)}) {
    const Case c(37, 70, 24, torch::kFloat);
    const auto y = c.y(padded, causal).detach();
    {
      const torch::NoGradGuard guard;
      EXPECT_TRUE(torch::equal(c.y(padded, causal), y));
    }
    for (std::int64_t b = 0; b < B; ++b) {
      const auto n = padded ? c.lengths[b].item<std::int64_t>() : 70;
      for (const std::int64_t T : {3, 37}) {
        const auto alone = scaled_dot_product(c.q.narrow(0, b, 1).narrow(1, 0, T),
                                              c.keys_and_values.narrow(0, b, 1).narrow(1, 0, n), H,
                                              {}, {}, causal);
        EXPECT_TRUE(torch::equal(alone[0], y[b].narrow(0, 0, T))) << b << " " << T;
      }
    }
  }
}

TEST(ScaledDotProductReference, GradientsOfOverlappingOrTransposedTensorsEqualTheReference) {
  torch::manual_seed(5);
  Case c(4, 6, 3, torch::kDouble);
  c.q = torch::randn({B, H * 3, 4}, torch::kDouble).requires_grad_().transpose(1, 2);
  c.keys_and_values =
      torch::randn({B, 1, 2 * H * 3}, torch::kDouble).requires_grad_().expand({B, 6, 2 * H * 3});
  c.d_y = torch::ones({1, 1, 1}, torch::kDouble).expand({B, 4, H * 3});
  expect_all_close(c.run(true, false), c.reference(true, false), 1e-12);
}

template <typename T>
std::vector<torch::Tensor> run_loops(const HeadLoops<T>& loops, const Case& c, bool causal,
                                     bool keeps_weights) {
  const auto D = c.q.size(2), width = D / H, queries = c.q.size(1);
  const auto positions = c.keys_and_values.size(1);
  const HeadSizes sizes{
      B, H, queries, positions, width, c.lengths.const_data_ptr<std::int64_t>(), causal};
  const auto options = c.d_y.options();
  const torch::Tensor scratch = torch::empty({loops.scratch_size(sizes)}, options);
  const torch::Tensor alpha = torch::empty({loops.alpha_size(sizes)}, options);
  const torch::Tensor log_sums = torch::empty({loops.log_sums_size(sizes)}, options);
  const auto y = torch::empty_like(c.d_y), d_q = torch::empty_like(c.d_y);
  const auto d_kv = torch::empty(c.keys_and_values.sizes(), options);
  const auto kv = c.keys_and_values.detach(), q = c.q.detach();
  const auto read = [&](const torch::Tensor& x, std::int64_t column) {
    return Heads<const T>{x.const_data_ptr<T>() + column, x.stride(0), x.stride(1), width};
  };
  const auto write = [&](const torch::Tensor& x, std::int64_t column) {
    return Heads<T>{x.mutable_data_ptr<T>() + column, x.stride(0), x.stride(1), width};
  };
  auto* a = keeps_weights ? alpha.mutable_data_ptr<T>() : nullptr;
  auto* l = keeps_weights ? nullptr : log_sums.mutable_data_ptr<T>();
  const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(width)));
  loops.forward(sizes, scale, read(q, 0), read(kv, 0), read(kv, D), scratch.mutable_data_ptr<T>(),
                a, l, write(y, 0));
  loops.backward(sizes, scale, read(q, 0), read(kv, 0), read(kv, D), a, l, read(c.d_y, 0),
                 scratch.mutable_data_ptr<T>(), write(d_q, 0), write(d_kv, 0), write(d_kv, D));
  return {d_q, d_kv, y};
}

template <typename T>
void expect_every_loop_equals_the_reference(torch::ScalarType type, double tolerance) {
  for (const std::int64_t width : {5, 32}) {
    for (const bool causal : {false, true}) {
      const Case c(21, 19, width, type);
      const auto expected = c.reference(true, causal);
      auto all = runnable_head_loops<T>();
      all.push_back(portable_heads_v3<T>());
      all.push_back(portable_heads_v4<T>());
      for (const auto& loops : all) {
        for (const bool keeps_weights : {false, true}) {
          SCOPED_TRACE(testing::Message() << "width " << width << " causal " << causal
                                          << " weights " << keeps_weights);
          expect_all_close(run_loops(loops, c, causal, keeps_weights), expected, tolerance);
        }
      }
    }
  }
}

TEST(ScaledDotProductReference, TheLoopsOfEveryInstructionSetEqualTheReference) {
  torch::manual_seed(6);
  expect_every_loop_equals_the_reference<double>(torch::kDouble, 1e-12);
  expect_every_loop_equals_the_reference<float>(torch::kFloat, 2e-5);
}

TEST(ScaledDotProductReference, WeightsAreADistributionExactlyZeroWhereNothingMayBeSeen) {
  auto bias = torch::zeros({1, 1, 1, S}, torch::kDouble);
  bias.slice(-1, 3).fill_(-std::numeric_limits<double>::infinity());
  const auto q = torch::randn({1, H, S, 3}, torch::kDouble);
  const auto padded = scaled_dot_product_weights(q, q, bias, false);
  EXPECT_TRUE(padded.slice(-1, 3).eq(0).all().item<bool>());
  EXPECT_TRUE(torch::allclose(padded.sum(-1), torch::ones({1, H, S}, torch::kDouble)));
  const auto causal = scaled_dot_product_weights(q, q, {}, true);
  EXPECT_TRUE(causal.triu(1).eq(0).all().item<bool>());
  EXPECT_TRUE(torch::allclose(causal.sum(-1), torch::ones({1, H, S}, torch::kDouble)));
}

// Heads beside each other, as the projections leave them: [B, S, H · width] -> [B, H, S, width].
torch::Tensor heads(std::int64_t positions, std::int64_t width, torch::ScalarType type) {
  return torch::randn({B, positions, H, width}, type).transpose(1, 2);
}

TEST(ScaledDotProductReference, InASearchTheHeadsOfAStepEqualTheReferenceToTheSentencesEnd) {
  const auto lengths = torch::tensor({23, 1, 7});
  const auto bias = bias_of(lengths, 23, torch::kDouble);
  for (const std::int64_t width : {1, 8, 18, 64}) {
    for (const std::int64_t queries : {1, 2, 5}) {
      const auto q = heads(queries, width, torch::kDouble);
      const auto k = heads(23, width, torch::kDouble);
      const auto v = heads(23, width, torch::kDouble);
      for (const bool padded : {true, false}) {
        const auto alpha = scaled_dot_product_weights(q, k, padded ? bias : torch::Tensor(), false);
        const auto y = alpha.matmul(v).transpose(1, 2).flatten(2);
        const auto found = attend_heads(q, k, v, padded ? lengths : torch::Tensor(), true);
        EXPECT_TRUE(torch::allclose(found.alpha, alpha, 1e-12, 1e-12)) << width << queries;
        EXPECT_TRUE(torch::allclose(found.y, y, 1e-12, 1e-12)) << width << queries;
        EXPECT_TRUE(torch::allclose(mean_over_heads(found.alpha), alpha.mean(1), 1e-12, 1e-12));
        EXPECT_TRUE(torch::equal(attend_heads(q, k, v, padded ? lengths : torch::Tensor(), false).y,
                                 found.y));
        const auto single =
            attend_heads(q.to(torch::kFloat), k.to(torch::kFloat), v.to(torch::kFloat),
                         padded ? lengths : torch::Tensor(), true);
        EXPECT_TRUE(torch::allclose(single.y, y.to(torch::kFloat), 1e-5, 1e-5));
      }
    }
  }
}

TEST(ScaledDotProductReference, CausalHeadsHaveTheBitsOfSingleQueriesAndEqualTheReference) {
  for (const std::int64_t width : {1, 18, 64}) {
    for (const std::int64_t steps : {1, 5, 37}) {
      const auto q = heads(steps, width, torch::kFloat);
      const auto k = heads(steps, width, torch::kFloat);
      const auto v = heads(steps, width, torch::kFloat);
      const auto all = attend_heads(q, k, v, {}, true, /*causal=*/true);
      EXPECT_TRUE(torch::equal(attend_heads(q, k, v, {}, false, true).y, all.y));
      const auto alpha = scaled_dot_product_weights(q, k, {}, true);
      EXPECT_TRUE(torch::allclose(all.alpha, alpha, 1e-5, 1e-6)) << width << ' ' << steps;
      EXPECT_TRUE(torch::allclose(all.y, alpha.matmul(v).transpose(1, 2).flatten(2), 1e-5, 1e-5));
      for (std::int64_t t = 0; t < steps; ++t) {
        const auto one =
            attend_heads(q.narrow(2, t, 1), k.narrow(2, 0, t + 1), v.narrow(2, 0, t + 1), {}, true);
        EXPECT_TRUE(torch::equal(one.y, all.y.narrow(1, t, 1))) << width << ' ' << t;
        EXPECT_TRUE(torch::equal(one.alpha, all.alpha.narrow(2, t, 1).narrow(3, 0, t + 1)));
        EXPECT_EQ(all.alpha.select(2, t)
                      .narrow(2, t + 1, steps - t - 1)
                      .count_nonzero()
                      .item<std::int64_t>(),
                  0);
      }
    }
  }
}

// sin(t θ_i) and cos(t θ_i) of positions first … first + n − 1: [n, d].
torch::Tensor angles_of(std::int64_t first, std::int64_t n, std::int64_t d) {
  const auto t = torch::arange(first, first + n, torch::kDouble).unsqueeze(1);
  const auto angle = t * torch::pow(10000.0, torch::arange(0, d, 2, torch::kDouble) / -d);
  return torch::stack({angle.sin(), angle.cos()}, -1).flatten(1);
}

TEST(Rotate, ValuesAndGradientsEqualTheReference) {
  torch::manual_seed(8);
  for (const auto type : {torch::kDouble, torch::kFloat}) {
    const auto tolerance = type == torch::kDouble ? 1e-14 : 1e-6;
    for (const std::int64_t d : {2, 6, 32, 36}) {
      // Each position of a sentence, and one step with positions of their own.
      for (const auto& [T, rows] :
           std::vector<std::pair<std::int64_t, std::int64_t>>{{5, 5}, {1, B}, {1, 1}}) {
        const auto x = torch::randn({B, T, 5 * d}, type).requires_grad_();
        const auto d_y = torch::randn(x.sizes(), type);
        const auto angles = angles_of(3, rows, d).to(type);
        const auto run = [&] {
          const auto y = rotate(x, 2 * d, angles);
          return std::pair(y.detach(), torch::autograd::grad({y}, {x}, {d_y})[0]);
        };
        const auto [y, d_x] = run();
        use_reference(true);
        const auto [expected_y, expected_d_x] = run();
        use_reference(false);
        EXPECT_TRUE(torch::allclose(y, expected_y, tolerance, tolerance)) << d << " " << T;
        EXPECT_TRUE(torch::allclose(d_x, expected_d_x, tolerance, tolerance)) << d << " " << T;
        EXPECT_TRUE(torch::equal(y.slice(2, 2 * d), x.detach().slice(2, 2 * d))) << "the values";
        const torch::NoGradGuard guard;
        const auto of_device = rotate_composite(x, 2 * d, angles, /*inverse=*/false);
        const auto d_of_device = rotate_composite(d_y, 2 * d, angles, /*inverse=*/true);
        EXPECT_TRUE(torch::allclose(of_device, expected_y, tolerance, tolerance)) << d << " " << T;
        EXPECT_TRUE(torch::allclose(d_of_device, expected_d_x, tolerance, tolerance)) << d << T;
      }
    }
  }
}

TEST(Rotate, ScoresDependOnTheDistanceOnly) {
  torch::manual_seed(9);
  constexpr std::int64_t d = 8;
  const auto q = torch::randn({1, 1, d}, torch::kDouble),
             k = torch::randn({1, 1, d}, torch::kDouble);
  const auto score = [&](std::int64_t t, std::int64_t s) {
    return (rotate(q, d, angles_of(t, 1, d)) * rotate(k, d, angles_of(s, 1, d)))
        .sum()
        .item<double>();
  };
  EXPECT_NEAR(score(7, 4), score(903, 900), 1e-10);
  EXPECT_NEAR(score(4, 4), (q * k).sum().item<double>(), 1e-12);
  EXPECT_GT(std::abs(score(7, 4) - score(4, 7)), 1e-3) << "before and after differ";
}

}  // namespace
}  // namespace regard::kernels::scaled_dot_product_reference_test
