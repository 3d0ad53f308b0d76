#include "model/transformer/decoder.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include "tests/gradcheck.h"
#include "tests/model/transformer/plain.h"
#include "tests/model/transformer/sizes.h"

namespace regard::transformer_decoder_reference_test {
namespace {

constexpr std::int64_t B = 2, T = 4, S = 3, D = 8, C = 6, L = 2;

DecoderOptions small_decoder(const LayersCase& layers) {
  DecoderOptions options;
  options.kind = LayerKind::transformer;
  options.embedding_dim = options.hidden_size = D;
  options.layers = L;
  options.self_attention = layers.options();
  return options;
}

class TransformerDecoderReference : public testing::TestWithParam<LayersCase> {
 protected:
  void SetUp() override {
    torch::manual_seed(1);
    draw_parameters(decoder_);
    x_ = torch::randn({B, T, D}, torch::kDouble);
    states_ = torch::randn({B, S, C}, torch::kDouble);
  }
  EncoderOutput encoded() { return encoded(decoder_); }
  EncoderOutput encoded(TransformerDecoder& decoder) {
    EncoderOutput encoded;
    encoded.states = states_;
    encoded.set_lengths(torch::tensor({3, 2}), S, torch::kCPU);
    decoder.prepare(encoded);
    return encoded;
  }
  // The result of sentence b, in plain numbers.
  plain::Transformer::DecoderOutput expected(std::int64_t b) {
    const plain::Transformer plain(decoder_, 2, GetParam().is_pre(), GetParam().is_rotary());
    return plain.decode(plain::rows_of(x_[b]), plain::rows_of(states_[b].narrow(0, 0, S - b)), L);
  }

  TransformerDecoder decoder_{C, small_decoder(GetParam()), no_dropout, true};
  torch::Tensor x_;
  torch::Tensor states_;
};

TEST_P(TransformerDecoderReference, AllStepsAtOnceEqualPlainLoops) {
  const auto all = decoder_.forward(x_, encoded());
  TransformerDecoder fused(C, small_decoder(GetParam()), no_dropout, false);
  const auto parameters = decoder_.parameters();
  {
    const torch::NoGradGuard guard;
    fused.to(torch::kDouble);
    for (std::size_t i = 0; i < parameters.size(); ++i) fused.parameters()[i].copy_(parameters[i]);
  }
  const auto of_fused = fused.forward(x_, encoded(fused));
  EXPECT_FALSE(of_fused.weights.defined());
  for (std::int64_t b = 0; b < B; ++b) {
    EXPECT_TRUE(plain::close(all.readout[b], expected(b).readout)) << b;
    EXPECT_TRUE(plain::close(all.weights[b], expected(b).weights)) << b;
    EXPECT_TRUE(plain::close(of_fused.readout[b], expected(b).readout)) << b;
  }
}

TEST_P(TransformerDecoderReference, SelfAttentionOfEachHeadEqualsThatOfPlainLoops) {
  std::vector<torch::Tensor> heads;
  decoder_.forward(x_, encoded(), /*want_weights=*/false, &heads);
  ASSERT_EQ(heads.size(), L);
  const auto later = torch::ones({T, T}, torch::kBool).triu(1);
  for (std::int64_t b = 0; b < B; ++b) {
    const auto plain = expected(b).self_attention;
    for (std::size_t l = 0; l < L; ++l) {
      for (std::int64_t h = 0; h < 2; ++h) {
        const auto alpha = heads[l][b][h];  // [T, T]
        EXPECT_TRUE(plain::close(alpha, plain[l][static_cast<std::size_t>(h)]));
        EXPECT_TRUE(torch::allclose(alpha.sum(1), torch::ones({T}, torch::kDouble)));
        EXPECT_TRUE(alpha.masked_select(later).eq(0).all().item<bool>()) << "the future";
      }
    }
  }
}

TEST_P(TransformerDecoderReference, StepByStepReadoutsAndWeightsEqualPlainLoops) {
  const auto source = encoded();
  auto state = decoder_.initial_state(source);
  std::vector<torch::Tensor> readouts;
  std::vector<torch::Tensor> weights;
  for (std::int64_t t = 0; t < T; ++t) {
    auto step = decoder_.step(x_.select(1, t), state, source);
    readouts.push_back(step.readout);
    weights.push_back(step.weights);
    state = std::move(step.state);
  }
  for (std::int64_t b = 0; b < B; ++b) {
    const auto plain = expected(b);
    EXPECT_TRUE(plain::close(torch::stack(readouts, 1)[b], plain.readout)) << b;
    EXPECT_TRUE(plain::close(torch::stack(weights, 1)[b], plain.weights)) << b;
  }
  EXPECT_EQ(torch::stack(weights, 1)[1].select(1, 2).abs().max().item<double>(), 0) << "padding";
}

TEST_P(TransformerDecoderReference, TheFutureChangesNothing) {
  const auto before = decoder_.forward(x_, encoded()).readout;
  for (std::int64_t t = 1; t < T; ++t) {
    auto changed = x_.clone();
    changed.slice(1, t).normal_();
    const auto after = decoder_.forward(changed, encoded()).readout;
    EXPECT_TRUE(torch::equal(after.narrow(1, 0, t), before.narrow(1, 0, t))) << t;
    EXPECT_FALSE(torch::allclose(after.select(1, t), before.select(1, t))) << t;
  }
}

TEST_P(TransformerDecoderReference, HypothesesOfASentenceShareItsSourceAndKeepTheirOwnPast) {
  const auto source = encoded();
  const auto rows = torch::tensor({0, 0, 1, 1});
  const auto other = torch::randn({B, T, D}, torch::kDouble);
  auto one = decoder_.initial_state(source);
  auto two = decoder_.initial_state(source);
  auto both = decoder_.initial_state(source).select(RowIndices{rows, rows});
  for (std::int64_t t = 0; t < T; ++t) {
    const auto a = decoder_.step(x_.select(1, t), one, source);
    const auto b = decoder_.step(other.select(1, t), two, source);
    const auto x = torch::stack({x_.select(1, t), other.select(1, t)}, 1).flatten(0, 1);
    const auto together = decoder_.step(x, both, source);
    EXPECT_TRUE(torch::allclose(together.readout,
                                torch::stack({a.readout, b.readout}, 1).flatten(0, 1), 1e-12));
    EXPECT_TRUE(torch::allclose(together.weights,
                                torch::stack({a.weights, b.weights}, 1).flatten(0, 1), 1e-12));
    one = a.state;
    two = b.state;
    both = together.state;
  }
}

TEST_P(TransformerDecoderReference, GradientsEqualCentralDifferences) {
  const auto along = torch::randn({B, T, D}, torch::kDouble);
  auto tensors = named_tensors(decoder_);
  tensors.emplace_back("x", x_.requires_grad_());
  tensors.emplace_back("states", states_.requires_grad_());
  expect_gradients_match([&] { return (decoder_.forward(x_, encoded()).readout * along).sum(); },
                         tensors, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Layers, TransformerDecoderReference, testing::ValuesIn(layers_cases()),
                         name_of_layers);

}  // namespace
}  // namespace regard::transformer_decoder_reference_test
