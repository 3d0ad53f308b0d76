#include "training/train_step.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <functional>
#include <new>

#include "model/build_model.h"
#include "training/out_of_memory.h"

namespace regard {
namespace {

constexpr std::int64_t V = 12;

// A tiny model, a ragged batch, and one update by descent with rate 1: the change of the weights is
// the gradient.
struct Update {
  explicit Update(double dropout) {
    torch::manual_seed(1);
    ModelOptions model_options;
    model_options.encoder.embedding_dim = model_options.decoder.embedding_dim = 8;
    model_options.encoder.hidden_size = model_options.decoder.hidden_size = 8;
    model_options.decoder.readout_size = model_options.attention.size = 8;
    model_options.dropout = {dropout, dropout, dropout};
    model = build_model(V, V, model_options);
    model->to(torch::kDouble);
    model->train();
    for (const auto& item : model->named_parameters()) {
      parameters.emplace_back(item.key(), item.value());
    }
    options.optimizer = OptimizerKind::sgd;
    options.momentum = 0;
    options.clip_grad_norm = 0;
  }

  StepResult run(const std::vector<Batch>& batches, std::size_t threads, std::int64_t step = 1) {
    Workers workers(threads);
    const auto optimizer = make_optimizer(options, parameters);
    return train_step(*model, *optimizer, tensors_of(parameters), batches, {step, 1}, options,
                      workers);
  }

  torch::Tensor weights() const {
    std::vector<torch::Tensor> flat;
    for (const auto& [name, tensor] : parameters) flat.push_back(tensor.detach().flatten());
    return torch::cat(flat);
  }

  std::shared_ptr<Seq2Seq> model;
  NamedParameters parameters;
  TrainingOptions options;
};

std::vector<Example> examples() {
  return {{0, {4, 5, 6, 7, 8}, {5, 6}},
          {1, {9, 10}, {4, 4, 4, 7, 8, 9}},
          {2, {11, 4, 5}, {6}},
          {3, {7}, {8, 9, 10}},
          {4, {5, 5, 6}, {7, 7, 7, 7}}};
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
  ASSERT_TRUE(halve(batches));
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(halves.run(batches, 2).target_tokens, expected.target_tokens);
  EXPECT_TRUE(torch::allclose(whole.weights(), halves.weights(), 1e-10, 1e-12));
  ASSERT_TRUE(halve(batches));
  ASSERT_TRUE(halve(batches));
  EXPECT_EQ(batches.size(), 5u);
  EXPECT_FALSE(halve(batches));  // a sentence each
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

}  // namespace
}  // namespace regard
