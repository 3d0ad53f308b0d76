#include "optim/optimizer.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/optimizer.h>
#include <torch/optim/sgd.h>

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
  Workers workers;
  for (int i = 0; i < 10; ++i) {
    optimizer->step({torch::autograd::grad({loss_of(x)}, {x})}, 1, options.learning_rate, 0,
                    workers);
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

// Plain gradient descent by 1 from 0 shows the gradient that was used.
struct Descent {
  Descent() {
    options.optimizer = OptimizerKind::sgd;
    options.momentum = 0;
    optimizer = make_optimizer(options, {{"a", a}, {"b", b}});
  }
  double step(const std::vector<Tensors>& shares, double limit, double factor = 1) {
    return optimizer->step(shares, factor, 1, limit, workers);
  }
  torch::Tensor a = torch::zeros({2}).requires_grad_();
  torch::Tensor b = torch::zeros({100000}).requires_grad_();  // more than one piece
  TrainingOptions options;
  std::unique_ptr<Optimizer> optimizer;
  Workers workers{2};
};

Tensors gradients(float a0, float a1, float last) {
  auto b = torch::zeros({100000});
  b[99999] = last;
  return {torch::tensor({a0, a1}), b};
}

TEST(OptimizerStep, ScalesTheJointNormDownToTheLimitAndReturnsTheOldOne) {
  Descent descent;
  EXPECT_FLOAT_EQ(descent.step({gradients(2, 3, 6)}, 3.5), 7);
  EXPECT_TRUE(torch::allclose(descent.a, torch::tensor({-1.0F, -1.5F})));
  EXPECT_FLOAT_EQ(descent.b[99999].item<float>(), -3);
  EXPECT_FLOAT_EQ(descent.step({gradients(2, 3, 6)}, 0), 7);
  EXPECT_FLOAT_EQ(descent.b[99999].item<float>(), -9);
}

TEST(OptimizerStep, AddsUpTheShares) {
  Descent descent;
  EXPECT_FLOAT_EQ(descent.step({gradients(1, 0, 2), gradients(0, 1, 4), gradients(1, 2, 0)}, 0), 7);
  EXPECT_TRUE(torch::allclose(descent.a, torch::tensor({-2.0F, -3.0F})));
  EXPECT_FLOAT_EQ(descent.b[99999].item<float>(), -6);
}

TEST(OptimizerStep, TakesTheFactorIntoTheNormAndTheGradient) {
  Descent descent;
  EXPECT_FLOAT_EQ(descent.step({gradients(4, 6, 12)}, /*limit=*/3.5, /*factor=*/0.5), 7);
  EXPECT_TRUE(torch::allclose(descent.a, torch::tensor({-1.0F, -1.5F})));
  EXPECT_FLOAT_EQ(descent.step({gradients(4, 6, 12)}, /*limit=*/0, /*factor=*/0.5), 7);
  EXPECT_FLOAT_EQ(descent.b[99999].item<float>(), -9);
}

TEST(OptimizerStep, UpdatesNothingWhereTheGradientIsNotFinite) {
  Descent descent;
  EXPECT_FALSE(std::isfinite(descent.step({gradients(INFINITY, 1, 1)}, 1)));
  EXPECT_TRUE(descent.a.eq(0).all().item<bool>());
  EXPECT_TRUE(descent.b.eq(0).all().item<bool>());
}

}  // namespace
}  // namespace regard
