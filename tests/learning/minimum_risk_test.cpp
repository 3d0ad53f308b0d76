// Minimum risk training must lower the risk of a model that likelihood has taught half of a task.
#include <gtest/gtest.h>

#include <string>

#include "tests/learning/lesson.h"
#include "tests/model/small_model_options.h"
#include "tests/training/minimum_risk_case.h"

namespace regard::learning_minimum_risk_test {
namespace {

constexpr std::int64_t V = 14;

// The target is the source reversed.
Example reversing(Random& random) {
  Example example;
  example.source.resize(3 + random.below(5));
  for (auto& token : example.source) token = static_cast<std::int32_t>(4 + random.below(10));
  example.target.assign(example.source.rbegin(), example.source.rend());
  return example;
}

ModelOptions model_options(LayerKind kind) {
  auto options = small_model_options(32);
  options.decoder.kind = kind;
  options.decoder.self_attention.heads = 2;
  options.decoder.self_attention.feed_forward_size = 64;
  return options;
}

class MinimumRiskLesson : public testing::TestWithParam<LayerKind> {};

TEST_P(MinimumRiskLesson, LowersTheRiskOfWhatLikelihoodHasTaught) {
  torch::manual_seed(1);
  Random random(1);
  const auto model = build_model(V, V, model_options(GetParam()));
  Options options;
  options.training.label_smoothing = 0;
  options.training.minimum_risk.samples = 10;
  options.search.max_output_length = 12;
  const MinimumRisk minimum_risk(options, numbered_words(V));
  ThreadPool pool(2);
  ProcessGroup alone;
  const auto test = drawn(reversing, random, 200);
  const auto of_test = sources_of(test);
  std::int64_t step = 0;
  // Trains for `steps` updates. Returns the mean risk of a sentence in the last 20.
  const auto train = [&](int steps, double learning_rate, const MinimumRisk* objective) {
    TrainedModel trained(model, options.training);
    model->train();
    double risk = 0;
    for (int i = 0; i < steps; ++i) {
      const auto batch = make_batch(drawn_unseen(reversing, random, 32, of_test));
      const auto result = train_step(trained, {batch}, {++step, learning_rate, 0, {}, objective},
                                     options.training, pool, alone);
      if (i >= steps - 20) risk += result.risk / 32 / 20;
    }
    return risk;
  };
  train(70, 0.005, nullptr);
  const auto right_before = share_right(*model, test);
  const auto risk_before = train(20, 1e-9, &minimum_risk);
  const auto risk_after = train(100, 0.001, &minimum_risk);
  const auto right_after = share_right(*model, test);
  EXPECT_LT(risk_after, 0.8 * risk_before);
  EXPECT_GT(right_after, right_before);
}

INSTANTIATE_TEST_SUITE_P(Decoders, MinimumRiskLesson,
                         testing::Values(LayerKind::recurrent, LayerKind::transformer),
                         [](const auto& tested) { return std::string(enum_name(tested.param)); });

}  // namespace
}  // namespace regard::learning_minimum_risk_test
