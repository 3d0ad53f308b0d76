#include "kernels/cross_entropy.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/utils.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "kernels/device.h"
#include "kernels/mode.h"
#include "kernels/packed_weights.h"
#include "tests/gradcheck.h"

namespace regard::kernels::cross_entropy_reference_test {
namespace {

struct Inputs {
  Inputs(std::int64_t N, std::int64_t V, torch::Dtype type = torch::kDouble) {
    torch::manual_seed(3);
    rows = torch::randn({N, 4}, type).requires_grad_();
    weight = torch::randn({V, 4}, type).requires_grad_();
    bias = torch::randn({V}, type).requires_grad_();
    targets = torch::randint(V, {N}, torch::kLong);
  }
  std::vector<torch::Tensor> tensors() const { return {rows, weight, bias}; }
  torch::Tensor rows, weight, bias, targets;
};

void expect_equals_the_reference(const Inputs& in, double smoothing, double tolerance,
                                 std::int64_t composite_piece = 0) {
  const auto [rows, weight, bias, targets] = std::tie(in.rows, in.weight, in.bias, in.targets);
  const auto fused =
      composite_piece > 0
          ? linear_cross_entropy_composite(rows, weight, bias, targets, smoothing, composite_piece)
          : linear_cross_entropy(rows, weight, bias, targets, smoothing);
  const auto plain = linear_cross_entropy_reference(rows, weight, bias, targets, smoothing);
  EXPECT_TRUE(torch::allclose(fused.loss, plain.loss, tolerance, tolerance));
  EXPECT_TRUE(torch::allclose(fused.nll, plain.nll, tolerance, tolerance));
  // Scaled, as a mean over tokens is.
  expect_all_close(torch::autograd::grad({fused.loss / 7}, in.tensors()),
                   torch::autograd::grad({plain.loss / 7}, in.tensors()), tolerance);
}

TEST(LinearCrossEntropyReference, ValuesAndGradientsEqualTheReference) {
  for (const double smoothing : {0.0, 0.1}) {
    expect_equals_the_reference(Inputs(9, 11), smoothing, 1e-12);
  }
}

TEST(LinearCrossEntropyReference, TheCompositeEqualsTheReference) {
  for (const double smoothing : {0.0, 0.1}) {
    for (const std::int64_t piece : {1, 4, 9, 100}) {
      expect_equals_the_reference(Inputs(9, 11), smoothing, 1e-12, piece);
    }
  }
  const auto in = Inputs(0, 5);
  const auto [loss, nll] =
      linear_cross_entropy_composite(in.rows, in.weight, in.bias, in.targets, 0.1, 4);
  EXPECT_EQ(loss.item<double>(), 0);
  EXPECT_EQ(nll.numel(), 0);
}

TEST(LinearCrossEntropyReference, IgnoredRowsHaveNoLossAndNoGradient) {
  const Inputs in(9, 11);
  const auto ignored = torch::tensor({1, 0, 0, 1, 0, 1, 1, 0, 0}).to(torch::kBool);
  const auto kept = ignored.logical_not().nonzero().squeeze(1);
  for (const double smoothing : {0.0, 0.1}) {
    const auto expected =
        linear_cross_entropy_reference(in.rows.index_select(0, kept), in.weight, in.bias,
                                       in.targets.index_select(0, kept), smoothing);
    const auto d_expected = torch::autograd::grad({expected.loss}, in.tensors());
    for (const std::int64_t piece : {0, 1, 4, 100}) {
      const auto found =
          piece == 0 ? linear_cross_entropy(in.rows, in.weight, in.bias, in.targets, smoothing,
                                            /*consistency=*/0, ignored)
                     : linear_cross_entropy_composite(in.rows, in.weight, in.bias, in.targets,
                                                      smoothing, piece, ignored);
      EXPECT_TRUE(torch::allclose(found.loss, expected.loss, 1e-12, 1e-12));
      EXPECT_TRUE(torch::allclose(found.nll.index_select(0, kept), expected.nll, 1e-12, 1e-12));
      EXPECT_EQ(found.nll.masked_select(ignored).abs().sum().item<double>(), 0);
      expect_all_close(torch::autograd::grad({found.loss}, in.tensors()), d_expected, 1e-12);
    }
  }
}

TEST(LinearCrossEntropyReference, ManyPiecesMakeOneLoss) {
  // 600 rows are five pieces.
  expect_equals_the_reference(Inputs(601, 50000, torch::kFloat), 0.1, 1e-4);
}

TEST(LinearCrossEntropyReference, WithAConsistencyValuesAndGradientsEqualTheReference) {
  for (const auto& [N, V, type, tolerance] :
       {std::tuple(10, 11, torch::kDouble, 1e-12), {602, 30000, torch::kFloat, 1e-4}}) {
    const Inputs in(N, V, type);
    const auto half = in.targets.slice(0, 0, N / 2);
    const auto targets = torch::cat({half, half});
    const auto fused = linear_cross_entropy(in.rows, in.weight, in.bias, targets, 0.1, 2.5);
    const auto plain =
        linear_cross_entropy_reference(in.rows, in.weight, in.bias, targets, 0.1, 2.5);
    EXPECT_TRUE(torch::allclose(fused.loss, plain.loss, tolerance, tolerance));
    EXPECT_TRUE(torch::allclose(fused.nll, plain.nll, tolerance, tolerance));
    expect_all_close(torch::autograd::grad({fused.loss}, in.tensors()),
                     torch::autograd::grad({plain.loss}, in.tensors()), 10 * tolerance);
  }
}

TEST(LinearCrossEntropyReference, TheConsistencyIsTheDivergenceInBothDirections) {
  const Inputs in(2, 5);
  const auto targets = torch::tensor({3, 3});
  const auto p = torch::softmax(torch::linear(in.rows, in.weight, in.bias), -1);
  const auto kl = [&](int a, int b) {
    return (p[a] * (p[a].log() - p[b].log())).sum().item<double>();
  };
  const auto without = linear_cross_entropy(in.rows, in.weight, in.bias, targets, 0.1);
  const auto with = linear_cross_entropy(in.rows, in.weight, in.bias, targets, 0.1, 3);
  EXPECT_NEAR((with.loss - without.loss).item<double>(), 3 * (kl(0, 1) + kl(1, 0)), 1e-12);
  EXPECT_TRUE(torch::equal(with.nll, without.nll) ||
              torch::allclose(with.nll, without.nll, 1e-12, 1e-12));
}

TEST(LinearCrossEntropyReference, GradientsEqualCentralDifferences) {
  const Inputs in(5, 7);
  expect_gradients_match(
      [&] { return linear_cross_entropy(in.rows, in.weight, in.bias, in.targets, 0.1).loss; },
      {{"rows", in.rows}, {"weight", in.weight}, {"bias", in.bias}});
  const Inputs pairs(6, 7);
  const auto targets = torch::tensor({1, 6, 0, 1, 6, 0});
  expect_gradients_match(
      [&] {
        return linear_cross_entropy(pairs.rows, pairs.weight, pairs.bias, targets, 0.1, 1.5).loss;
      },
      {{"rows", pairs.rows}, {"weight", pairs.weight}, {"bias", pairs.bias}});
}

// Rows of a pointer-generator with S source positions: words of the vocabulary, some twice, words
// behind it, and positions without weight. Every third target is a copied word.
struct CopyInputs : Inputs {
  CopyInputs(std::int64_t N, std::int64_t V, std::int64_t S, torch::Dtype type = torch::kDouble)
      : Inputs(N, V, type) {
    ids = torch::randint(V, {N, S}, torch::kLong);
    ids.select(1, 2).copy_(ids.select(1, 0));
    ids.select(1, 3).fill_(V);
    ids.select(1, 4).fill_(V + 1);
    ids.select(1, 5).fill_(V);
    weights = torch::rand({N, S}, type);
    weights.select(1, 1).fill_(0);
    weights = (weights / weights.sum(1, true)).detach().requires_grad_();
    gate = torch::randn({N}, type).requires_grad_();
    for (std::int64_t i = 0; i < N; i += 3) targets[i] = ids[i][i / 3 % S];
  }
  Copies copies() const { return {.gate = gate, .weights = weights, .ids = ids}; }
  CrossEntropy loss(double smoothing) const {
    return copy_cross_entropy(rows, weight, bias, targets, copies(), smoothing);
  }
  std::vector<torch::Tensor> tensors() const { return {rows, weight, bias, gate, weights}; }
  torch::Tensor gate, weights, ids;
};

TEST(CopyCrossEntropyReference, ValuesAndGradientsEqualTheReference) {
  // The last ones are several pieces.
  for (const auto& [N, V, type, tolerance] :
       {std::tuple(40, 11, torch::kDouble, 1e-12), {601, 30000, torch::kFloat, 1e-4}}) {
    const CopyInputs in(N, V, 7, type);
    for (const double smoothing : {0.0, 0.1}) {
      const auto found = in.loss(smoothing);
      const auto expected = copy_cross_entropy_reference(in.rows, in.weight, in.bias, in.targets,
                                                         in.copies(), smoothing);
      EXPECT_TRUE(torch::allclose(found.loss, expected.loss, tolerance, tolerance));
      EXPECT_TRUE(torch::allclose(found.nll, expected.nll, tolerance, tolerance));
      expect_all_close(torch::autograd::grad({found.loss / 7}, in.tensors()),
                       torch::autograd::grad({expected.loss / 7}, in.tensors()), tolerance);
    }
  }
}

TEST(CopyCrossEntropyReference, GradientsEqualCentralDifferences) {
  const CopyInputs in(18, 7, 6);
  // A weight of 0 has no logarithm, and its gradient is 0.
  const auto others = torch::tensor({0, 2, 3, 4, 5});
  const auto positive = in.weights.detach().index_select(1, others).requires_grad_();
  const auto zero = torch::zeros({18, 1}, torch::kDouble);
  for (const double smoothing : {0.0, 0.1}) {
    expect_gradients_match(
        [&] {
          auto copies = in.copies();
          copies.weights =
              torch::cat({positive.narrow(1, 0, 1), zero, positive.narrow(1, 1, 4)}, 1);
          return copy_cross_entropy(in.rows, in.weight, in.bias, in.targets, copies, smoothing)
              .loss;
        },
        {{"rows", in.rows},
         {"weight", in.weight},
         {"bias", in.bias},
         {"gate", in.gate},
         {"weights", positive}});
  }
}

TEST(CopyCrossEntropyReference, ItsValuesDoNotDependOnWhichGradientsAreWanted) {
  const CopyInputs in(40, 11, 7);
  for (const double smoothing : {0.0, 0.1}) {
    const auto all = in.loss(smoothing);
    const auto expected = torch::autograd::grad({all.loss}, in.tensors());
    {
      const torch::NoGradGuard guard;
      const auto without = in.loss(smoothing);
      EXPECT_TRUE(torch::equal(without.loss, all.loss));
      EXPECT_TRUE(torch::equal(without.nll, all.nll));
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto tensors = in.tensors();
      for (std::size_t k = 0; k < tensors.size(); ++k) {
        auto tensor = tensors[k];
        tensor.requires_grad_(k == i);
      }
      const auto loss = in.loss(smoothing).loss;
      EXPECT_TRUE(torch::equal(loss, all.loss));
      EXPECT_TRUE(torch::equal(torch::autograd::grad({loss}, {tensors[i]})[0], expected[i])) << i;
      for (auto tensor : tensors) tensor.requires_grad_(true);
    }
  }
}

TEST(CopyCrossEntropyReference, WordsBehindTheVocabularyThatLostAllWeightHaveNoGradientThere) {
  CopyInputs in(6, 11, 7);
  {
    const torch::NoGradGuard guard;
    in.weights.masked_fill_(in.ids >= 11, 1e-40);
    in.targets.fill_(11);
  }
  for (const double smoothing : {0.0, 0.1}) {
    const auto found = in.loss(smoothing);
    const auto expected = copy_cross_entropy_reference(in.rows, in.weight, in.bias, in.targets,
                                                       in.copies(), smoothing);
    EXPECT_TRUE(torch::allclose(found.loss, expected.loss, 1e-12, 1e-12));
    const auto d_found = torch::autograd::grad({found.loss}, in.tensors());
    const auto d_expected =
        torch::autograd::grad({expected.loss}, in.tensors(), {}, std::nullopt, false, true);
    for (std::size_t i = 0; i < d_found.size(); ++i) {
      const auto plain = d_expected[i].defined() ? d_expected[i] : torch::zeros_like(d_found[i]);
      EXPECT_TRUE(torch::allclose(d_found[i], plain, 1e-12, 1e-12)) << i;
    }
  }
}

TEST(CopyCrossEntropyReference, WithoutRowsOrPositionsItIsThatOfTheVocabulary) {
  const CopyInputs none(0, 11, 7);
  EXPECT_EQ(none.loss(0.1).loss.item<double>(), 0);
  EXPECT_EQ(
      torch::autograd::grad({none.loss(0.1).loss}, {none.weight})[0].abs().max().item<double>(), 0);
  const Inputs in(9, 11);
  const Copies copies = {.gate = torch::full({9}, 50, torch::kDouble),  // σ(50) is 1
                         .weights = torch::zeros({9, 0}, torch::kDouble),
                         .ids = torch::zeros({9, 0}, torch::kLong)};
  const auto found = copy_cross_entropy(in.rows, in.weight, in.bias, in.targets, copies, 0.1);
  const auto expected = linear_cross_entropy(in.rows, in.weight, in.bias, in.targets, 0.1);
  EXPECT_TRUE(torch::allclose(found.loss, expected.loss, 1e-12, 1e-12));
}

TEST(CopyCrossEntropyReference, NumbersThatAreNotFiniteMakeLossOrGradientNotFinite) {
  const auto is_finite = [](const CopyInputs& in, double smoothing) {
    const auto loss = in.loss(smoothing).loss;
    bool finite = std::isfinite(loss.item<double>());
    for (const auto& gradient : torch::autograd::grad({loss}, in.tensors())) {
      finite = finite && gradient.isfinite().all().item<bool>();
    }
    return finite;
  };
  for (const double smoothing : {0.0, 0.1}) {
    for (const std::int64_t target : {2, 11}) {  // in the vocabulary, and behind it
      CopyInputs in(3, 11, 7);
      in.targets.fill_(target);
      in.ids.select(1, 6).fill_(target);
      EXPECT_TRUE(is_finite(in, smoothing));
      for (const auto& tensor : in.tensors()) {
        const auto saved = tensor.detach().clone();
        tensor.detach()[1].fill_(std::numeric_limits<double>::quiet_NaN());
        EXPECT_FALSE(is_finite(in, smoothing)) << tensor.sizes() << ' ' << target;
        tensor.detach().copy_(saved);
      }
    }
  }
}

TEST(CopyCrossEntropyReference, IgnoredRowsHaveNoLossAndNoGradient) {
  const CopyInputs in(9, 11, 6);
  const auto ignored = torch::tensor({1, 0, 0, 1, 0, 1, 1, 0, 0}).to(torch::kBool);
  const auto found =
      copy_cross_entropy(in.rows, in.weight, in.bias, in.targets, in.copies(), 0.1, ignored);
  const auto kept = ignored.logical_not().nonzero().squeeze(1);
  const Copies copies = {.gate = in.gate.index_select(0, kept),
                         .weights = in.weights.index_select(0, kept),
                         .ids = in.ids.index_select(0, kept)};
  const auto expected = copy_cross_entropy(in.rows.index_select(0, kept), in.weight, in.bias,
                                           in.targets.index_select(0, kept), copies, 0.1);
  EXPECT_TRUE(torch::allclose(found.loss, expected.loss, 1e-12, 1e-12));
  EXPECT_TRUE(torch::allclose(found.nll.index_select(0, kept), expected.nll, 1e-12, 1e-12));
  EXPECT_EQ(found.nll.masked_select(ignored).abs().sum().item<double>(), 0);
  expect_all_close(torch::autograd::grad({found.loss}, in.tensors()),
                   torch::autograd::grad({expected.loss}, in.tensors()), 1e-12);
}

// Losses that weight each row by a function of all, as minimum risk training does.
torch::Tensor mixed(const torch::Tensor& nll) {
  return (nll.softmax(0) * torch::arange(nll.size(0), torch::kDouble)).sum();
}

TEST(LinearNllReference, ValuesAndGradientsEqualTheReference) {
  for (const auto& [N, V, type, tolerance] :
       {std::tuple(9, 11, torch::kDouble, 1e-12), {301, 30000, torch::kFloat, 1e-4}}) {
    const Inputs in(N, V, type);
    const auto expected = linear_nll_reference(in.rows, in.weight, in.bias, in.targets);
    const auto expected_gradients = torch::autograd::grad({mixed(expected)}, in.tensors());
    std::vector<torch::Tensor> found = {linear_nll(in.rows, in.weight, in.bias, in.targets)};
    for (const std::int64_t piece : {4, 9, 1000}) {
      found.push_back(linear_nll_composite(in.rows, in.weight, in.bias, in.targets, piece));
    }
    for (const auto& nll : found) {
      EXPECT_EQ(nll.dtype(), torch::kDouble);
      EXPECT_TRUE(torch::allclose(nll, expected, tolerance, tolerance));
      expect_all_close(torch::autograd::grad({mixed(nll)}, in.tensors()), expected_gradients,
                       tolerance);
    }
  }
}

TEST(LinearNllReference, GradientsEqualCentralDifferences) {
  const Inputs in(5, 7);
  expect_gradients_match([&] { return mixed(linear_nll(in.rows, in.weight, in.bias, in.targets)); },
                         {{"rows", in.rows}, {"weight", in.weight}, {"bias", in.bias}});
}

class LinearNllInBf16 : public testing::Test {
 protected:
  LinearNllInBf16() { use_reference(true); }
  ~LinearNllInBf16() override { use_reference(false); }
};

// A GPU has a thread of its own for it.
TEST_F(LinearNllInBf16, TheBackwardPassHasThePrecisionOfTheForwardPassWithoutItsMode) {
  const Inputs in(9, 11, torch::kFloat);
  PackedWeights weights(Precision::bf16);
  const auto loss = [&] {
    const auto mode = Mode::training(&weights);
    return mixed(linear_nll_composite(in.rows, in.weight, in.bias, in.targets, 4));
  };
  const auto without = torch::autograd::grad({loss()}, in.tensors());
  const auto in_fp32 = torch::autograd::grad(
      {mixed(linear_nll_composite(in.rows, in.weight, in.bias, in.targets, 4))}, in.tensors());
  const auto mode = Mode::training(&weights);
  const auto with = torch::autograd::grad({loss()}, in.tensors());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(torch::equal(without[i], with[i])) << i;
    EXPECT_FALSE(torch::equal(without[i], in_fp32[i])) << i;
  }
}

TEST(LinearNllReference, NoRowsHaveNoGradient) {
  const Inputs in(0, 5);
  for (const auto& nll : {linear_nll(in.rows, in.weight, in.bias, in.targets),
                          linear_nll_composite(in.rows, in.weight, in.bias, in.targets, 4)}) {
    EXPECT_EQ(nll.numel(), 0);
    const auto gradients = torch::autograd::grad({nll.sum()}, in.tensors());
    for (const auto& gradient : gradients) EXPECT_EQ(gradient.abs().sum().item<double>(), 0);
  }
}

TEST(LinearCrossEntropyReference, LogitsFarApartStayFinite) {
  const auto rows = torch::tensor({{1.0f}});
  const auto weight = torch::tensor({{900.0f}, {-900.0f}, {0.0f}}).requires_grad_();
  const auto bias = torch::zeros(3);
  const auto [loss, nll] = linear_cross_entropy(rows, weight, bias, torch::tensor({1}), 0);
  EXPECT_FLOAT_EQ(loss.item<float>(), 1800);
  const auto gradient = torch::autograd::grad({loss}, {weight})[0];
  EXPECT_TRUE(torch::allclose(gradient, torch::tensor({{1.0f}, {-1.0f}, {0.0f}}), 1e-6, 1e-6));
}

TEST(LinearCrossEntropyReference, NotANumberIsNotHidden) {
  const auto rows = torch::tensor({{std::nanf("")}});
  const auto [loss, nll] =
      linear_cross_entropy(rows, torch::ones({3, 1}), torch::zeros(3), torch::tensor({1}), 0.1);
  EXPECT_TRUE(loss.isnan().item<bool>());
}

TEST(LinearCrossEntropyReference, NoRowsAreNoLoss) {
  const auto in = Inputs(0, 5);
  const auto [loss, nll] = linear_cross_entropy(in.rows, in.weight, in.bias, in.targets, 0.1);
  EXPECT_EQ(loss.item<double>(), 0);
  EXPECT_TRUE(torch::autograd::grad({loss}, {in.weight})[0].eq(0).all().item<bool>());
}

}  // namespace
}  // namespace regard::kernels::cross_entropy_reference_test
