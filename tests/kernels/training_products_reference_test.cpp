#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/types.h>

#include <functional>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/cross_entropy.h"
#include "kernels/device.h"
#include "kernels/linear.h"
#include "kernels/mode.h"
#include "kernels/packed_weights.h"
#include "kernels/recurrence.h"
#include "optim/parameter_buffer.h"

namespace regard::kernels::training_products_reference_test {
namespace {

using torch::Tensor;

Tensor weight(at::IntArrayRef shape) {
  return (0.2 * torch::randn(shape)).requires_grad_();
}

// Every operation that has products in training.
struct Network {
  Tensor W = weight({48, 40});  // as of a Linear
  Tensor b = weight({48});
  Tensor slice = weight({48, 100});
  Tensor hidden = weight({64, 48});
  Tensor b_hidden = weight({64});
  Tensor from_hidden = weight({48, 64});
  Tensor direct = weight({48, 32});
  Tensor each = weight({2, 32, 33});
  Tensor each_b = weight({2, 1, 33});
  Tensor step = weight({33, 33});
  Tensor U = weight({20, 60});
  Tensor b_U = weight({20});
  Tensor to_gru = weight({60, 33});
  Tensor first_U = weight({20, 60});
  Tensor second_U = weight({20, 60});
  Tensor query = weight({18, 25});
  Tensor v = weight({18});
  Tensor keys = weight({5, 6, 18});
  Tensor mixed = weight({5, 6, 60});
  Tensor V = weight({50, 20});
  Tensor b_V = weight({50});
  Tensor x = weight({7, 5, 40});

  std::vector<Tensor> all() const {
    return {W,   b,      slice,   hidden,   b_hidden, from_hidden, direct, each,  each_b, step, U,
            b_U, to_gru, first_U, second_U, query,    v,           keys,   mixed, V,      b_V,  x};
  }

  NamedParameters named() const {
    NamedParameters tensors;
    for (const auto& tensor : all()) tensors.emplace_back("", tensor);
    return tensors;
  }
  ParameterBuffer buffer = ParameterBuffer::adopt(named());

  Tensor loss() const {
    auto y = kernels::linear(x, W, b).tanh().view({35, 48});
    y = kernels::linear(y, slice.slice(1, 52)).tanh() + y;
    y = kernels::linear(linear_relu(y, hidden, b_hidden, {}), from_hidden) + y;
    y = add_product(y.new_ones({35, 32}), y, direct).tanh() + product(y, direct);
    y = linear_each(each_b, torch::stack({y, -y}), each).sum(0);
    {
      const auto deferred = Mode::time_loop();
      for (int t = 0; t < 3; ++t) y = product(y, step).tanh();
    }
    const auto input = kernels::linear(y, to_gru).view({7, 5, 60});
    auto states =
        recurrence(input, y.new_zeros({5, 20}), {CellForm::gru_reset_after, U, b_U}).outputs;
    // Two cells with attention between them. Its W is a part of a parameter, U of the second cell
    // is computed from one.
    const AttentionScore score = {.form = ScoreForm::additive,
                                  .W = query.slice(1, 0, 20),
                                  .v = v,
                                  .keys = keys,
                                  .lengths = torch::tensor({6, 4, 1, 6, 5})};
    const RecurrentWeights first = {CellForm::gru_reset_before, first_U};
    states =
        states + recurrence(input, y.new_zeros({5, 20}), {CellForm::gru_reset_before, second_U * 2},
                            LoopAttention{score, mixed}, &first)
                     .outputs;
    const auto targets = torch::arange(35, torch::kLong);
    return linear_cross_entropy(states.reshape({35, 20}), V, b_V, targets, 0.1).loss;
  }
};

// Returns the loss and the gradients of all weights.
std::vector<Tensor> gradients(const Network& network, PackedWeights* products) {
  const auto mode = Mode::training(products);
  const auto loss = network.loss();
  auto result = torch::autograd::grad({loss}, network.all());
  result.push_back(loss.detach());
  return result;
}

void expect_close(const std::vector<Tensor>& found, const std::vector<Tensor>& expected,
                  double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].sizes(), expected[i].sizes()) << i;
    const auto error = (found[i] - expected[i]).norm() / expected[i].norm();
    EXPECT_LT(error.item<double>(), tolerance) << "tensor " << i;
  }
}

TEST(TrainingProductsReference, ValuesAndGradientsEqualThoseOfLibTorch) {
  torch::manual_seed(1);
  const Network network;
  const auto expected = gradients(network, nullptr);
  PackedWeights products(Precision::full, network.buffer.flat());
  expect_close(gradients(network, &products), expected, 1e-5);
}

TEST(TrainingProductsReference, WeightsArePackedAgainAfterAnUpdate) {
  torch::manual_seed(1);
  const Network network;
  ThreadPool pool(2);
  PackedWeights products(Precision::full, network.buffer.flat());
  gradients(network, &products);
  {
    const torch::NoGradGuard guard;
    for (auto& tensor : network.all()) tensor.mul_(-0.7);
  }
  products.repack_all(pool);
  expect_close(gradients(network, &products), gradients(network, nullptr), 1e-5);
}

TEST(TrainingProductsReference, AFrozenWeightIsPackedOnceAStep) {
  Network network;
  ThreadPool pool(2);
  PackedWeights products(Precision::full, network.buffer.flat());
  const auto mode = Mode::training(&products);
  network.W.set_requires_grad(false);
  network.U.set_requires_grad(false);
  const auto x = torch::randn({3, 40}), input = torch::randn({2, 3, 60});
  const auto results = [&] {
    const RecurrentWeights cell = {CellForm::gru_reset_after, network.U, network.b_U};
    return torch::cat({kernels::linear(x, network.W).flatten(),
                       recurrence(input, torch::ones({3, 20}), cell).outputs.flatten()});
  };
  const auto first = results();
  network.W.zero_();
  network.U.zero_();
  EXPECT_TRUE(torch::equal(results(), first));
  products.repack_all(pool);
  EXPECT_FALSE(torch::equal(results(), first));
}

TEST(TrainingProductsReference, AMatrixThatIsNoWeightIsPackedAtEachUse) {
  const Network network;
  PackedWeights products(Precision::full, network.buffer.flat());
  const auto mode = Mode::training(&products);
  const auto x = torch::randn({3, 40}), W = torch::randn({48, 40});
  EXPECT_GT(kernels::linear(x, W).norm().item<double>(), 0);
  W.zero_();
  EXPECT_EQ(kernels::linear(x, W).norm().item<double>(), 0);
}

// The tolerances are wider than the rounding because it moves some units across the kink of relu.
TEST(TrainingProductsReference, Bf16DiffersByItsRounding) {
  if (!can_multiply(Precision::bf16)) GTEST_SKIP() << "this processor has no such products";
  torch::manual_seed(1);
  const Network network;
  const auto expected = gradients(network, nullptr);
  PackedWeights products(Precision::bf16, network.buffer.flat());
  const auto found = gradients(network, &products);
  expect_close(found, expected, 0.05);
  const auto again = gradients(network, &products);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(torch::equal(found[i], again[i]));
  EXPECT_FALSE(torch::equal(found.front(), expected.front()));
}

// As on a GPU.
TEST(TrainingProductsReference, Bf16OfLibTorchDiffersByItsRounding) {
  torch::manual_seed(1);
  const Network network;
  const auto expected = gradients(network, nullptr);
  PackedWeights products(Precision::bf16, network.buffer.flat());
  use_reference(true);
  const auto found = gradients(network, &products);
  use_reference(false);
  expect_close(found, expected, 0.08);
  EXPECT_FALSE(torch::equal(found.front(), expected.front()));
}

TEST(TrainingProductsReference, DoublePrecisionKeepsLibTorchsProducts) {
  PackedWeights products;
  const auto mode = Mode::training(&products);
  const auto x = torch::randn({3, 20}, torch::kDouble);
  const auto W = torch::randn({30, 20}, torch::kDouble).requires_grad_();
  EXPECT_TRUE(torch::equal(kernels::linear(x, W), torch::linear(x, W)));
  EXPECT_EQ(training_weights_for(x), nullptr);
}

}  // namespace
}  // namespace regard::kernels::training_products_reference_test
