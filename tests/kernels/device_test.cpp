#include "kernels/device.h"

#include <ATen/Context.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "kernels/attention.h"
#include "kernels/cross_entropy.h"
#include "kernels/functions.h"
#include "kernels/layer_norm.h"
#include "kernels/linear.h"
#include "kernels/recurrence.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::kernels::device_test {
namespace {

// LibTorch exports parts of the standard library too, which crash in some of its versions.
TEST(Program, CallsTheSystemsStandardLibrary) {
  std::uintmax_t (*remove_all)(const std::filesystem::path&) = std::filesystem::remove_all;
  Dl_info found{};
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(remove_all), &found), 0);
  EXPECT_THAT(found.dli_fname, testing::HasSubstr("libstdc++"));
}

TEST(FindDevice, RefusesWhatIsNoNameAndWhatIsNotThere) {
  EXPECT_EQ(find_device("cpu"), torch::kCPU);
  for (const auto* name : {"cuda:", "cuda:x", "cuda:1x", "cuda:-1", "cuda0", "gpu", ""}) {
    EXPECT_THROW(find_device(name), ConfigError) << name;
  }
  EXPECT_THROW(find_device("cuda:1000"), EnvironmentError);
}

TEST(FindDevice, ComplainsOfTooManyProcessesOnlyIfTheyChooseTheDevice) {
  const auto message_for = [](const std::string& name) {
    return message_of<EnvironmentError>([&] { find_device(name, 1000); });
  };
  EXPECT_THAT(message_for("cuda"), testing::HasSubstr("1001 processes or more train"));
  EXPECT_THAT(message_for("cuda:1000"), testing::HasSubstr("cuda:1000 was asked for"));
}

TEST(Tf32, IsAllowedToAllLibrariesOrToNone) {
  for (const bool allowed : {true, false}) {
    allow_tf32(allowed);
    EXPECT_EQ(at::globalContext().allowTF32CuBLAS(), allowed);
    EXPECT_EQ(at::globalContext().allowTF32CuDNN(), allowed);
  }
}

class Fused : public testing::Test {
 protected:
  ~Fused() override { use_reference(false); }
};

// A hand-written gradient is a node of this kind; LibTorch's own operations have others.
bool is_fused(const torch::Tensor& output) {
  auto node = output.grad_fn();
  if (node->name() == "ViewBackward0") node = node->next_edge(0).function;
  return node->name().find("CppNode") != std::string::npos;
}

std::vector<bool> which_are_fused() {
  const auto draw = [](at::IntArrayRef sizes) { return torch::randn(sizes).requires_grad_(); };
  const AttentionScore score{
      .form = ScoreForm::dot, .keys = draw({2, 3, 4}), .lengths = torch::tensor({3, 2})};
  return {is_fused(attention_weights(score, draw({2, 4}))),
          is_fused(recurrence(draw({2, 3, 12}), draw({3, 4}),
                              {CellForm::gru_reset_after, draw({4, 12}), draw({4})})
                       .outputs),
          is_fused(linear_cross_entropy(draw({3, 4}), draw({7, 4}), draw({7}),
                                        torch::tensor({1, 0, 6}), 0.1)
                       .loss),
          is_fused(kernels::dropout(draw({3, 4}), KeyedDropout{0.5, 1})),
          is_fused(add_and_norm(draw({3, 4}), draw({3, 4}), {}, draw({4}), draw({4})).norm),
          is_fused(linear_relu(draw({3, 4}), draw({5, 4}), draw({5}), {}))};
}

TEST_F(Fused, UseReferenceReplacesEveryKernelAndUndoesIt) {
  EXPECT_EQ(which_are_fused(), std::vector<bool>(6, true));
  use_reference(true);
  EXPECT_EQ(which_are_fused(), std::vector<bool>(6, false));
  use_reference(false);
  EXPECT_EQ(which_are_fused(), std::vector<bool>(6, true));
}

}  // namespace
}  // namespace regard::kernels::device_test
