#include "model/encoder_decoder.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/utils.h>

#include "kernels/mode.h"
#include "kernels/packed_weights.h"
#include "model/attention/attention.h"
#include "model/random_stream.h"
#include "tests/gradcheck.h"

namespace regard::encoder_decoder_reference_test {
namespace {

ModelOptions small() {
  ModelOptions options;
  options.encoder.embedding_dim = 3;
  options.encoder.hidden_size = 2;
  options.decoder.embedding_dim = 3;
  options.decoder.hidden_size = 4;
  options.decoder.readout_size = 3;
  options.attention.size = 5;
  options.dropout = {0, 0, 0};
  return options;
}

struct Example {
  torch::Tensor source = torch::tensor({{4, 5, 6, 3}, {7, 4, 3, 0}, {5, 3, 0, 0}});
  torch::Tensor lengths = torch::tensor({4, 3, 2});
  torch::Tensor input = torch::tensor({{2, 5, 6}, {2, 6, 0}, {2, 0, 0}});
  torch::Tensor output = torch::tensor({{5, 6, 3}, {6, 3, 0}, {3, 0, 0}});
};

torch::Tensor loss_of(Seq2Seq& model, const Example& x) {
  const auto encoded = model.encode({x.source, x.lengths});
  return model.output_layer()
      .loss(model.decode(x.input, encoded), encoded, x.output, 0.1)
      .objective;
}

// Every way the decoder can be put together.
std::vector<ModelOptions> variants() {
  std::vector<ModelOptions> all(35, small());
  all[1].decoder.layers = 2;
  all[2].decoder.reset_gate = all[2].encoder.reset_gate = ResetGate::after;
  all[3].attention.kind = AttentionKind::none;
  all[4].attention.kind = AttentionKind::none;
  all[4].attention.fixed_context = FixedContext::mean;
  all[5].decoder.initial_state = InitialState::mean;
  all[6].decoder.initial_state = InitialState::last;
  all[7].decoder.initial_state = InitialState::zero;
  all[7].encoder.bidirectional = false;
  all[8].tied_embeddings = TiedEmbeddings::all;
  all[8].encoder.layers = 2;
  all[9].attention.kind = AttentionKind::none;
  all[9].decoder.initial_state = InitialState::mean;
  all[10].decoder.query = Query::new_;
  all[10].decoder.layers = 2;
  all[11].decoder.query = Query::between;
  all[11].decoder.reset_gate = ResetGate::after;
  all[11].decoder.layers = 2;
  all[12].decoder.input_feeding = true;
  all[13].decoder.input_feeding = true;
  all[13].decoder.query = Query::new_;
  all[13].decoder.layers = 2;
  all[14].decoder.input_feeding = true;
  all[14].decoder.query = Query::between;
  all[15].attention.kind = AttentionKind::none;
  all[15].decoder.query = Query::between;
  all[16].attention.kind = AttentionKind::concat;
  for (std::size_t i = 17; i < 22; ++i) all[i].attention.window = 1;
  all[17].attention.kind = AttentionKind::local_m;
  all[18].attention.kind = AttentionKind::local_m;
  all[18].decoder.query = Query::last;
  all[19].attention.kind = AttentionKind::local_p;
  all[19].decoder.input_feeding = true;
  all[20].attention.kind = AttentionKind::multi_head;
  all[20].attention.size = 6;
  all[20].attention.heads = 3;
  all[21].attention.kind = AttentionKind::location;
  for (std::size_t i = 22; i < 25; ++i) {
    all[i].attention.kind = AttentionKind::coverage;
    all[i].attention.coverage_loss = 0.5;
  }
  all[23].decoder.query = Query::new_;
  all[24].decoder.input_feeding = true;
  all[25].attention.kind = AttentionKind::ntm;
  all[26].attention.kind = AttentionKind::ntm;
  all[26].decoder.query = Query::between;
  for (std::size_t i = 27; i < 31; ++i) {
    all[i].encoder.cell = all[i].decoder.cell = i < 30 ? CellKind::lstm : CellKind::tanh;
    all[i].encoder.layers = all[i].decoder.layers = 2;
  }
  all[28].decoder.query = Query::between;
  all[28].decoder.initial_state = InitialState::last;
  all[29].decoder.query = Query::new_;
  all[29].decoder.input_feeding = true;
  for (std::size_t i = 31; i < 35; ++i) {
    all[i].encoder.layers = all[i].decoder.layers = 3;
    all[i].encoder.residual = all[i].decoder.residual = i != 31;
    all[i].encoder.layer_norm = all[i].decoder.layer_norm = i != 32;
  }
  all[34].decoder.query = Query::new_;
  all[34].attention.kind = AttentionKind::none;
  return all;
}

// One step at a time gives what decoding all at once gave.
void expect_steps(Seq2Seq& model, const Example& x, const DecoderOutput& at_once) {
  const auto encoded = model.encode({x.source, x.lengths});
  auto state = model.initial_state(encoded);
  for (std::int64_t t = 0; t < 3; ++t) {
    auto step = model.step(x.input.select(1, t), state, encoded);
    const auto expect_same = [&](const torch::Tensor& one, const torch::Tensor& all) {
      ASSERT_EQ(one.defined(), all.defined());
      if (one.defined()) {
        EXPECT_TRUE(torch::allclose(one, all.select(1, t), 1e-12, 1e-12)) << t;
      }
    };
    expect_same(step.readout, at_once.readout);
    expect_same(step.weights, at_once.weights);
    expect_same(step.hidden, at_once.hidden);
    expect_same(step.input, at_once.input);
    state = step.state;
  }
}

TEST(EncoderDecoderReference, DecodingAllStepsAtOnceEqualsOneStepAtATimeAlsoWithPackedWeights) {
  auto every = variants();
  every.push_back(small());
  every.back().attention.kind = AttentionKind::hard;
  for (const auto& options : every) {
    torch::manual_seed(6);
    EncoderDecoder model(9, 9, options);
    model.to(torch::kDouble);
    model.eval();
    const Example x;
    const auto at_once = model.decode(x.input, model.encode({x.source, x.lengths}));
    expect_steps(model, x, at_once);
    const torch::NoGradGuard guard;
    kernels::PackedWeights packed;
    const auto mode = kernels::Mode::search(packed);
    expect_steps(model, x, at_once);
  }
}

TEST(EncoderDecoderReference, WhatAttentionAddsToTheLossComesWithEachStep) {
  const Example x;
  for (const auto& options : variants()) {
    EncoderDecoder model(9, 9, options);
    const auto encoded = model.encode({x.source, x.lengths});
    const auto penalty = model.decode(x.input, encoded).attention_loss.penalty;
    ASSERT_EQ(penalty.defined(), options.attention.kind == AttentionKind::coverage);
    if (!penalty.defined()) continue;
    ASSERT_EQ(penalty.sizes(), x.input.sizes());
    EXPECT_TRUE(penalty.select(1, 0).eq(0).all().item<bool>());  // nothing was looked at before
    EXPECT_TRUE(penalty.slice(1, 1).gt(0).all().item<bool>());
  }
}

TEST(EncoderDecoderReference, ADetailOfAStepIsThatOfItsWeights) {
  const Example x;
  for (const auto& options : variants()) {
    if (options.attention.kind == AttentionKind::none) continue;
    EncoderDecoder model(9, 9, options);
    const auto encoded = model.encode({x.source, x.lengths});
    auto state = model.initial_state(encoded);
    for (std::int64_t t = 0; t < 2; ++t) {
      const auto token = x.input.select(1, t);
      const auto detail = model.explain(token, state, encoded);
      auto step = model.step(token, state, encoded);
      EXPECT_EQ(detail.query.sizes(), (std::vector<std::int64_t>{3, 4}));
      EXPECT_EQ(detail.context.size(1), encoded.states.size(2));
      const auto kind = enum_name(options.attention.kind);
      if (kind != "multi_head") {
        EXPECT_TRUE(torch::allclose(detail.context,
                                    kernels::mix(step.weights, encoded.states, encoded.lengths),
                                    1e-5, 1e-6));
      }
      EXPECT_EQ(detail.scores.defined(), kind != "multi_head") << kind;
      if (kind == "additive" || kind == "concat" || kind == "coverage" || kind == "location") {
        const auto weights = kernels::masked_softmax(detail.scores.unsqueeze(1), encoded.lengths);
        EXPECT_TRUE(torch::allclose(weights.squeeze(1), step.weights, 1e-5, 1e-6)) << kind;
      }
      state = step.state;
    }
  }
}

TEST(EncoderDecoderReference, GradientsOfTheWholeEqualCentralDifferences) {
  for (const auto& options : variants()) {
    torch::manual_seed(7);
    EncoderDecoder model(9, 9, options);
    model.to(torch::kDouble);
    const Example x;
    expect_gradients_match([&] { return loss_of(model, x); }, named_tensors(model), 1e-5);
  }
}

// Every way to mix contexts, in training with half of the weights dropped.
std::vector<ModelOptions> with_attention_dropout() {
  std::vector<ModelOptions> all(6, small());
  all[1].decoder.query = Query::between;
  all[2].decoder.input_feeding = true;
  all[2].decoder.query = Query::new_;
  all[3].attention.kind = AttentionKind::coverage;
  for (std::size_t i = 4; i < 6; ++i) {
    all[i].attention.kind = AttentionKind::multi_head;
    all[i].attention.size = 6;
    all[i].attention.heads = 3;
  }
  all[4].decoder.query = Query::last;
  all[5].decoder.query = Query::between;
  for (auto& options : all) options.dropout.attention = 0.5;
  return all;
}

TEST(EncoderDecoderReference, AttentionDropoutDropsAtOnceWhatItDropsStepByStep) {
  const Example x;
  for (const auto& options : with_attention_dropout()) {
    torch::manual_seed(6);
    EncoderDecoder model(9, 9, options);
    model.to(torch::kDouble);
    const auto encoded = model.encode({x.source, x.lengths});
    const RandomStream stream(1, 1);
    const auto at_once = model.decode(x.input, encoded);
    const auto other = model.decode(x.input, encoded).readout;
    EXPECT_FALSE(torch::allclose(at_once.readout, other));
    EXPECT_TRUE(torch::allclose(at_once.weights.sum(2), torch::ones({3, 3}, torch::kDouble)));
    const RandomStream again(1, 1);
    auto state = model.initial_state(encoded);
    for (std::int64_t t = 0; t < 3; ++t) {
      auto step = model.step(x.input.select(1, t), state, encoded);
      EXPECT_TRUE(torch::allclose(step.readout, at_once.readout.select(1, t), 1e-12, 1e-12)) << t;
      state = step.state;
    }
  }
}

TEST(EncoderDecoderReference, GradientsUnderAttentionDropoutEqualCentralDifferences) {
  auto every = with_attention_dropout();
  every.push_back(every[0]);
  every.back().decoder.query = Query::new_;
  for (const auto& options : every) {
    torch::manual_seed(7);
    EncoderDecoder model(9, 9, options);
    model.to(torch::kDouble);
    const Example x;
    const auto same_masks = [&] {
      const RandomStream stream(1, 1);
      return loss_of(model, x);
    };
    expect_gradients_match(same_masks, named_tensors(model), 1e-5);
  }
}

TEST(EncoderDecoderReference, PaddingChangesNeitherLossNorGradients) {
  torch::manual_seed(8);
  EncoderDecoder model(9, 9, small());
  model.to(torch::kDouble);
  const Example x;
  auto padded = x;
  padded.source = torch::constant_pad_nd(x.source, {0, 3}, 0);
  padded.input = torch::constant_pad_nd(x.input, {0, 2}, 0);
  padded.output = torch::constant_pad_nd(x.output, {0, 2}, 0);
  const auto loss = loss_of(model, x);
  const auto padded_loss = loss_of(model, padded);
  EXPECT_NEAR(loss.item<double>(), padded_loss.item<double>(), 1e-12);
  expect_all_close(torch::autograd::grad({padded_loss}, model.parameters()),
                   torch::autograd::grad({loss}, model.parameters()), 1e-10);
}

TEST(EncoderDecoder, TyingSharesTheMatrices) {
  auto options = small();
  const auto count = [](const Seq2Seq& model) {
    std::int64_t n = 0;
    for (const auto& p : model.parameters()) n += p.numel();
    return n;
  };
  const auto none = count(EncoderDecoder(9, 9, options));
  options.tied_embeddings = TiedEmbeddings::output;
  EXPECT_EQ(count(EncoderDecoder(9, 9, options)), none - 9 * 3);
  options.tied_embeddings = TiedEmbeddings::all;
  EXPECT_EQ(count(EncoderDecoder(9, 9, options)), none - 2 * 9 * 3);
}

TEST(EncoderDecoder, TheBenchModelHasItsPublishedSize) {
  const ModelOptions bench;  // the defaults
  std::int64_t n = 0;
  for (const auto& p : EncoderDecoder(8000, 8000, bench).parameters()) n += p.numel();
  EXPECT_NEAR(static_cast<double>(n), 15.6e6, 0.3e6);
}

}  // namespace
}  // namespace regard::encoder_decoder_reference_test
