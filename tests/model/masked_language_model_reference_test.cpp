// Models of kind masked_language_model: an encoder and a head that predicts masked tokens.
#include <gtest/gtest.h>
#include <torch/utils.h>

#include "decoding/score_targets.h"
#include "model/language_model.h"
#include "tests/gradcheck.h"

namespace regard::masked_language_model_reference_test {
namespace {

constexpr std::int64_t V = 9;

ModelOptions options_of(EncoderKind kind) {
  ModelOptions options;
  options.kind = ModelKind::masked_language_model;
  options.tied_embeddings = TiedEmbeddings::all;
  auto& encoder = options.encoder;
  encoder.kind = kind;
  encoder.layers = 2;
  encoder.embedding_dim = 4;
  encoder.hidden_size = kind == EncoderKind::transformer ? 4 : 3;
  encoder.self_attention.heads = 2;
  encoder.self_attention.feed_forward_size = 5;
  options.dropout = {.embeddings = 0, .states = 0, .readout = 0};
  return options;
}

class MaskedLanguageModelReference : public testing::TestWithParam<EncoderKind> {
 protected:
  void SetUp() override {
    torch::manual_seed(7);
    model_ = std::make_shared<MaskedLanguageModel>(V, options_of(GetParam()));
    model_->to(torch::kDouble);
    model_->eval();
  }
  torch::Tensor readout() {
    return model_->decode(positions_, model_->encode({source_, lengths_})).readout;
  }

  std::shared_ptr<Seq2Seq> model_;
  torch::Tensor source_ = torch::tensor({{5, 1, 6, 1, 3}, {1, 8, 3, 0, 0}});
  torch::Tensor lengths_ = torch::tensor({5, 3});
  torch::Tensor positions_ = torch::tensor({{1, 3}, {0, 0}});
  torch::Tensor tokens_ = torch::tensor({{7, 4}, {5, 0}});
};

TEST_P(MaskedLanguageModelReference, HasAnEncoderAndAHeadAndNoDecoder) {
  for (const auto& [name, parameter] : parameters_of(*model_)) {
    const bool is_known = name == "source_embedding" || name == "output_bias" ||
                          name.starts_with("encoder.") || name.starts_with("source_input.") ||
                          name.starts_with("decoder.W.") || name.starts_with("decoder.norm.");
    EXPECT_TRUE(is_known) << name;
  }
  EXPECT_FALSE(model_->has_attention_weights());
  const auto encoded = model_->encode({source_, lengths_});
  EXPECT_THROW(model_->initial_state(encoded), std::logic_error);
}

TEST_P(MaskedLanguageModelReference, AReadoutIsTheNormOfGeluOfItsState) {
  const torch::NoGradGuard guard;
  std::map<std::string, torch::Tensor> p;
  for (const auto& [name, tensor] : parameters_of(*model_)) p[name] = tensor;
  const auto states = model_->encode({source_, lengths_}).states;
  const auto found = readout();
  for (const auto& [b, t, position] : {std::tuple(0, 0, 1), {0, 1, 3}, {1, 0, 0}}) {
    const auto x =
        torch::mv(p.at("decoder.W.weight"), states[b][position]) + p.at("decoder.W.bias");
    const auto gelu = x * 0.5 * (1 + torch::erf(x / std::sqrt(2.0)));
    const auto norm = (gelu - gelu.mean()) / torch::sqrt(gelu.var(false) + 1e-5);
    const auto expected = p.at("decoder.norm.g") * norm + p.at("decoder.norm.b");
    EXPECT_TRUE(torch::allclose(found[b][t], expected, 1e-9, 1e-10)) << b << t;
  }
}

TEST_P(MaskedLanguageModelReference, APredictionReadsTokensOnBothSides) {
  const auto before = readout();
  for (const auto changed : {0, 2}) {  // before and after the first masked position
    auto other = source_.clone();
    other[0][changed] = 8;
    std::swap(source_, other);
    EXPECT_FALSE(torch::allclose(readout()[0][0], before[0][0])) << changed;
    std::swap(source_, other);
  }
}

TEST_P(MaskedLanguageModelReference, GradientsEqualCentralDifferences) {
  const auto objective = [&] {
    const auto encoded = model_->encode({source_, lengths_});
    return model_->output_layer()
        .loss(model_->decode(positions_, encoded), encoded, {tokens_}, 0.1)
        .objective;
  };
  expect_gradients_match(objective, named_tensors(*model_), 1e-5);
}

TEST_P(MaskedLanguageModelReference, ProbabilitiesDoNotDependOnTheBatch) {
  model_->to(torch::kFloat);
  kernels::PackedWeights packed;
  const auto both = score_masked_tokens(*model_, {source_, lengths_}, positions_, tokens_, packed);
  const auto second = score_masked_tokens(
      *model_, {source_.slice(0, 1).slice(1, 0, 3), lengths_.slice(0, 1)},
      positions_.slice(0, 1).slice(1, 0, 1), tokens_.slice(0, 1).slice(1, 0, 1), packed);
  EXPECT_EQ(both[1][0].item<double>(), second[0][0].item<double>());
  EXPECT_EQ(both[1][1].item<double>(), 0) << "padding";
  EXPECT_LT(both[0][0].item<double>(), 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, MaskedLanguageModelReference,
                         testing::Values(EncoderKind::recurrent, EncoderKind::transformer));

}  // namespace
}  // namespace regard::masked_language_model_reference_test
