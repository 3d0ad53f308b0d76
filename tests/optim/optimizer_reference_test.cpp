#include "optim/optimizer.h"

#include <gtest/gtest.h>

#include <functional>

namespace regard {
namespace {

// Ten updates on −Σ log-ish curves: a function with a different curvature in every direction.
torch::Tensor loss_of(const torch::Tensor& x) {
  return (x.pow(2) * torch::arange(1, x.numel() + 1, torch::kDouble)).sum() + x.cos().sum();
}

torch::Tensor ten_steps(const TrainingOptions& options) {
  auto x = torch::linspace(-1, 2, 6, torch::kDouble).requires_grad_();
  const auto optimizer = make_optimizer(options, {{"x", x}});
  for (int i = 0; i < 10; ++i) {
    optimizer->zero_grad();
    loss_of(x).backward();
    optimizer->step(options.learning_rate);
  }
  return x.detach();
}

using MakeOptimizer =
    std::function<std::unique_ptr<torch::optim::Optimizer>(std::vector<torch::Tensor>)>;

torch::Tensor ten_torch_steps(const MakeOptimizer& make) {
  auto x = torch::linspace(-1, 2, 6, torch::kDouble).requires_grad_();
  const auto optimizer = make({x});
  for (int i = 0; i < 10; ++i) {
    optimizer->zero_grad();
    loss_of(x).backward();
    optimizer->step();
  }
  return x.detach();
}

TEST(OptimizerReference, AdamEqualsLibTorchs) {
  TrainingOptions options;
  options.learning_rate = 0.05;
  options.weight_decay = 0.01;
  const auto theirs = ten_torch_steps([](auto x) {
    return std::make_unique<torch::optim::Adam>(x,
                                                torch::optim::AdamOptions(0.05).weight_decay(0.01));
  });
  EXPECT_TRUE(torch::allclose(ten_steps(options), theirs, 1e-10, 1e-12));
}

TEST(OptimizerReference, AdamWEqualsLibTorchs) {
  TrainingOptions options;
  options.optimizer = OptimizerKind::adamw;
  options.learning_rate = 0.05;
  options.weight_decay = 0.1;
  const auto theirs = ten_torch_steps([](auto x) {
    return std::make_unique<torch::optim::AdamW>(
        x, torch::optim::AdamWOptions(0.05).weight_decay(0.1));
  });
  EXPECT_TRUE(torch::allclose(ten_steps(options), theirs, 1e-10, 1e-12));
}

TEST(OptimizerReference, SgdWithMomentumEqualsLibTorchs) {
  TrainingOptions options;
  options.optimizer = OptimizerKind::sgd;
  options.learning_rate = 0.02;
  options.momentum = 0.9;
  options.weight_decay = 0.01;
  const auto theirs = ten_torch_steps([](auto x) {
    return std::make_unique<torch::optim::SGD>(
        x, torch::optim::SGDOptions(0.02).momentum(0.9).weight_decay(0.01));
  });
  EXPECT_TRUE(torch::allclose(ten_steps(options), theirs, 1e-10, 1e-12));
}

// LibTorch's C++ side has no Adadelta: the paper's Algorithm 1, one number at a time.
TEST(OptimizerReference, AdadeltaFollowsThePaper) {
  TrainingOptions options;
  options.optimizer = OptimizerKind::adadelta;
  options.learning_rate = 1;
  options.epsilon = 1e-6;
  auto x = torch::linspace(-1, 2, 6, torch::kDouble).requires_grad_();
  auto square = torch::zeros({6}, torch::kDouble);
  auto delta_square = torch::zeros({6}, torch::kDouble);
  for (int i = 0; i < 10; ++i) {
    const auto g = torch::autograd::grad({loss_of(x)}, {x})[0];
    square = 0.95 * square + 0.05 * g * g;
    const auto delta = -(delta_square + 1e-6).sqrt() / (square + 1e-6).sqrt() * g;
    delta_square = 0.95 * delta_square + 0.05 * delta * delta;
    x = (x + delta).detach().requires_grad_();
  }
  EXPECT_TRUE(torch::allclose(ten_steps(options), x, 1e-10, 1e-12));
}

TEST(ClipGradients, ScalesTheJointNormDownToTheLimitAndReturnsTheOldOne) {
  auto a = torch::zeros({2}).requires_grad_();
  auto b = torch::zeros({1}).requires_grad_();
  a.mutable_grad() = torch::tensor({2.0F, 3.0F});
  b.mutable_grad() = torch::tensor({6.0F});
  EXPECT_FLOAT_EQ(clip_gradients({{"a", a}, {"b", b}}, 3.5), 7);
  EXPECT_TRUE(torch::allclose(a.grad(), torch::tensor({1.0F, 1.5F})));
  EXPECT_TRUE(torch::allclose(b.grad(), torch::tensor({3.0F})));
  EXPECT_FLOAT_EQ(clip_gradients({{"a", a}, {"b", b}}, 0), 3.5);
  EXPECT_TRUE(torch::allclose(b.grad(), torch::tensor({3.0F})));
}

TEST(ClipGradients, LeavesGradientsThatAreNotFiniteAlone) {
  auto a = torch::zeros({2}).requires_grad_();
  a.mutable_grad() = torch::tensor({INFINITY, 1.0F});
  EXPECT_FALSE(std::isfinite(clip_gradients({{"a", a}}, 1)));
  EXPECT_FLOAT_EQ(a.grad()[1].item<float>(), 1);
}

}  // namespace
}  // namespace regard
