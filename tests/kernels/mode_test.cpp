#include "kernels/mode.h"

#include <gtest/gtest.h>

#include "kernels/device.h"
#include "kernels/linear.h"
#include "kernels/packed_weights.h"

namespace regard::kernels::mode_test {
namespace {

TEST(Mode, ASearchHasNoGradientsAndTheModeAroundItComesBack) {
  PackedWeights trained, searched;
  const auto W = torch::randn({7, 5}).requires_grad_();
  const auto x = torch::randn({3, 5});
  const auto training = Mode::training(&trained);
  {
    const auto search = Mode::search(searched);
    EXPECT_TRUE(in_search(x));
    EXPECT_EQ(search_weights_for(W), &searched);
    EXPECT_EQ(training_weights(), nullptr);
    EXPECT_FALSE(kernels::linear(x, W).requires_grad());
  }
  EXPECT_FALSE(in_search(x));
  EXPECT_EQ(search_weights_for(W), nullptr);
  EXPECT_EQ(training_weights_for(x), &trained);
  kernels::linear(x, W).sum().backward();
  EXPECT_TRUE(W.grad().defined());
}

TEST(Mode, ATimeLoopKeepsTheWeightsOfTheTrainingStep) {
  PackedWeights trained;
  const auto training = Mode::training(&trained);
  EXPECT_EQ(deferred_gradients(), nullptr);
  {
    const auto loop = Mode::time_loop();
    EXPECT_NE(deferred_gradients(), nullptr);
    EXPECT_EQ(training_weights(), &trained);
  }
  EXPECT_EQ(deferred_gradients(), nullptr);
}

TEST(Mode, WithoutKernelsWeightsAreNotPacked) {
  PackedWeights packed;
  const auto mode = Mode::search(packed);
  const auto W = torch::randn({7, 5});
  EXPECT_EQ(search_weights_for(W), &packed);
  EXPECT_EQ(search_weights_for(W.to(torch::kHalf)), nullptr);
  use_reference(true);
  EXPECT_EQ(search_weights_for(W), nullptr);
  use_reference(false);
}

}  // namespace
}  // namespace regard::kernels::mode_test
