#include "model/rnn/encoder.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include "tests/gradcheck.h"

namespace regard {
namespace {

EncoderOptions small(bool bidirectional, std::int64_t layers) {
  EncoderOptions options;
  options.embedding_dim = 3;
  options.hidden_size = 4;
  options.layers = layers;
  options.bidirectional = bidirectional;
  return options;
}

class EncoderReference : public testing::Test {
 protected:
  void SetUp() override { torch::manual_seed(5); }
  torch::Tensor x_ = torch::randn({3, 6, 3}, torch::kDouble);
  torch::Tensor lengths_ = torch::tensor({6, 4, 1});
};

TEST_F(EncoderReference, ARaggedBatchEqualsItsSentencesOneAtATime) {
  for (const bool bidirectional : {false, true}) {
    RecurrentEncoder encoder(small(bidirectional, 2), 0);
    encoder.to(torch::kDouble);
    const auto together = encoder.forward(x_, lengths_);
    for (std::int64_t b = 0; b < 3; ++b) {
      const auto length = lengths_[b].item<std::int64_t>();
      const auto alone =
          encoder.forward(x_.narrow(0, b, 1).narrow(1, 0, length), lengths_.narrow(0, b, 1));
      EXPECT_TRUE(
          torch::allclose(alone.states[0], together.states[b].slice(0, 0, length), 1e-12, 1e-12));
      EXPECT_TRUE(torch::allclose(alone.summary[0], together.summary[b], 1e-12, 1e-12));
      EXPECT_EQ(together.mask[b].sum().item<std::int64_t>(), length);
    }
  }
}

TEST_F(EncoderReference, TheBackwardDirectionReadsFromTheLastTokenToTheFirst) {
  RecurrentEncoder encoder(small(true, 1), 0);
  encoder.to(torch::kDouble);
  const auto one = x_.narrow(0, 0, 1);
  const auto output = encoder.forward(one, torch::tensor({6}));
  // Swapping the two directions' weights and turning the sentence round swaps the halves.
  {
    const torch::NoGradGuard guard;
    for (auto& parameter : encoder.parameters()) parameter.copy_(parameter.flip({0}).clone());
  }
  const auto turned = encoder.forward(one.flip({1}), torch::tensor({6}));
  const auto halves = turned.states.flip({1}).chunk(2, -1);
  EXPECT_TRUE(torch::allclose(output.states, torch::cat({halves[1], halves[0]}, -1), 1e-12, 1e-12));
}

TEST_F(EncoderReference, TheSummaryHoldsEachDirectionsStateAfterTheWholeSentence) {
  RecurrentEncoder encoder(small(true, 1), 0);
  encoder.to(torch::kDouble);
  const auto output = encoder.forward(x_, lengths_);
  for (std::int64_t b = 0; b < 3; ++b) {
    const auto end = lengths_[b].item<std::int64_t>() - 1;
    EXPECT_TRUE(
        torch::equal(output.summary[b].slice(0, 0, 4), output.states[b][end].slice(0, 0, 4)));
    EXPECT_TRUE(torch::equal(output.summary[b].slice(0, 4), output.states[b][0].slice(0, 4)));
  }
}

TEST_F(EncoderReference, GradientsEqualCentralDifferences) {
  RecurrentEncoder encoder(small(true, 2), 0);
  encoder.to(torch::kDouble);
  x_.requires_grad_();
  auto tensors = named_tensors(encoder);
  tensors.emplace_back("x", x_);
  const auto along = torch::randn({3, 6, 8}, torch::kDouble);
  expect_gradients_match(
      [&] {
        const auto output = encoder.forward(x_, lengths_);
        return (output.states * along * output.mask.unsqueeze(-1)).sum() + output.summary.sum();
      },
      tensors);
}

}  // namespace
}  // namespace regard
