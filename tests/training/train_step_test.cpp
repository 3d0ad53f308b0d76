#include "training/train_step.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <functional>
#include <map>
#include <new>
#include <string>

#include "base/process.h"
#include "base/strings.h"
#include "model/build_model.h"
#include "tests/model/small_model_options.h"

namespace regard::train_step_test {
namespace {

constexpr std::int64_t V = 12;

// A tiny model, a ragged batch, and one update by descent with rate 1: the change of the weights is
// the gradient.
struct Update {
  explicit Update(double dropout) {
    torch::manual_seed(1);
    auto model_options = small_model_options(8);
    model_options.dropout = {dropout, dropout, dropout};
    model = build_model(V, V, model_options);
    model->to(torch::kDouble);
    model->train();
    options.optimizer = OptimizerKind::sgd;
    options.momentum = 0;
    options.clip_grad_norm = 0;
  }

  StepResult run(const std::vector<Batch>& batches, std::size_t threads, std::int64_t step = 1) {
    ThreadPool pool(threads);
    ProcessGroup alone;
    TrainedModel trained(model, options);
    return train_step(trained, batches, {step, 1}, options, pool, alone);
  }

  torch::Tensor weights() const {
    std::vector<torch::Tensor> flat;
    for (const auto& [name, tensor] : parameters_of(*model))
      flat.push_back(tensor.detach().flatten());
    return torch::cat(flat);
  }

  std::shared_ptr<Seq2Seq> model;
  TrainingOptions options;
};

std::vector<Example> examples() {
  return {{0, {4, 5, 6, 7, 8}, {5, 6}},
          {1, {9, 10}, {4, 4, 4, 7, 8, 9}},
          {2, {11, 4, 5}, {6}},
          {3, {7}, {8, 9, 10}},
          {4, {5, 5, 6}, {7, 7, 7, 7}}};
}

TEST(TrainStep, FrozenParametersStayAndTheOthersAreUpdatedAsBefore) {
  const auto batch = make_batch(examples());
  for (const std::string frozen : {"encoder.*", "decoder.*", "*embedding", "decoder.layer0.*"}) {
    Update all(0.3);
    Update some(0.3);
    some.options.freeze = {frozen};
    std::map<std::string, torch::Tensor> before;
    for (const auto& [name, tensor] : parameters_of(*some.model)) before[name] = tensor.clone();
    all.run({batch}, 2);
    some.run({batch}, 2);
    std::map<std::string, torch::Tensor> updated;
    for (const auto& [name, tensor] : parameters_of(*all.model)) updated[name] = tensor;
    for (const auto& [name, tensor] : parameters_of(*some.model)) {
      const bool is_frozen = matches_pattern(name, frozen);
      EXPECT_TRUE(torch::equal(tensor, is_frozen ? before[name] : updated[name]))
          << name << ", frozen: " << frozen;
    }
  }
}

TEST(TrainStep, TheNumberOfWorkersChangesNothingButRounding) {
  Update one(0), three(0), many(0);
  const auto batch = make_batch(examples());
  const auto before = one.weights();
  const auto alone = one.run({batch}, 1);
  const auto shared = three.run({batch}, 3);
  many.run({batch}, 8);  // more workers than sentences
  EXPECT_FALSE(torch::allclose(one.weights(), before));
  EXPECT_TRUE(torch::allclose(one.weights(), three.weights(), 1e-10, 1e-12));
  EXPECT_TRUE(torch::allclose(one.weights(), many.weights(), 1e-10, 1e-12));
  EXPECT_NEAR(alone.nll, shared.nll, 1e-9);
  EXPECT_NEAR(alone.gradient_norm, shared.gradient_norm, 1e-9);
  EXPECT_EQ(alone.target_tokens, 21);
}

TEST(TrainStep, TwoBatchesAreOneOfBoth) {
  Update together(0), apart(0);
  auto all = examples();
  together.run({make_batch(all)}, 2);
  apart.run({make_batch(std::span(all).first(2)), make_batch(std::span(all).subspan(2))}, 2);
  EXPECT_TRUE(torch::allclose(together.weights(), apart.weights(), 1e-10, 1e-12));
}

TEST(TrainStep, ABatchInHalvesIsTheSameUpdate) {
  Update whole(0), halves(0), quarters(0);
  std::vector<Batch> batches = {make_batch(examples())};
  const auto expected = whole.run(batches, 2);
  ASSERT_TRUE(halve_batches(batches));
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(halves.run(batches, 2).target_tokens, expected.target_tokens);
  EXPECT_TRUE(torch::allclose(whole.weights(), halves.weights(), 1e-10, 1e-12));
  ASSERT_TRUE(halve_batches(batches));
  ASSERT_TRUE(halve_batches(batches));
  EXPECT_EQ(batches.size(), 5u);
  EXPECT_FALSE(halve_batches(batches));  // a sentence each
  quarters.run(batches, 2);
  EXPECT_TRUE(torch::allclose(whole.weights(), quarters.weights(), 1e-10, 1e-12));
}

TEST(TrainStep, TooLittleMemoryIsKnownByItsErrors) {
  const auto known = [](const std::function<void()>& ask) {
    try {
      ask();
    } catch (const std::exception& error) {
      return is_out_of_memory(error);
    }
    return false;
  };
  EXPECT_TRUE(known([] { torch::empty({std::int64_t{1} << 50}); }));
  EXPECT_TRUE(known([] { throw std::bad_alloc(); }));
  EXPECT_FALSE(known([] { torch::zeros({2}) + torch::zeros({3}); }));
}

TEST(TrainStep, DropoutFollowsFromSeedAndStep) {
  Update first(0.5), same(0.5), later(0.5), other(0.5);
  const auto batch = make_batch(examples());
  other.options.random_seed = first.options.random_seed + 1;
  first.run({batch}, 2, 3);
  same.run({batch}, 2, 3);
  later.run({batch}, 2, 4);
  other.run({batch}, 2, 3);
  EXPECT_TRUE(torch::equal(first.weights(), same.weights()));
  EXPECT_FALSE(torch::allclose(first.weights(), later.weights()));
  EXPECT_FALSE(torch::allclose(first.weights(), other.weights()));
}

TEST(TrainStep, TheGradientOfSeveralThreadsHasTheSameBytesEachTime) {
  const auto batch = make_batch(examples());
  const auto gradient_of = [&] {
    Update update(0);
    ThreadPool pool(4);
    ProcessGroup alone;
    TrainedModel trained(update.model, update.options);
    train_step(trained, {batch, batch}, {1, 1}, update.options, pool, alone);
    return trained.gradient.flat().clone();
  };
  const auto expected = gradient_of();
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(torch::equal(gradient_of(), expected));
}

TEST(TrainStep, WithANumberOfShardsTheBytesDoNotDependOnTheNumberOfThreads) {
  const auto batch = make_batch(examples());
  for (const std::size_t batches : {1, 2}) {
    const auto weights_of = [&](std::size_t threads, std::int64_t shards) {
      Update update(0.3);
      update.options.shards = shards;
      for (std::int64_t step = 1; step <= 3; ++step) {
        update.run(std::vector<Batch>(batches, batch), threads, step);
      }
      return update.weights();
    };
    const auto expected = weights_of(1, 3);
    for (const std::size_t threads : {2, 3, 4}) {
      EXPECT_TRUE(torch::equal(weights_of(threads, 3), expected)) << threads;
    }
    EXPECT_TRUE(torch::equal(weights_of(3, 0), expected)) << "by default, one for each thread";
    EXPECT_FALSE(torch::equal(weights_of(1, 2), expected)) << "another dropout";
    EXPECT_TRUE(weights_of(2, 100).isfinite().all().item<bool>()) << "more than sentences";
  }
}

TEST(TrainStep, TheNormIsClippedToTheLimitAndReturnedAsItWas) {
  Update clipped(0), free(0);
  const auto batch = make_batch(examples());
  const auto before = free.weights();
  clipped.options.clip_grad_norm = 0.01;
  const auto result = clipped.run({batch}, 2);
  EXPECT_GT(result.gradient_norm, 0.01);
  EXPECT_NEAR(result.gradient_norm, free.run({batch}, 2).gradient_norm, 1e-12);
  EXPECT_NEAR((clipped.weights() - before).norm().item<double>(), 0.01, 1e-9);
  EXPECT_NEAR((free.weights() - before).norm().item<double>(), result.gradient_norm, 1e-9);
}

TEST(TrainStep, NothingIsUpdatedWhereTheLossIsNotFinite) {
  Update update(0);
  {
    const torch::NoGradGuard guard;
    update.model->named_parameters()["output_bias"][4] = INFINITY;
  }
  const auto before = update.weights();
  EXPECT_FALSE(std::isfinite(update.run({make_batch(examples())}, 2).nll));
  EXPECT_TRUE(torch::equal(update.weights(), before));
}

TEST(TrainedModel, HasAnAverageOnlyIfItIsWanted) {
  Update update(0);
  EXPECT_FALSE(TrainedModel(update.model, update.options).average);
  update.options.moving_average = 0.9;
  EXPECT_TRUE(TrainedModel(update.model, update.options).average);
}

// Three updates on one batch, by graphs if `graphs` is true: of the padded batch, with the learning
// rate in a tensor. The CPU has no graphs, so its steps are launched operation by operation.
std::vector<StepResult> three_steps(Update& update, const Batch& batch, bool graphs) {
  ThreadPool pool;
  ProcessGroup alone;
  TrainedModel trained(update.model, update.options);
  StepGraphs step_graphs(torch::kCPU, update.options, *update.model);
  std::vector<StepResult> results;
  for (std::int64_t step = 1; step <= 3; ++step) {
    StepSettings settings{.step = step, .learning_rate = 0.02 / static_cast<double>(step)};
    if (graphs) settings.graphs = &step_graphs;
    results.push_back(train_step(trained, {graphs ? step_graphs.to_device(batch) : batch}, settings,
                                 update.options, pool, alone));
  }
  for (const auto& [name, tensor] : trained.optimizer->state()) {
    if (name != "step") continue;
    EXPECT_EQ(tensor.item<double>(), std::isfinite(results[0].nll) ? 3 : 0);
  }
  if (trained.average) {  // the averages take the place of the weights
    const torch::NoGradGuard guard;
    trained.weights.flat().copy_(trained.average->flat());
  }
  return results;
}

TEST(TrainStep, APaddedBatchIsTheSameUpdate) {
  const auto batch = make_batch(examples());
  for (const auto optimizer : {OptimizerKind::adam, OptimizerKind::adamw, OptimizerKind::sgd}) {
    for (const double limit : {0.0, 0.01}) {
      for (const double average : {0.0, 0.5}) {
        Update padded(0), plain(0);
        for (auto* update : {&padded, &plain}) {
          update->options.optimizer = optimizer;
          update->options.clip_grad_norm = limit;
          update->options.moving_average = average;
          update->options.weight_decay = 0.1;
          update->options.freeze = {"encoder.*"};
          update->options.learning_rates = {{"decoder.*", 0.5}};
        }
        const auto found = three_steps(padded, batch, true),
                   expected = three_steps(plain, batch, false);
        for (std::size_t i = 0; i < 3; ++i) {
          EXPECT_NEAR(found[i].nll, expected[i].nll, 1e-6);
          EXPECT_NEAR(found[i].gradient_norm, expected[i].gradient_norm, 1e-6);
          EXPECT_EQ(found[i].sentences, expected[i].sentences);
          EXPECT_EQ(found[i].target_tokens, expected[i].target_tokens);
        }
        EXPECT_TRUE(torch::allclose(padded.weights(), plain.weights(), 1e-5, 1e-7))
            << static_cast<int>(optimizer) << " " << limit << " " << average;
      }
    }
  }
}

TEST(TrainStep, APaddedBatchUpdatesNothingWhereTheLossIsNotFinite) {
  for (const auto optimizer : {OptimizerKind::adam, OptimizerKind::sgd}) {
    Update update(0);
    update.options.optimizer = optimizer;
    update.options.moving_average = 0.5;
    {
      const torch::NoGradGuard guard;
      auto bias = update.model->named_parameters()["output_bias"];
      bias[4] = 1e308;  // so that −log P of token 5 is not finite
      bias[5] = -1e308;
    }
    const auto before = update.weights();
    for (const auto& result : three_steps(update, make_batch(examples()), true)) {
      EXPECT_FALSE(std::isfinite(result.nll));
    }
    EXPECT_TRUE(torch::equal(update.weights(), before));
  }
}

}  // namespace
}  // namespace regard::train_step_test
