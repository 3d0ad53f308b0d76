#include "training/training_loss.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include "model/attention/table.h"
#include "model/build_model.h"
#include "model/output/output_layer.h"
#include "model/random_stream.h"
#include "tests/gradcheck.h"
#include "tests/model/attention_kind.h"
#include "tests/model/small_model_options.h"

namespace regard::training_loss_reference_test {
namespace {

constexpr double smoothing = 0.1;

ModelOptions small(const std::string& kind) {
  auto options = small_model_options(3);
  options.encoder.hidden_size = 2;
  options.decoder.hidden_size = 4;
  options.attention.kind = kind_named(kind);
  return options;
}

std::shared_ptr<Seq2Seq> training_model(const ModelOptions& options) {
  torch::manual_seed(7);
  auto model = build_model(9, 9, options);
  model->to(torch::kDouble);
  model->train();
  return model;
}

Batch ragged() {
  return make_batch(std::vector<Example>{
      {.index = 0, .source = {4, 5, 6}, .target = {5, 6, 4, 7}},
      {.index = 1, .source = {7, 4}, .target = {6}},
      {.index = 2, .source = {5}, .target = {8, 4}},
  });
}

// The loss of the output layer and the terms of the attention, computed separately.
struct Parts {
  torch::Tensor cross_entropy;
  torch::Tensor nll;   // [B, T]
  torch::Tensor real;  // [B, T]
  AttentionLoss attention;
};

Parts parts_of(Seq2Seq& model, const Batch& batch) {
  const auto encoded = model.encode(batch.source);
  const auto decoded = model.decode(batch.target_input(), encoded);
  const auto targets = batch.target_output();
  const auto loss = model.output_layer().loss(decoded, encoded, targets, smoothing);
  return {loss.objective, loss.nll, targets.ne(0), decoded.attention_loss};
}

TEST(BatchLossReference, CoveragesPenaltyIsAddedAtRealTokensAlone) {
  auto options = small("coverage");
  options.attention.coverage_loss = 0.5;
  const auto model = training_model(options);
  const auto batch = ragged();
  const auto parts = parts_of(*model, batch);
  double penalty = 0;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    for (std::int64_t t = 0; t < parts.real.size(1); ++t) {
      if (!parts.real[b][t].item<bool>()) continue;
      penalty += parts.attention.penalty[b][t].item<double>();
    }
  }
  EXPECT_GT(penalty, 0);
  EXPECT_NEAR(batch_loss(*model, batch, smoothing).objective.item<double>(),
              parts.cross_entropy.item<double>() + penalty, 1e-12);
}

TEST(BatchLossReference, PaddingChangesNeitherLossNorGradient) {
  std::vector<ModelOptions> all;
  for (const std::string kind :
       {"none", "additive", "concat", "dot", "general", "cosine", "location", "local_m", "local_p",
        "coverage", "location_aware", "multi_head", "ntm"}) {
    all.push_back(small(kind));
    if (kind == "coverage") all.back().attention.coverage_loss = 0.5;
    if (kind == "location") all.back().attention.max_positions = 20;
    if (kind == "multi_head") all.back().attention.heads = 1;
  }
  all.push_back(small("additive"));
  all.back().encoder.cell = all.back().decoder.cell = CellKind::lstm;
  all.back().encoder.layers = 2;
  all.push_back(small("additive"));
  all.back().encoder.self_attention_layers = 1;
  all.back().encoder.self_attention.heads = 1;
  all.push_back(small("dot"));
  all.back().decoder.query = Query::between;
  auto transformer = small("additive");
  transformer.encoder.kind = EncoderKind::transformer;
  transformer.decoder.kind = LayerKind::transformer;
  transformer.encoder.hidden_size = transformer.decoder.hidden_size = 4;
  transformer.encoder.self_attention.heads = transformer.decoder.self_attention.heads = 2;
  all.push_back(transformer);
  for (auto& options : all) {
    resolve_automatic(options);
    const auto model = training_model(options);
    const auto batch = ragged();
    const auto parameters = model->parameters();
    const auto gradients = [&](const Loss& loss) {
      return torch::autograd::grad({loss.objective}, parameters, {}, {}, false, true);
    };
    const auto expected = batch_loss(*model, batch, smoothing);
    const auto found = batch_loss(*model, batch.padded(8, 8), smoothing);
    EXPECT_NEAR(found.objective.item<double>(), expected.objective.item<double>(), 1e-10)
        << enum_name(options.attention.kind);
    EXPECT_TRUE(torch::allclose(found.nll.narrow(0, 0, 3).narrow(1, 0, expected.nll.size(1)),
                                expected.nll, 1e-10, 1e-10));
    EXPECT_NEAR(found.nll.sum().item<double>(), expected.nll.sum().item<double>(), 1e-10);
    SCOPED_TRACE(enum_name(options.attention.kind));
    expect_all_close(gradients(found), gradients(expected), 1e-9);
  }
}

TEST(BatchLossReference, GradientsWithCoveragesPenaltyEqualCentralDifferences) {
  for (const auto query : {Query::last, Query::new_}) {
    auto options = small("coverage");
    options.attention.coverage_loss = 0.5;
    options.decoder.query = query;
    const auto model = training_model(options);
    expect_gradients_match([&] { return batch_loss(*model, ragged(), smoothing).objective; },
                           named_tensors(*model), 1e-5);
  }
}

TEST(BatchLossReference, HardAttentionAddsItsEntropyAndReinforceAboutTheMovingMean) {
  auto options = small("hard");
  options.attention.estimator = HardEstimator::reinforce;
  options.attention.entropy = 0.3;
  const auto model = training_model(options);
  const auto batch = ragged();
  constexpr double mean_log_p = -1.7;
  double added = 0;
  {
    const RandomStream stream(1, 1);
    const auto parts = parts_of(*model, batch);
    const auto& [penalty, sampled_log_p] = parts.attention;
    added = (parts.cross_entropy + (penalty * parts.real).sum() +
             reinforce(sampled_log_p, parts.nll, parts.real, mean_log_p))
                .item<double>();
  }
  const RandomStream again(1, 1);
  EXPECT_NEAR(batch_loss(*model, batch, smoothing, mean_log_p).objective.item<double>(), added,
              1e-12);
}

// The positions that are drawn are the same all along, and nothing is earned by them.
TEST(BatchLossReference, GradientsOfTheEntropyEqualCentralDifferences) {
  auto options = small("hard");
  options.attention.estimator = HardEstimator::reinforce;
  options.attention.entropy = 0.3;
  options.attention.reward = 0;
  const auto model = training_model(options);
  const auto same_draws = [&] {
    const RandomStream stream(1, 1);
    return batch_loss(*model, ragged(), smoothing).objective;
  };
  expect_gradients_match(same_draws, named_tensors(*model), 1e-5);
}

// Two passes of R-Drop: those of a batch whose rows 2 b and 2 b + 1 are sentence b.
TEST(BatchLossReference, RDropIsTheMeanOfTwoPassesAndHalfOfTheirMeanDivergence) {
  for (const auto kind : {LayerKind::recurrent, LayerKind::transformer}) {
    auto options = small("additive");
    options.dropout = {.embeddings = 0.3, .states = 0.3, .readout = 0.3};
    if (kind == LayerKind::transformer) {
      for (auto* side : {&options.encoder.self_attention, &options.decoder.self_attention}) {
        side->heads = 1;
        side->feed_forward_size = 5;
      }
      options.encoder.kind = EncoderKind::transformer;
      options.decoder.kind = kind;
    }
    const auto model = training_model(options);
    const auto batch = ragged();
    TrainingOptions training;
    training.label_smoothing = smoothing;
    training.r_drop = 4;
    double expected = 0;
    torch::Tensor nll;
    {
      const RandomStream stream(2, 1);
      const auto encoded = model->encode({batch.source.elements().repeat_interleave(2, 0),
                                          batch.source.lengths.repeat_interleave(2, 0)});
      const auto decoded = model->decode(batch.target_input().repeat_interleave(2, 0), encoded);
      const auto V = 9;
      const auto log_p = [&](std::int64_t row, std::int64_t t) {
        DecoderStep step;
        step.readout = decoded.readout[row][t].unsqueeze(0);
        return model->output_layer().logits(step, encoded).log_softmax(-1)[0];
      };
      const auto tokens = batch.target_output();
      nll = torch::zeros({batch.size(), tokens.size(1)}, torch::kDouble);
      for (std::int64_t b = 0; b < batch.size(); ++b) {
        for (std::int64_t t = 0; t < tokens.size(1); ++t) {
          const auto y = tokens[b][t].item<std::int64_t>();
          if (y == 0) continue;
          const auto p = log_p(2 * b, t);
          const auto q = log_p(2 * b + 1, t);
          nll[b][t] = -(p[y] + q[y]).item<double>() / 2;
          const auto uniform = -(p.sum() + q.sum()).item<double>() / V / 2;
          const auto divergence = ((p.exp() - q.exp()) * (p - q)).sum().item<double>();
          EXPECT_GT(divergence, 0);
          expected += (1 - smoothing) * nll[b][t].item<double>() + smoothing * uniform +
                      training.r_drop / 4 * divergence;
        }
      }
    }
    const RandomStream again(2, 1);
    const auto loss = training_loss(*model, batch, training);
    EXPECT_NEAR(loss.objective.item<double>(), expected, 1e-10);
    EXPECT_TRUE(torch::allclose(loss.nll, nll, 1e-10, 1e-10));
  }
}

TEST(BatchLossReference, GradientsOfRDropEqualCentralDifferences) {
  auto options = small("additive");
  options.dropout = {.embeddings = 0.3, .states = 0.3, .readout = 0.3, .tokens = 0.3};
  const auto model = training_model(options);
  TrainingOptions training;
  training.r_drop = 4;
  const auto same_masks = [&] {
    const RandomStream stream(2, 1);
    return training_loss(*model, ragged(), training).objective;
  };
  expect_gradients_match(same_masks, named_tensors(*model), 1e-5);
}

}  // namespace
}  // namespace regard::training_loss_reference_test
