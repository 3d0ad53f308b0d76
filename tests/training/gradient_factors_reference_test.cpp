// The gradient of a step from factors of all threads (kernels/gradient_factors.h), against the sum
// of the gradients of two halves of the batch, which are computed without.
#include <gtest/gtest.h>
#include <torch/utils.h>

#include "kernels/gradient_factors.h"
#include "kernels/mode.h"
#include "kernels/packed_weights.h"
#include "model/build_model.h"
#include "tests/model/small_model_options.h"
#include "tests/training/reversed_pairs.h"
#include "training/train_step.h"

namespace regard::gradient_factors_reference_test {
namespace {

using kernels::Precision;

constexpr std::int64_t V = 70;

ModelOptions changed(const std::function<void(ModelOptions&)>& change) {
  auto options = small_model_options(32);
  change(options);
  return options;
}

struct Case {
  std::string name;
  ModelOptions model;
};

std::vector<Case> cases() {
  const auto transformer = changed([](ModelOptions& o) {
    o.encoder.kind = EncoderKind::transformer;
    o.decoder.kind = LayerKind::transformer;
    o.encoder.self_attention.heads = o.decoder.self_attention.heads = 2;
    o.encoder.self_attention.feed_forward_size = o.decoder.self_attention.feed_forward_size = 48;
  });
  return {
      {"gru", small_model_options(32)},
      {"gru_reset_after",
       changed([](auto& o) { o.encoder.reset_gate = o.decoder.reset_gate = ResetGate::after; })},
      {"lstm", changed([](auto& o) { o.encoder.cell = o.decoder.cell = CellKind::lstm; })},
      {"between", changed([](auto& o) { o.decoder.query = Query::between; })},
      {"input_feeding", changed([](auto& o) { o.decoder.input_feeding = true; })},
      {"dot", changed([](auto& o) { o.attention.kind = AttentionKind::dot; })},
      {"location", changed([](auto& o) { o.attention.kind = AttentionKind::location; })},
      {"none", changed([](auto& o) { o.attention.kind = AttentionKind::none; })},
      {"tied", changed([](auto& o) { o.tied_embeddings = TiedEmbeddings::all; })},
      {"copy", changed([](auto& o) { o.output.kind = OutputKind::copy; })},
      {"transformer", transformer},
  };
}

// The gradient of one step, before the update multiplies it by 1 / tokens.
torch::Tensor gradient(const Case& c, std::optional<Precision> precision, bool in_halves,
                       std::size_t threads, const TrainingOptions& options = {}) {
  torch::manual_seed(4);
  const auto model = build_model(V, V, c.model);
  model->train();
  TrainedModel trained(model, options);
  trained.packed_weights =
      precision ? std::make_unique<kernels::PackedWeights>(*precision, trained.weights.flat())
                : nullptr;
  auto batch = reversed_pairs(10, 9, V, Random(5, 0));
  if (c.model.output.kind == OutputKind::copy) {
    const auto ids = std::get<SourceIds>(batch.source.values).ids;
    batch.source.values = CopyIds{ids, ids};  // the words of the source are those of the target
  }
  std::vector<Batch> batches = {batch};
  if (in_halves) halve_batches(batches);
  ThreadPool pool(threads);
  ProcessGroup alone;
  const auto result = train_step(trained, batches, {1, 0}, options, pool, alone);
  return trained.gradient.flat().clone().mul_(static_cast<double>(result.target_tokens));
}

void expect_equal(const Case& c, std::optional<Precision> precision, std::size_t threads,
                  const TrainingOptions& options = {}) {
  const auto halves = gradient(c, precision, true, 1, options);
  const auto factors = gradient(c, precision, false, threads, options);
  EXPECT_GT(halves.norm().item<double>(), 1);
  EXPECT_LT((factors - halves).abs().max().item<double>(), 1e-4 * halves.abs().max().item<double>())
      << c.name << ", threads: " << threads;
}

TEST(GradientFactorsReference, TheGradientIsTheSumOfThoseOfTheThreads) {
  for (const auto& c : cases()) {
    for (const std::size_t threads : {1, 2, 3}) {
      expect_equal(c, std::nullopt, threads);
      expect_equal(c, Precision::full, threads);
    }
  }
}

TEST(GradientFactorsReference, SoItIsInBf16) {
  if (!kernels::can_multiply(Precision::bf16)) GTEST_SKIP() << "no bf16";
  for (const auto& c : cases()) expect_equal(c, Precision::bf16, 2);
}

// Matrices of more than one block of rows (FactorSum in gradient_factors.cpp).
TEST(GradientFactorsReference, WithANumberOfShardsTheBytesDoNotDependOnTheNumberOfThreads) {
  const Case wide = {"wide", changed([](auto& o) {
                       o.encoder.hidden_size = o.decoder.hidden_size = 192;
                       o.dropout = {0.2, 0.2, 0.2};
                     })};
  TrainingOptions options;
  options.shards = 4;
  for (const auto precision : {std::optional<Precision>(), {Precision::full}, {Precision::bf16}}) {
    if (precision && !kernels::can_multiply(*precision)) continue;
    const auto expected = gradient(wide, precision, false, 1, options);
    for (const std::size_t threads : {2, 3, 4, 6}) {
      EXPECT_TRUE(torch::equal(gradient(wide, precision, false, threads, options), expected))
          << threads;
    }
  }
}

TEST(GradientFactorsReference, FrozenParametersHaveNone) {
  TrainingOptions options;
  options.freeze = {"encoder.*", "source_embedding", "output_weight"};
  expect_equal(cases()[0], Precision::full, 2, options);
}

TEST(GradientFactorsReference, TheBytesDoNotDependOnTiming) {
  for (const auto& c : cases()) {
    const auto first = gradient(c, Precision::full, false, 3);
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(torch::equal(first, gradient(c, Precision::full, false, 3))) << c.name;
    }
  }
}

// As location attention does, threads note parts of a matrix that begin at the same row. Their
// numbers of rows differ, so the products drift against each other and meet in each place.
TEST(GradientFactorsReference, PartsOfAMatrixThatShareRowsLoseNoTerm) {
  constexpr std::int64_t M = 256, D = 256, rows = 60, products = 60;
  torch::manual_seed(6);
  const auto W = torch::zeros({1024, D});
  const auto x = torch::randn({M, rows}), d_y = torch::randn({M, D});
  kernels::PackedWeights packed;
  const auto mode = kernels::Mode::training(&packed);
  std::vector<kernels::GradientFactors> factors(2, kernels::GradientFactors(W));
  for (int i = 0; i < products; ++i) {
    factors[0].add_product(W.narrow(0, 0, rows), x, d_y);
    factors[1].add_product(W.narrow(0, 0, rows - 1), x.narrow(1, 0, rows - 1), d_y);
  }
  const auto gradient = [&](std::size_t threads) {
    ThreadPool pool(threads);
    auto sum = torch::empty_like(W);
    std::vector<kernels::GradientPart> parts = {{0, W.numel(), true, false}};
    kernels::add_up(factors, sum, parts, pool);
    return sum;
  };
  const auto alone = gradient(1);
  const auto of_one = x.t().mm(d_y);
  EXPECT_TRUE(torch::allclose(alone[0], 2 * products * of_one[0], 1e-3, 1e-1));
  EXPECT_TRUE(torch::allclose(alone[rows - 1], products * of_one[rows - 1], 1e-3, 1e-1));
  EXPECT_EQ(alone.narrow(0, rows, 1024 - rows).count_nonzero().item<int>(), 0);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(torch::equal(gradient(2), alone)) << i;
}

}  // namespace
}  // namespace regard::gradient_factors_reference_test
