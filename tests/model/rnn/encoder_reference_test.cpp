#include "model/rnn/encoder.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include "tests/gradcheck.h"

namespace regard::rnn_encoder_reference_test {
namespace {

EncoderOptions small(bool bidirectional, std::int64_t layers) {
  EncoderOptions options;
  options.embedding_dim = 3;
  options.hidden_size = 4;
  options.layers = layers;
  options.bidirectional = bidirectional;
  return options;
}

void copy_parameters(const torch::nn::Module& from, torch::nn::Module& to) {
  const torch::NoGradGuard guard;
  for (auto& item : to.named_parameters()) {
    item.value().copy_(from.named_parameters()[item.key()]);
  }
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

TEST_F(EncoderReference, ReverseReadsTheReversedSentence) {
  auto options = small(false, 2);
  options.reverse = true;
  RecurrentEncoder backward(options, 0);
  RecurrentEncoder forward(small(false, 2), 0);
  for (auto* encoder : {&backward, &forward}) encoder->to(torch::kDouble);
  copy_parameters(backward, forward);
  const auto found = backward.forward(x_, lengths_);
  for (std::int64_t b = 0; b < 3; ++b) {
    const auto length = lengths_[b].item<std::int64_t>();
    const auto turned = x_.narrow(0, b, 1).narrow(1, 0, length).flip({1});
    const auto expected = forward.forward(turned, lengths_.narrow(0, b, 1));
    EXPECT_TRUE(torch::allclose(found.states[b].slice(0, 0, length), expected.states[0].flip({0}),
                                1e-12, 1e-12));
    EXPECT_TRUE(torch::allclose(found.summary[b], expected.summary[0], 1e-12, 1e-12));
  }
}

TEST_F(EncoderReference, TheLastStatesOfTheLayersAreThoseOfOneStepAfterTheOther) {
  for (const auto cell : {CellKind::gru, CellKind::lstm, CellKind::tanh}) {
    auto options = small(false, 2);
    options.cell = cell;
    EXPECT_TRUE(
        RecurrentEncoder(options, 0).forward(x_.to(torch::kFloat), lengths_).last_states.empty());
    RecurrentEncoder encoder(options, 0, /*want_last_states=*/true);
    encoder.to(torch::kDouble);
    const auto found = encoder.forward(x_, lengths_).last_states;
    ASSERT_EQ(found.size(), 2);
    for (std::int64_t b = 0; b < 3; ++b) {
      auto input = x_[b].slice(0, 0, lengths_[b].item<std::int64_t>());  // [n, E]
      for (std::size_t l = 0; l < 2; ++l) {
        auto& layer = encoder.layer(l);
        auto s = torch::zeros({1, layer.state_size()}, torch::kDouble);
        std::vector<torch::Tensor> outputs;
        for (const auto& x_t : input.unbind(0)) {
          s = layer.step(layer.project(x_t.view({1, 1, -1}))[0], s);
          outputs.push_back(layer.hidden_output(s)[0]);
        }
        EXPECT_TRUE(torch::allclose(found[l][b], s[0], 1e-12, 1e-12));
        input = torch::stack(outputs);
      }
    }
  }
}

TEST_F(EncoderReference, TheLastStatesOfBothDirectionsAreSideBySide) {
  auto options = small(true, 1);
  options.cell = CellKind::lstm;
  RecurrentEncoder encoder(options, 0, /*want_last_states=*/true);
  encoder.to(torch::kDouble);
  const auto found = encoder.forward(x_, lengths_);
  ASSERT_EQ(found.last_states[0].sizes(), at::IntArrayRef({3, 16}));  // h of both, c of both
  EXPECT_TRUE(torch::equal(found.last_states[0].narrow(1, 0, 8), found.summary));
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

TEST_F(EncoderReference, APyramidReadsPairsOfStatesAndHalvesTheLengths) {
  auto options = small(true, 3);
  options.pyramidal = true;
  RecurrentEncoder pyramid(options, 0);
  pyramid.to(torch::kDouble);
  const auto together = pyramid.forward(x_, lengths_);
  EXPECT_TRUE(together.lengths.equal(torch::tensor({2, 1, 1})));
  EXPECT_EQ(together.states.size(1), 2);

  // Each layer as an encoder of its own, one sentence at a time.
  for (std::int64_t b = 0; b < 3; ++b) {
    const auto length = lengths_[b].item<std::int64_t>();
    auto x = x_.narrow(0, b, 1).narrow(1, 0, length);
    torch::Tensor summary;
    for (int l = 0; l < 3; ++l) {
      if (l > 0) {
        if (x.size(1) % 2 == 1) x = torch::cat({x, torch::zeros_like(x.narrow(1, 0, 1))}, 1);
        x = torch::cat({x.slice(1, 0, {}, 2), x.slice(1, 1, {}, 2)}, 2);
      }
      auto one = small(true, 1);
      one.embedding_dim = x.size(2);
      RecurrentEncoder layer(one, 0);
      layer.to(torch::kDouble);
      const torch::NoGradGuard guard;
      for (auto& parameter : layer.named_parameters()) {
        auto name = parameter.key();
        name.replace(name.find("layer0"), 6, "layer" + std::to_string(l));
        parameter.value().copy_(pyramid.named_parameters()[name]);
      }
      const auto output = layer.forward(x, torch::tensor({x.size(1)}));
      x = output.states;
      summary = output.summary;
    }
    ASSERT_EQ(x.size(1), together.lengths[b].item<std::int64_t>());
    EXPECT_TRUE(torch::allclose(x[0], together.states[b].slice(0, 0, x.size(1)), 1e-12, 1e-12));
    EXPECT_TRUE(torch::allclose(summary[0], together.summary[b], 1e-12, 1e-12));
  }
}

}  // namespace
}  // namespace regard::rnn_encoder_reference_test
