#include "model/transformer/multi_head_attention.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include "kernels/mode.h"
#include "kernels/packed_weights.h"
#include "model/random_stream.h"
#include "tests/gradcheck.h"
#include "tests/model/transformer/plain.h"
#include "tests/model/transformer/sizes.h"

namespace regard::multi_head_attention_reference_test {
namespace {

constexpr std::int64_t B = 3, T = 4, S = 5, D = 6, C = 3;

struct Case {
  Case() { draw_parameters(attention); }
  torch::Tensor y() { return attended(false).y; }
  kernels::HeadsOutput attended(bool want_weights) {
    return attention.forward(x, attention.keys_and_values(z), padding, false, want_weights);
  }

  MultiHeadAttention attention{D, C, /*heads=*/3, /*dropout=*/0};
  torch::Tensor x = torch::randn({B, T, D}, torch::kDouble);
  torch::Tensor z = torch::randn({B, S, C}, torch::kDouble);
  torch::Tensor lengths = torch::tensor({5, 3, 1});
  torch::Tensor mask = torch::arange(S) < lengths.unsqueeze(1);
  kernels::Padding padding = kernels::make_padding(mask, lengths, x);
};

TEST(MultiHeadAttentionReference, ValuesAndWeightsEqualThoseOfPlainLoops) {
  torch::manual_seed(1);
  Case c;
  const auto attended = c.attended(true);
  EXPECT_TRUE(torch::allclose(attended.y, c.y(), 1e-12, 1e-12)) << "fused and not";
  const plain::Transformer plain(c.attention, 3, false);
  for (std::int64_t b = 0; b < B; ++b) {
    const auto n = c.lengths[b].item<std::int64_t>();
    const auto expected =
        plain.attend("", plain::rows_of(c.x[b]), plain::rows_of(c.z[b].narrow(0, 0, n)), false);
    EXPECT_TRUE(plain::close(attended.y[b], expected.y)) << b;
    EXPECT_TRUE(plain::close(attended.weights[b], expected.weights)) << b;
  }
  EXPECT_TRUE(
      attended.weights.masked_select(c.mask.logical_not().unsqueeze(1)).eq(0).all().item<bool>());
}

TEST(MultiHeadAttentionReference, UnderACausalMaskEachPositionSeesItselfAndThoseBefore) {
  torch::manual_seed(2);
  MultiHeadAttention attention(D, D, 2, 0);
  draw_parameters(attention);
  const auto x = torch::randn({1, T, D}, torch::kDouble);
  const auto kv = attention.keys_and_values(x);
  const plain::Transformer plain(attention, 2, false);
  const auto expected = plain.attend("", plain::rows_of(x[0]), plain::rows_of(x[0]), true);
  for (const bool want_weights : {false, true}) {
    const auto attended = attention.forward(x, kv, {}, true, want_weights);
    EXPECT_TRUE(plain::close(attended.y[0], expected.y)) << want_weights;
  }
}

TEST(MultiHeadAttentionReference, InASearchWantedWeightsLeaveTheBitsOfSelfAttention) {
  torch::manual_seed(5);
  MultiHeadAttention attention(D, D, 3, 0);
  draw_parameters(attention);
  const auto x = torch::randn({B, S, D}, torch::kDouble);
  const auto lengths = torch::tensor({5, 3, 1});
  const auto mask = torch::arange(S) < lengths.unsqueeze(1);
  const auto padding = kernels::make_padding(mask, lengths, x, /*is_self_attention=*/true);
  const auto run = [&](bool want_weights) {
    return attention.forward(x, attention.keys_and_values(x), padding, false, want_weights);
  };
  const auto by_reference = run(true);
  const torch::InferenceMode guard;
  kernels::PackedWeights packed;
  const auto mode = kernels::Mode::search(packed);
  const auto wanted = run(true);
  EXPECT_TRUE(torch::equal(wanted.y, run(false).y));
  EXPECT_FALSE(run(false).heads.defined());
  for (std::int64_t b = 0; b < B; ++b) {
    const auto n = lengths[b].item<std::int64_t>();
    const auto real = [&](const torch::Tensor& heads) { return heads[b].narrow(1, 0, n); };
    EXPECT_TRUE(torch::allclose(real(wanted.heads), real(by_reference.heads), 1e-12, 1e-12)) << b;
  }
}

TEST(MultiHeadAttentionReference, GradientsEqualCentralDifferences) {
  torch::manual_seed(3);
  Case c;
  const auto along = torch::randn({B, T, D}, torch::kDouble);
  auto tensors = named_tensors(c.attention);
  tensors.emplace_back("x", c.x.requires_grad_());
  tensors.emplace_back("z", c.z.requires_grad_());
  expect_gradients_match([&] { return (c.y() * along).sum(); }, tensors);
}

TEST(MultiHeadAttention, DropoutFallsOnTheWeightsInTrainingOnly) {
  torch::manual_seed(4);
  MultiHeadAttention attention(D, D, 2, 0.5);
  draw_parameters(attention);
  const auto x = torch::randn({B, T, D}, torch::kDouble);
  const auto kv = attention.keys_and_values(x);
  const auto run = [&] { return attention.forward(x, kv, {}, false, false).y; };
  const RandomStream stream(1, 2);
  EXPECT_FALSE(torch::allclose(run(), run()));
  attention.eval();
  EXPECT_TRUE(torch::equal(run(), run()));
}

TEST(MultiHeadAttention, ABatchWithoutPaddingNeedsNoBias) {
  const auto lengths = torch::tensor({4, 4});
  const auto mask = torch::ones({2, 4}, torch::kBool);
  EXPECT_FALSE(kernels::make_padding(mask, lengths, torch::empty({0})).bias.defined());
}

}  // namespace
}  // namespace regard::multi_head_attention_reference_test
