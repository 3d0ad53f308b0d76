#include "training/step_graphs.h"

#include <gtest/gtest.h>

#include "config/training_options.h"
#include "model/build_model.h"
#include "tests/model/small_model_options.h"

namespace regard::step_graphs_test {
namespace {

constexpr std::int64_t V = 12;
constexpr std::int64_t max_positions = 6;

ModelOptions location() {
  auto options = small_model_options(8);
  options.attention.kind = AttentionKind::location;
  options.attention.max_positions = max_positions;
  return options;
}

ModelOptions learned_positions() {
  auto options = small_model_options(8);
  options.encoder.kind = EncoderKind::transformer;
  options.decoder.kind = LayerKind::transformer;
  for (auto* side : {&options.encoder.self_attention, &options.decoder.self_attention}) {
    side->heads = 2;
    side->position = PositionKind::learned;
    side->max_positions = max_positions;
  }
  return options;
}

TEST(StepGraphs, BatchesArePaddedWithinThePositionsOfTheModel) {
  const std::vector<Example> examples = {
      {.index = 0, .source = {4, 5, 6, 7}, .target = {5, 6, 7, 8}}};
  for (const auto& options : {location(), learned_positions()}) {
    const auto model = build_model(V, V, options);
    StepGraphs graphs(torch::kCPU, TrainingOptions(), *model);
    const auto batch = graphs.to_device(make_batch(examples));  // of 5 positions
    EXPECT_EQ(batch.source.positions(), max_positions);
    EXPECT_EQ(batch.target_output().size(1), model->target_limit() ? max_positions : 8);
    EXPECT_NO_THROW(model->decode(batch.target_input(), model->encode(batch.source)));
  }
}

}  // namespace
}  // namespace regard::step_graphs_test
