#include "model/convolutional_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include "base/error.h"
#include "tests/gradcheck.h"

namespace regard::convolutional_encoder_reference_test {
namespace {

// Images of 8 × 12 pixels of two numbers: a grid of 2 × 3 cells.
EncoderOptions small() {
  EncoderOptions options;
  options.kind = EncoderKind::convolutional;
  options.image_height = 8;
  options.image_channels = 2;
  options.numbers = 24;
  options.layers = 2;
  options.hidden_size = 6;
  return options;
}

class ConvolutionalEncoderReference : public testing::Test {
 protected:
  ConvolutionalEncoderReference() {
    torch::manual_seed(3);
    encoder_.to(torch::kDouble);
    const torch::NoGradGuard guard;
    for (auto& parameter : encoder_.parameters()) {
      parameter.add_(torch::randn_like(parameter), 0.1);  // also the gain and bias of the norms
    }
  }
  // Returns images as a batch has them: a row for </s>, and a column that is 1 there.
  static torch::Tensor frames_of(const torch::Tensor& images) {
    const auto B = images.size(0);
    auto frames = torch::zeros({B, 9, 25}, images.options());
    frames.narrow(1, 0, 8).narrow(2, 0, 24).copy_(images.reshape({B, 8, 24}));
    frames.select(1, 8).select(1, 24).fill_(1);
    return frames;
  }
  // Returns norm(W * x) of x [B, H, W, C] by LibTorch.
  torch::Tensor normalised_convolution(const torch::Tensor& x, const std::string& name) {
    const auto weight = parameter(name + ".weight");
    const auto channels = weight.size(0);
    const auto kernel = weight.view({channels, 3, 3, x.size(3)}).permute({0, 3, 1, 2});
    const auto y = torch::conv2d(x.permute({0, 3, 1, 2}), kernel, {}, 1, 1).permute({0, 2, 3, 1});
    return torch::layer_norm(y, {channels}, parameter(name + "_norm.g"),
                             parameter(name + "_norm.b"), 1e-5);
  }
  torch::Tensor parameter(const std::string& name) { return encoder_.named_parameters()[name]; }

  ConvolutionalEncoder encoder_{small(), 0};
  torch::Tensor images_ = torch::randn({3, 8, 12, 2}, torch::kDouble);
  torch::Tensor lengths_ = torch::full({3}, 9, torch::kInt64);
};

TEST_F(ConvolutionalEncoderReference, EqualsLayersOfLibTorch) {
  auto x = images_;
  for (const std::string l : {"0", "1"}) {
    const auto y = torch::relu(normalised_convolution(x, "block" + l));
    x = torch::max_pool2d(y.permute({0, 3, 1, 2}), {2, 2}).permute({0, 2, 3, 1});
  }
  x = x + parameter("positions").view({2, 3, 6});
  for (const std::string k : {"0", "1", "2"})
    x = x + torch::relu(normalised_convolution(x, "grid" + k));
  const auto expected = x.flatten(1, 2);
  const auto found = encoder_.forward(frames_of(images_), lengths_);
  ASSERT_EQ(found.states.sizes(), at::IntArrayRef({3, 6, 6}));
  EXPECT_TRUE(torch::allclose(found.states, expected, 1e-10, 1e-10));
  EXPECT_TRUE(torch::allclose(found.summary, expected.mean(1), 1e-10, 1e-10));
  EXPECT_TRUE(found.lengths.equal(torch::full({3}, 6, torch::kInt64)));
  EXPECT_TRUE(found.mask.all().item<bool>());
}

TEST_F(ConvolutionalEncoderReference, GradientsEqualCentralDifferences) {
  auto options = small();
  options.numbers = 8;  // 4 pixels: 2 × 1 cells
  options.hidden_size = 4;
  ConvolutionalEncoder encoder(options, 0);
  encoder.to(torch::kDouble);
  std::vector<std::pair<std::string, torch::Tensor>> tensors;
  for (const auto& item : encoder.named_parameters()) {
    tensors.emplace_back(item.key(), item.value());
  }
  const auto frames = torch::randn({1, 9, 9}, torch::kDouble);
  const auto along = torch::randn({1, 2, 4}, torch::kDouble);
  expect_gradients_match(
      [&] {
        const auto output = encoder.forward(frames, torch::tensor({9}));
        return (output.states * along).sum() + output.summary.square().sum();
      },
      tensors);
}

TEST_F(ConvolutionalEncoderReference, AStateDependsOnThePixelsAroundItsCellOnly) {
  auto options = small();
  options.numbers = 64;  // 32 pixels: 2 × 8 cells
  ConvolutionalEncoder wide(options, 0);
  auto frames = torch::randn({1, 9, 65});
  const auto lengths = torch::tensor({9});
  const auto before = wide.forward(frames, lengths).states;
  frames.narrow(2, 0, 2).add_(1);  // the left edge
  const auto after = wide.forward(frames, lengths).states;
  const auto differs = (before - after).abs().amax(2)[0].gt(0).view({2, 8});
  EXPECT_TRUE(differs.select(1, 0).all().item<bool>());
  EXPECT_TRUE(differs.select(1, 3).any().item<bool>());
  EXPECT_FALSE(differs.narrow(1, 5, 3).any().item<bool>());
}

TEST_F(ConvolutionalEncoderReference, AnotherHeightIsAnError) {
  const auto frames = frames_of(images_);
  const auto expect_refused = [&](const torch::Tensor& batch, const torch::Tensor& lengths,
                                  const std::string& found) {
    EXPECT_THAT([&] { encoder_.forward(batch, lengths); },
                testing::ThrowsMessage<InputError>(testing::HasSubstr(
                    "found an image of " + found + " rows of pixels, expected 8")));
  };
  expect_refused(frames.narrow(1, 0, 7), lengths_ - 2, "6");
  expect_refused(frames, torch::tensor({9, 9, 5}), "4");
  expect_refused(torch::cat({frames, frames}, 1), lengths_ + 9, "17");
}

}  // namespace
}  // namespace regard::convolutional_encoder_reference_test
