#include "model/transformer/encoder.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include "model/rnn/encoder.h"
#include "tests/gradcheck.h"
#include "tests/model/transformer/plain.h"
#include "tests/model/transformer/sizes.h"

namespace regard::transformer_encoder_reference_test {
namespace {

constexpr std::int64_t B = 3, S = 5, D = 8, L = 2;

class TransformerEncoderReference : public testing::TestWithParam<LayersCase> {
 protected:
  void SetUp() override {
    torch::manual_seed(1);
    draw_parameters(encoder_);
    x_ = torch::randn({B, S, D}, torch::kDouble);
  }
  plain::Transformer plain_loops() const {
    return {encoder_, 2, GetParam().is_pre(), GetParam().is_rotary()};
  }

  TransformerEncoder encoder_{D, L, GetParam().options(), no_dropout};
  torch::Tensor x_;
  torch::Tensor lengths_ = torch::tensor({5, 3, 1});
};

TEST_P(TransformerEncoderReference, EachSentenceOfARaggedBatchEqualsThatOfPlainLoops) {
  const auto out = encoder_.forward(x_, lengths_);
  const auto plain = plain_loops();
  for (std::int64_t b = 0; b < B; ++b) {
    const auto n = lengths_[b].item<std::int64_t>();
    const auto alone = x_.narrow(0, b, 1).narrow(1, 0, n);
    const auto expected = plain.encode(plain::rows_of(alone[0]), L);
    EXPECT_TRUE(plain::close(out.states[b], expected)) << b;
    const auto one = encoder_.forward(alone, lengths_.narrow(0, b, 1));
    EXPECT_TRUE(plain::close(one.states[0], expected)) << b;
    EXPECT_TRUE(torch::allclose(out.summary[b], one.states[0].mean(0), 1e-12, 1e-12)) << b;
    EXPECT_EQ(out.mask[b].sum().item<std::int64_t>(), n);
  }
}

TEST_P(TransformerEncoderReference, SelfAttentionOfEachHeadEqualsThatOfPlainLoops) {
  std::vector<torch::Tensor> heads;
  const auto out = encoder_.forward(x_, lengths_, &heads);
  EXPECT_TRUE(torch::allclose(out.summary, encoder_.forward(x_, lengths_).summary, 1e-12, 1e-12));
  ASSERT_EQ(heads.size(), L);
  const auto plain = plain_loops();
  for (std::int64_t b = 0; b < B; ++b) {
    const auto n = lengths_[b].item<std::int64_t>();
    plain::Transformer::Heads expected;
    plain.encode(plain::rows_of(x_[b].narrow(0, 0, n)), L, &expected);
    for (std::size_t l = 0; l < L; ++l) {
      for (std::int64_t h = 0; h < 2; ++h) {
        const auto alpha = heads[l][b][h].narrow(0, 0, n);  // [n, S]
        EXPECT_TRUE(plain::close(alpha, expected[l][static_cast<std::size_t>(h)]));
        EXPECT_TRUE(torch::allclose(alpha.sum(1), torch::ones({n}, torch::kDouble)));
        EXPECT_TRUE(alpha.slice(1, n).eq(0).all().item<bool>()) << "padding";
      }
    }
  }
}

TEST_P(TransformerEncoderReference, GradientsEqualCentralDifferences) {
  const auto along = torch::randn({B, D}, torch::kDouble);
  auto tensors = named_tensors(encoder_);
  tensors.emplace_back("x", x_.requires_grad_());
  expect_gradients_match(
      [&] {
        const auto out = encoder_.forward(x_, lengths_);
        return (out.summary * along).sum() + out.states.masked_select(out.mask.unsqueeze(-1)).sum();
      },
      tensors, 1e-5);
}

TEST_P(TransformerEncoderReference, APermutedSentenceHasPermutedStatesUnlessPositionsAreRotary) {
  const auto order = torch::tensor({3, 0, 4, 1, 2});
  const auto x = x_.narrow(0, 0, 1);
  const auto lengths = torch::tensor({S});
  const auto states = encoder_.forward(x, lengths).states;
  const auto permuted = encoder_.forward(x.index_select(1, order), lengths).states;
  EXPECT_EQ(torch::allclose(states.index_select(1, order), permuted, 1e-12, 1e-12),
            !GetParam().is_rotary());
}

INSTANTIATE_TEST_SUITE_P(Layers, TransformerEncoderReference, testing::ValuesIn(layers_cases()),
                         name_of_layers);

TEST(SelfAttentionEncoder, IsATransformerOverTheStatesBelow) {
  torch::manual_seed(2);
  EncoderOptions options;
  options.embedding_dim = 3;
  options.hidden_size = 2;
  options.self_attention_layers = L;
  options.self_attention = small_attention();
  const auto lengths = torch::tensor({5, 3});
  const auto x = torch::randn({2, S, 3}, torch::kDouble);
  for (const auto position : {PositionKind::automatic, PositionKind::sinusoidal,
                              PositionKind::learned, PositionKind::rotary}) {
    options.self_attention.position = position;
    const auto below = std::make_shared<RecurrentEncoder>(options, 0);
    SelfAttentionEncoder encoder(below, options, no_dropout);
    draw_parameters(encoder);
    const auto out = encoder.forward(x, lengths);
    auto states = below->forward(x, lengths).states;
    Positions positions(options.self_attention, 4, "model.encoder");
    positions.to(torch::kDouble);
    const torch::NoGradGuard guard;
    if (position == PositionKind::learned) {
      positions.parameters()[0].copy_(encoder.named_parameters()["positions.p"]);
    }
    states = positions.add_to(states);
    TransformerEncoder hidden(4, L, options.self_attention, no_dropout);
    hidden.to(torch::kDouble);
    auto parameters = encoder.named_parameters();
    for (auto& item : hidden.named_parameters()) {
      item.value().copy_(parameters["self_attention." + item.key()]);
    }
    const plain::Transformer plain(hidden, 2, true, position == PositionKind::rotary);
    plain::Transformer::Heads expected;
    EXPECT_TRUE(plain::close(out.states[0], plain.encode(plain::rows_of(states[0]), L, &expected)));
    std::vector<torch::Tensor> heads;
    encoder.forward(x, lengths, &heads);
    ASSERT_EQ(heads.size(), L);
    for (std::size_t l = 0; l < L; ++l) {
      EXPECT_TRUE(plain::close(heads[l][0][1], expected[l][1]));
    }
    EXPECT_EQ(encoder.state_size(), 4);
  }
}

}  // namespace
}  // namespace regard::transformer_encoder_reference_test
