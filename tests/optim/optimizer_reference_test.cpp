#include "optim/optimizer.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/optimizer.h>
#include <torch/optim/sgd.h>

#include <functional>

namespace regard::optimizer_reference_test {
namespace {

// Ten updates on −Σ log-ish curves: a function with a different curvature in every direction.
torch::Tensor loss_of(const torch::Tensor& x) {
  return (x.pow(2) * torch::arange(1, x.numel() + 1, torch::kDouble)).sum() + x.cos().sum();
}

torch::Tensor ten_steps(const TrainingOptions& options) {
  auto x = torch::linspace(-1, 2, 6, torch::kDouble).requires_grad_();
  const auto weights = ParameterBuffer::adopt({{"x", x}});
  const auto gradient = weights.zeros_like();
  const auto optimizer = make_optimizer(options, weights);
  ThreadPool pool;
  for (int i = 0; i < 10; ++i) {
    gradient.views()[0].second.copy_(torch::autograd::grad({loss_of(x)}, {x})[0]);
    optimizer->update(gradient.flat(), 1, options.learning_rate, pool);
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

// Unequal betas that are not the defaults, an epsilon that shows, and floats in several ranges of
// the threads, whose number is no multiple of a vector's.
TEST(OptimizerReference, AdamWithOtherConstantsEqualsLibTorchsInEachRangeOfFloats) {
  for (const auto kind : {OptimizerKind::adam, OptimizerKind::adamw}) {
    TrainingOptions options;
    options.optimizer = kind;
    options.learning_rate = 0.05;
    options.adam_beta1 = 0.7;
    options.adam_beta2 = 0.96;
    options.epsilon = 0.01;
    options.weight_decay = 0.02;
    const auto start = torch::linspace(-1, 2, 200'003, torch::kFloat);
    auto ours = start.clone().requires_grad_(), theirs = start.clone().requires_grad_();
    const auto weights = ParameterBuffer::adopt({{"x", ours}});
    const auto gradient = weights.zeros_like();
    const auto optimizer = make_optimizer(options, weights);
    std::unique_ptr<torch::optim::Optimizer> reference;
    if (kind == OptimizerKind::adam) {
      reference = std::make_unique<torch::optim::Adam>(
          std::vector{theirs},
          torch::optim::AdamOptions(0.05).betas({0.7, 0.96}).eps(0.01).weight_decay(0.02));
    } else {
      reference = std::make_unique<torch::optim::AdamW>(
          std::vector{theirs},
          torch::optim::AdamWOptions(0.05).betas({0.7, 0.96}).eps(0.01).weight_decay(0.02));
    }
    ThreadPool pool(3);
    for (int i = 0; i < 5; ++i) {
      gradient.views()[0].second.copy_(torch::autograd::grad({loss_of(ours)}, {ours})[0]);
      optimizer->update(gradient.flat(), 1, options.learning_rate, pool);
      reference->zero_grad();
      loss_of(theirs).backward();
      reference->step();
    }
    EXPECT_TRUE(torch::allclose(ours, theirs, 1e-5, 1e-6));
    EXPECT_FALSE(torch::allclose(ours, start, 0.01, 0.01));
  }
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

TEST(Optimizer, UpdatesEveryRangeByTheFactorTimesTheGradientOnAnyNumberOfThreads) {
  TrainingOptions options;  // plain gradient descent from 0 shows the gradient that was used
  options.optimizer = OptimizerKind::sgd;
  options.momentum = 0;
  for (const std::size_t threads : {1, 3}) {
    auto a = torch::zeros({2}).requires_grad_();
    auto b = torch::zeros({300000}).requires_grad_();  // more than one range
    const auto weights = ParameterBuffer::adopt({{"a", a}, {"b", b}});
    const auto gradient = weights.zeros_like();
    gradient.views()[0].second.copy_(torch::tensor({2.0F, 3.0F}));
    gradient.views()[1].second.copy_(torch::arange(300000, torch::kFloat));
    const auto optimizer = make_optimizer(options, weights);
    ThreadPool pool(threads);
    optimizer->update(gradient.flat(), 0.5, 2, pool);
    EXPECT_TRUE(torch::equal(a.detach(), torch::tensor({-2.0F, -3.0F})));
    EXPECT_TRUE(torch::equal(b.detach(), -torch::arange(300000, torch::kFloat)));
  }
}

TEST(Optimizer, StateIsNamedByMomentAndParameter) {
  auto w = torch::zeros({2, 3}).requires_grad_();
  const auto optimizer =
      make_optimizer(TrainingOptions(), ParameterBuffer::adopt({{"layer.W", w}}));
  std::vector<std::string> names;
  for (const auto& [name, tensor] : optimizer->state()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"exp_avg.layer.W", "exp_avg_sq.layer.W", "step",
                                             "frozen_updates"}));
  EXPECT_EQ(optimizer->state()[0].second.sizes(), w.sizes());
}

}  // namespace
}  // namespace regard::optimizer_reference_test
