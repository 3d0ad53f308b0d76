// Training with the fused kernels against training with their composites.
#include <gtest/gtest.h>
#include <torch/utils.h>

#include "kernels/device.h"
#include "model/build_model.h"
#include "tests/model/small_model_options.h"
#include "tests/training/reversed_pairs.h"
#include "training/train_step.h"

namespace regard::train_step_reference_test {
namespace {

constexpr std::int64_t V = 20;

Batch batch_of_step(std::int64_t step) {
  return reversed_pairs(6, 7, V, Random(3, static_cast<std::uint64_t>(step)));
}

// −log P a token at each of 200 steps of Adam, always from the same first weights.
std::vector<double> losses(const ModelOptions& model_options, torch::ScalarType type,
                           bool composites) {
  torch::manual_seed(4);
  const auto model = build_model(V, V, model_options);
  model->to(type);
  model->train();
  TrainingOptions options;
  TrainedModel trained(model, options);
  ThreadPool pool(1);
  ProcessGroup alone;
  kernels::use_reference(composites);
  std::vector<double> losses;
  for (std::int64_t step = 1; step <= 200; ++step) {
    const auto result =
        train_step(trained, {batch_of_step(step)}, {step, 0.005}, options, pool, alone);
    losses.push_back(result.nll / static_cast<double>(result.target_tokens));
  }
  kernels::use_reference(false);
  return losses;
}

std::vector<ModelOptions> models() {
  std::vector<ModelOptions> all(3, small_model_options(12));
  for (auto& options : all) options.encoder.hidden_size = options.decoder.hidden_size = 16;
  all[1].encoder.reset_gate = all[1].decoder.reset_gate = ResetGate::after;
  all[2].attention.kind = AttentionKind::none;
  return all;
}

void expect_equal_losses(torch::ScalarType type, double tolerance) {
  for (const auto& options : models()) {
    const auto fused = losses(options, type, false);
    const auto plain = losses(options, type, true);
    EXPECT_LT(fused.back(), 0.9 * fused.front());  // it learns: these are not all the same number
    for (std::size_t step = 0; step < fused.size(); ++step) {
      ASSERT_NEAR(fused[step], plain[step], tolerance) << "step " << step + 1;
    }
  }
}

TEST(TrainStepReference, InDoublePrecisionTheFusedPathFollowsThePlainOneFor200Steps) {
  expect_equal_losses(torch::kDouble, 1e-8);
}

TEST(TrainStepReference, InSinglePrecisionTheyPartByRoundingOnly) {
  expect_equal_losses(torch::kFloat, 1e-3);
}

}  // namespace
}  // namespace regard::train_step_reference_test
