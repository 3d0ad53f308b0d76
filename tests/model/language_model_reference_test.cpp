// Models of kind language_model: a decoder without a source.
#include <gtest/gtest.h>
#include <torch/utils.h>

#include "decoding/search.h"
#include "model/language_model.h"
#include "tests/gradcheck.h"

namespace regard::language_model_reference_test {
namespace {

constexpr std::int64_t V = 9;

ModelOptions options_of(LayerKind kind, CellKind cell = CellKind::gru, bool feeding = false) {
  ModelOptions options;
  options.kind = ModelKind::language_model;
  auto& decoder = options.decoder;
  decoder.kind = kind;
  decoder.cell = cell;
  decoder.input_feeding = feeding;
  decoder.layers = 2;
  decoder.embedding_dim = decoder.hidden_size = decoder.readout_size = 4;
  decoder.self_attention.heads = 2;
  decoder.self_attention.feed_forward_size = 5;
  options.dropout = {.embeddings = 0, .states = 0, .readout = 0};
  return options;
}

const std::vector<ModelOptions> all_options = {
    options_of(LayerKind::recurrent), options_of(LayerKind::recurrent, CellKind::lstm),
    options_of(LayerKind::recurrent, CellKind::gru, /*feeding=*/true),
    options_of(LayerKind::transformer)};

class LanguageModelReference : public testing::TestWithParam<ModelOptions> {
 protected:
  void SetUp() override {
    torch::manual_seed(6);
    model_ = std::make_shared<LanguageModel>(V, GetParam());
    model_->to(torch::kDouble);
    model_->eval();
  }
  EncoderOutput encoded() { return model_->encode({source_, lengths_}); }
  torch::Tensor objective() {
    const auto encoded_source = encoded();
    return model_->output_layer()
        .loss(model_->decode(input_, encoded_source), encoded_source, {output_}, 0.1)
        .objective;
  }

  std::shared_ptr<Seq2Seq> model_;
  // A language model reads any source line as <unk> </s> (text/plain_tokenizers.h).
  torch::Tensor source_ = torch::tensor({{1, 3}, {1, 3}, {1, 3}});
  torch::Tensor lengths_ = torch::tensor({2, 2, 2});
  torch::Tensor input_ = torch::tensor({{2, 5, 6}, {2, 6, 0}, {2, 0, 0}});
  torch::Tensor output_ = torch::tensor({{5, 6, 3}, {6, 3, 0}, {3, 0, 0}});
};

TEST_P(LanguageModelReference, HasNoParametersOfAnEncoderOrOfAttentionToASource) {
  for (const auto& [name, parameter] : parameters_of(*model_)) {
    for (const auto* word : {"encoder", "source", "W_c", ".C.", "bridges"}) {
      EXPECT_EQ(name.find(word), std::string::npos) << name;
    }
  }
  EXPECT_FALSE(model_->has_attention_weights());
}

TEST_P(LanguageModelReference, DecodingAllStepsAtOnceEqualsOneStepAtATime) {
  const auto source = encoded();
  const auto at_once = model_->decode(input_, source, /*want_weights=*/true);
  EXPECT_FALSE(at_once.weights.defined());
  auto state = model_->initial_state(source);
  for (std::int64_t t = 0; t < 3; ++t) {
    auto step = model_->step(input_.select(1, t), state, source);
    EXPECT_TRUE(torch::allclose(step.readout, at_once.readout.select(1, t), 1e-11, 1e-11)) << t;
    EXPECT_FALSE(step.weights.defined());
    state = step.state;
  }
}

TEST_P(LanguageModelReference, ATokenDependsOnTheTokensBeforeItOnly) {
  const auto source = encoded();
  const auto before = model_->decode(input_, source).readout;
  auto other = input_.clone();
  other.select(1, 2).fill_(7);
  const auto after = model_->decode(other, source).readout;
  EXPECT_TRUE(torch::allclose(before.slice(1, 0, 2), after.slice(1, 0, 2), 1e-12, 1e-12));
  EXPECT_FALSE(torch::allclose(before.select(1, 2), after.select(1, 2)));
}

TEST_P(LanguageModelReference, GradientsEqualCentralDifferences) {
  expect_gradients_match([&] { return objective(); }, named_tensors(*model_), 1e-5);
}

TEST_P(LanguageModelReference, TheBestContinuationHasTheHighestProbability) {
  SearchRequest options;
  options.beam_size = 300;
  options.max_output_length = 3;
  options.max_output_ratio = 0;
  const torch::NoGradGuard guard;
  const auto found = search(*model_, {source_.narrow(0, 0, 1), lengths_.narrow(0, 0, 1)}, options);
  ASSERT_FALSE(found[0].empty());
  for (const auto& hypothesis : found[0]) {
    EXPECT_LE(hypothesis.log_probability, 0);
    EXPECT_TRUE(hypothesis.weights.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(All, LanguageModelReference, testing::ValuesIn(all_options));

}  // namespace
}  // namespace regard::language_model_reference_test
