// Every encoder under every decoder: what holds of the plain pair holds of all of them.
#include <gtest/gtest.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>

#include "decoding/search.h"
#include "model/attention/table.h"
#include "model/encoder_decoder.h"
#include "tests/gradcheck.h"
#include "tests/model/attention_kind.h"

namespace regard::encoder_decoder_kinds_reference_test {
namespace {

constexpr std::int64_t V = 9;

ModelOptions small() {
  ModelOptions options;
  auto& encoder = options.encoder;
  auto& decoder = options.decoder;
  encoder.embedding_dim = encoder.hidden_size = 4;
  decoder.embedding_dim = decoder.hidden_size = decoder.readout_size = 4;
  encoder.self_attention.heads = decoder.self_attention.heads = 2;
  encoder.self_attention.feed_forward_size = decoder.self_attention.feed_forward_size = 5;
  encoder.bidirectional = false;
  options.attention.size = 4;
  options.attention.heads = 2;
  options.attention.window = 1;
  options.attention.max_positions = 8;
  options.dropout = {.embeddings = 0, .states = 0, .readout = 0};
  return options;
}

// "encoder_decoder", the decoder's attention where it has one of its own.
ModelOptions options_of(const std::string& pair) {
  auto options = small();
  const auto encoder = pair.substr(0, pair.find('-'));
  const auto decoder = pair.substr(pair.find('-') + 1);
  if (encoder == "transformer") options.encoder.kind = EncoderKind::transformer;
  if (encoder == "learned") {
    options.encoder.kind = EncoderKind::transformer;
    options.decoder.kind = LayerKind::transformer;
    options.encoder.self_attention.position = PositionKind::learned;
    options.decoder.self_attention = options.encoder.self_attention;
  }
  if (encoder == "sutskever") {
    options.encoder.cell = options.decoder.cell = CellKind::lstm;
    options.encoder.layers = options.decoder.layers = 2;
    options.encoder.reverse = true;
    options.decoder.initial_state = InitialState::layers;
    options.attention.fixed_context = FixedContext::initial;
  }
  if (encoder == "pyramid") {
    options.encoder.pyramidal = true;
    options.encoder.layers = 2;
    options.encoder.self_attention_layers = 1;
  }
  if (encoder == "on_top") options.encoder.self_attention_layers = 2;
  if (decoder == "transformer") {
    options.decoder.kind = LayerKind::transformer;
    options.decoder.layers = 2;
  } else if (decoder == "post") {
    options.decoder.kind = LayerKind::transformer;
    options.decoder.self_attention.norm = NormPlacement::post;
    options.encoder.self_attention.norm = NormPlacement::post;
  } else {
    options.attention.kind = kind_named(decoder);
  }
  return options;
}

std::vector<std::string> pairs() {
  std::vector<std::string> all = {"recurrent-transformer", "recurrent-post",
                                  "on_top-transformer",    "on_top-additive",
                                  "on_top-none",           "learned-transformer",
                                  "transformer-post",      "transformer-transformer",
                                  "sutskever-none",        "pyramid-additive",
                                  "pyramid-transformer"};
  for (const auto& kind : choice_names<AttentionKind>()) all.push_back("transformer-" + kind);
  return all;
}

class EncoderDecoderKindsReference : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    torch::manual_seed(6);
    model_ = std::make_shared<EncoderDecoder>(V, V, options_of(GetParam()));
    model_->to(torch::kDouble);
    model_->eval();
  }
  torch::Tensor loss(const torch::Tensor& source, const torch::Tensor& input,
                     const torch::Tensor& output) {
    const auto encoded = model_->encode({source, lengths_});
    return model_->output_layer()
        .loss(model_->decode(input, encoded), encoded, output, 0.1)
        .objective;
  }
  torch::Tensor loss() { return loss(source_, input_, output_); }

  std::shared_ptr<EncoderDecoder> model_;
  torch::Tensor source_ = torch::tensor({{4, 5, 6, 3}, {7, 4, 3, 0}, {5, 3, 0, 0}});
  torch::Tensor lengths_ = torch::tensor({4, 3, 2});
  torch::Tensor input_ = torch::tensor({{2, 5, 6}, {2, 6, 0}, {2, 0, 0}});
  torch::Tensor output_ = torch::tensor({{5, 6, 3}, {6, 3, 0}, {3, 0, 0}});
};

TEST_P(EncoderDecoderKindsReference, DecodingAllStepsAtOnceEqualsOneStepAtATime) {
  const auto encoded = model_->encode({source_, lengths_});
  const auto at_once = model_->decode(input_, encoded).readout;
  auto state = model_->initial_state(encoded);
  for (std::int64_t t = 0; t < 3; ++t) {
    auto step = model_->step(input_.select(1, t), state, encoded);
    EXPECT_TRUE(torch::allclose(step.readout, at_once.select(1, t), 1e-11, 1e-11)) << t;
    state = step.state;
    EXPECT_EQ(state.position, t + 1);
  }
}

TEST_P(EncoderDecoderKindsReference, HeadsAreDistributionsWhoseMeanIsTheWeights) {
  const auto options = options_of(GetParam());
  const auto layers = options.decoder.kind == LayerKind::transformer        ? options.decoder.layers
                      : options.attention.kind == AttentionKind::multi_head ? 1
                                                                            : 0;
  const auto encoded = model_->encode({source_, lengths_});
  auto state = model_->initial_state(encoded);
  for (std::int64_t t = 0; t < 3; ++t) {
    const auto heads = model_->explain(input_.select(1, t), state, encoded).heads;
    const auto step = model_->step(input_.select(1, t), state, encoded);
    ASSERT_EQ(static_cast<std::int64_t>(heads.size()), layers);
    for (const auto& layer : heads) {
      EXPECT_EQ(layer.sizes(), torch::IntArrayRef({3, 2, encoded.mask.size(1)}));  // [N, H, S]
      EXPECT_TRUE(torch::allclose(layer.sum(2), torch::ones({3, 2}, torch::kDouble)));
      const auto padding = encoded.lengths[2].item<std::int64_t>();
      EXPECT_EQ(layer[2].slice(1, padding).count_nonzero().item<std::int64_t>(), 0);
      EXPECT_FALSE(torch::allclose(layer.select(1, 0), layer.select(1, 1), 1e-6));
    }
    if (layers > 0) {
      EXPECT_TRUE(torch::allclose(heads.back().mean(1), step.weights, 1e-11, 1e-11));
    }
    state = step.state;
  }
}

TEST_P(EncoderDecoderKindsReference, PaddingChangesNothing) {
  const auto padded =
      loss(torch::constant_pad_nd(source_, {0, 3}, 0), torch::constant_pad_nd(input_, {0, 2}, 0),
           torch::constant_pad_nd(output_, {0, 2}, 0));
  EXPECT_NEAR(loss().item<double>(), padded.item<double>(), 1e-11);
}

TEST_P(EncoderDecoderKindsReference, GradientsOfTheWholeEqualCentralDifferences) {
  // Decoding, these choose one position, through which no gradient goes.
  if (GetParam() == "transformer-hard" || GetParam() == "transformer-monotonic") return;
  expect_gradients_match([&] { return loss(); }, named_tensors(*model_), 1e-5);
}

// The log P of a search, step by step, is that of the whole sequence at once.
TEST_P(EncoderDecoderKindsReference, AHypothesisHasTheProbabilityOfItsTokensGivenAtOnce) {
  const torch::NoGradGuard guard;
  const auto source = source_.narrow(0, 0, 1), lengths = lengths_.narrow(0, 0, 1);
  for (const std::int64_t beam : {1, 3}) {
    SearchRequest options;
    options.beam_size = beam;
    options.max_output_length = 6;
    const auto found = search(*model_, {source, lengths}, options);
    for (const auto& hypothesis : found[0]) {
      std::vector<std::int64_t> tokens = {2};
      for (const auto token : hypothesis.tokens) tokens.push_back(token);
      if (hypothesis.finished) tokens.push_back(3);
      const auto sequence = torch::tensor(tokens).unsqueeze(0);
      const auto T = sequence.size(1) - 1;
      const auto encoded = model_->encode({source, lengths});
      const auto decoded = model_->decode(sequence.narrow(1, 0, T), encoded);
      const auto loss = model_->output_layer().loss(decoded, encoded, sequence.narrow(1, 1, T), 0);
      EXPECT_NEAR(-loss.nll.sum().item<double>(), hypothesis.log_probability, 1e-9);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pairs, EncoderDecoderKindsReference, testing::ValuesIn(pairs()),
                         [](const auto& tested) {
                           auto name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(EncoderDecoder, ATransformersEmbeddingsAreScaledAndPlaced) {
  const auto options = options_of("transformer-transformer");
  const DropoutOptions none = {.embeddings = 0};
  InputLayer input(LayerKind::transformer, 4, 4, options.encoder.self_attention, none, "");
  InputLayer plain(LayerKind::recurrent, 4, 4, options.encoder.self_attention, none, "");
  const auto embedded = torch::randn({1, 2, 4});
  const auto x = input.forward(embedded);
  const auto place = torch::tensor({{0.0, 1.0, 0.0, 1.0},
                                    {std::sin(1.0), std::cos(1.0), std::sin(0.01), std::cos(0.01)}})
                         .to(torch::kFloat);
  EXPECT_TRUE(torch::allclose(x[0], 2 * embedded[0] + place, 1e-6, 1e-6));
  EXPECT_TRUE(torch::equal(plain.forward(embedded), embedded));

  InputLayer projecting(LayerKind::transformer, 3, 4, options.encoder.self_attention, none, "");
  const auto narrow = torch::randn({1, 2, 3});
  const auto P = projecting.named_parameters()["projection.weight"];  // [4, 3]
  EXPECT_TRUE(torch::allclose(projecting.forward(narrow)[0], 2 * narrow[0].matmul(P.t()) + place,
                              1e-6, 1e-6));
}

TEST(EncoderDecoder, ATransformerOfThreeAndThreeLayersHasItsComputedSize) {
  ModelOptions o;
  o.encoder.kind = EncoderKind::transformer;
  o.decoder.kind = LayerKind::transformer;
  o.encoder.embedding_dim = o.decoder.embedding_dim = 256;
  o.encoder.hidden_size = o.decoder.hidden_size = 256;
  o.encoder.layers = o.decoder.layers = 3;
  o.encoder.self_attention.feed_forward_size = o.decoder.self_attention.feed_forward_size = 1024;
  o.tied_embeddings = TiedEmbeddings::all;
  std::int64_t n = 0;
  for (const auto& p : EncoderDecoder(6000, 6000, o).parameters()) n += p.numel();
  const std::int64_t attention = 4 * 256 * 256 + 4 * 256;
  const std::int64_t feed_forward = 2 * 256 * 1024 + 1024 + 256;
  const std::int64_t norm = 2 * 256;
  EXPECT_EQ(n, 6000 * 256 + 6000 + 3 * (attention + feed_forward + 2 * norm) + norm +
                   3 * (2 * attention + feed_forward + 3 * norm) + norm);
}

}  // namespace
}  // namespace regard::encoder_decoder_kinds_reference_test
