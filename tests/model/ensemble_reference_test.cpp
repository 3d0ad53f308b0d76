// Ensembles against plain arithmetic on their members' probabilities.
#include "model/ensemble.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cmath>
#include <stdexcept>

#include "decoding/score_targets.h"
#include "decoding/search.h"
#include "model/encoder_decoder.h"
#include "tests/decoding/table_model.h"
#include "tests/decoding/table_search.h"
#include "tests/model/attention_kind.h"

namespace regard::ensemble_reference_test {
namespace {

std::shared_ptr<Seq2Seq> table_model(std::int64_t sentences, double sharpness = 1) {
  return std::make_shared<TableModel>(random_table(sentences, sharpness));
}

// P of the members' next tokens, in double precision: [N, V].
torch::Tensor probabilities(Seq2Seq& model, const torch::Tensor& source,
                            const torch::Tensor& lengths, const torch::Tensor& tokens) {
  const auto encoded = model.encode({source, lengths});
  const auto step = model.step(tokens, model.initial_state(encoded), encoded);
  return model.output_layer().logits(step, encoded).softmax(-1);
}

TEST(EnsembleState, HypothesesThatJoinHavePositionsOfTheirOwn) {
  const auto state_at = [](std::int64_t position, std::int64_t rows) {
    const DecoderState member = {.layers = {torch::zeros({rows, 3})}, .position = position};
    return DecoderState{.position = position, .members = {member, member}};
  };
  auto state = state_at(3, 2);
  state.append(state_at(0, 1));
  EXPECT_TRUE(state.positions.equal(torch::tensor({3, 3, 0}, torch::kInt64)));
  state.append(state_at(0, 1));
  EXPECT_TRUE(state.positions.equal(torch::tensor({3, 3, 0, 0}, torch::kInt64)));
  EXPECT_TRUE(state.members[1].positions.equal(state.positions));
  const auto last = torch::tensor({2, 3}, torch::kInt64);
  const auto kept = state.select(RowIndices{last, last});
  EXPECT_EQ(kept.position, 0);
  EXPECT_FALSE(kept.positions.defined());
}

TEST(EnsembleReference, TheLinearMeanIsOfProbabilitiesTheOtherOfTheirLogarithms) {
  torch::manual_seed(51);
  const auto a = table_model(3);
  const auto b = table_model(3);
  const auto [source, lengths] = table_sentences(3);
  const auto tokens = torch::tensor({2, 4, 6});
  const auto of_a = probabilities(*a, source, lengths, tokens);
  const auto of_b = probabilities(*b, source, lengths, tokens);
  Ensemble linear({a, b}, EnsembleMean::linear, {3, 1});
  Ensemble log_linear({a, b}, EnsembleMean::log_linear, {3, 1});
  const auto by_mean = probabilities(linear, source, lengths, tokens);
  const auto by_log = probabilities(log_linear, source, lengths, tokens);
  for (std::int64_t n = 0; n < 3; ++n) {
    double total = 0;
    for (std::int64_t y = 0; y < table_tokens; ++y) {
      total +=
          std::pow(of_a[n][y].item<double>(), 0.75) * std::pow(of_b[n][y].item<double>(), 0.25);
    }
    for (std::int64_t y = 0; y < table_tokens; ++y) {
      const auto p_a = of_a[n][y].item<double>();
      const auto p_b = of_b[n][y].item<double>();
      EXPECT_NEAR(by_mean[n][y].item<double>(), 0.75 * p_a + 0.25 * p_b, 1e-12);
      EXPECT_NEAR(by_log[n][y].item<double>(), std::pow(p_a, 0.75) * std::pow(p_b, 0.25) / total,
                  1e-12);
    }
  }
}

TEST(EnsembleReference, FusionTakesTheWeightsAsTheyAre) {
  torch::manual_seed(54);
  const auto translator = table_model(2);
  const auto language_model = table_model(2);
  const auto [source, lengths] = table_sentences(2);
  const auto tokens = torch::tensor({2, 4});
  const auto p = probabilities(*translator, source, lengths, tokens);
  const auto q = probabilities(*language_model, source, lengths, tokens);
  Ensemble fusion({translator, language_model}, EnsembleMean::fusion, {1, 0.3});
  const auto product = p * q.pow(0.3);
  EXPECT_TRUE(torch::allclose(probabilities(fusion, source, lengths, tokens),
                              product / product.sum(1, true), 1e-12, 1e-12));
}

// The translator begins with a tag (4), the language model with <s> (2).
TEST(EnsembleReference, TheLanguageModelOfAFusionBeginsWithItsOwnToken) {
  torch::manual_seed(55);
  const auto translator = table_model(2);
  const auto language_model = table_model(2);
  const auto [source, lengths] = table_sentences(2);
  const auto tag = torch::tensor({4, 4}), own = torch::tensor({2, 2}), next = torch::tensor({5, 4});
  Ensemble fusion({translator, language_model}, EnsembleMean::fusion, {1, 0.3}, 2);
  const auto product = probabilities(*translator, source, lengths, tag) *
                       probabilities(*language_model, source, lengths, own).pow(0.3);
  EXPECT_TRUE(torch::allclose(probabilities(fusion, source, lengths, tag),
                              product / product.sum(1, true), 1e-12, 1e-12));
  // The second step reads the same token in both.
  const auto after = [&](Seq2Seq& model, const torch::Tensor& first) {
    const auto encoded = model.encode({source, lengths});
    const auto state = model.step(first, model.initial_state(encoded), encoded).state;
    return model.output_layer().logits(model.step(next, state, encoded), encoded).softmax(-1);
  };
  const auto second = after(*translator, tag) * after(*language_model, own).pow(0.3);
  EXPECT_TRUE(torch::allclose(after(fusion, tag), second / second.sum(1, true), 1e-12, 1e-12));
}

TEST(EnsembleReference, OfOneModelWithItselfChangesNothing) {
  torch::manual_seed(52);
  const auto model = table_model(4, 2);
  const auto [source, lengths] = table_sentences(4);
  for (const auto mean : {EnsembleMean::linear, EnsembleMean::log_linear}) {
    Ensemble twice({model, model}, mean, {2, 5});
    for (const std::int64_t beam : {1, 3}) {
      const auto options = table_options(beam, 8);
      const auto alone = search(*model, {source, lengths}, options);
      const auto together = search(twice, {source, lengths}, options);
      for (std::size_t b = 0; b < alone.size(); ++b) {
        ASSERT_EQ(together[b].size(), alone[b].size());
        for (std::size_t k = 0; k < alone[b].size(); ++k) {
          EXPECT_EQ(together[b][k].tokens, alone[b][k].tokens);
          EXPECT_NEAR(together[b][k].score, alone[b][k].score, 1e-9);
        }
      }
    }
  }
}

ModelOptions options_of(const std::string& attention, std::int64_t hidden) {
  ModelOptions options;
  options.encoder.embedding_dim = 3;
  options.encoder.hidden_size = hidden;
  options.decoder.embedding_dim = 3;
  options.decoder.hidden_size = hidden;
  options.decoder.readout_size = 3;
  options.attention.kind = kind_named(attention);
  options.attention.size = 5;
  options.dropout = {0, 0, 0};
  return options;
}

// Models of other sizes, with attention and without, ragged sentences.
TEST(EnsembleReference, RealModelsSearchAndAreForcedAlike) {
  torch::manual_seed(53);
  std::vector<std::shared_ptr<Seq2Seq>> members;
  for (const auto& options :
       {options_of("additive", 4), options_of("none", 6), options_of("general", 2)}) {
    members.push_back(std::make_shared<EncoderDecoder>(9, 9, options));
    for (auto& parameter : members.back()->parameters()) {
      torch::NoGradGuard guard;
      parameter.normal_();
    }
  }
  Ensemble ensemble(members, EnsembleMean::log_linear);
  ensemble.eval();
  EXPECT_TRUE(ensemble.has_attention_weights());
  const auto source = torch::tensor({{4, 5, 6, 3}, {7, 4, 3, 0}, {5, 3, 0, 0}});
  const auto lengths = torch::tensor({4, 3, 2});
  SearchRequest options;
  options.beam_size = 3;
  options.max_output_length = 6;
  options.want_weights = true;
  const auto found = search(ensemble, {source, lengths}, options);
  for (std::int64_t b = 0; b < 3; ++b) {
    const auto S = lengths[b].item<std::int64_t>();
    const auto alone = search(
        ensemble, {source.narrow(0, b, 1).narrow(1, 0, S), lengths.narrow(0, b, 1)}, options);
    const auto& best = found[static_cast<std::size_t>(b)][0];
    EXPECT_EQ(alone[0][0].tokens, best.tokens);
    EXPECT_NEAR(alone[0][0].log_probability, best.log_probability, 1e-5);
    for (const auto& row : best.weights) {
      float sum = 0;
      for (const auto weight : row) sum += weight;
      EXPECT_NEAR(sum, 1, 1e-5);
    }
    if (!best.finished) continue;
    std::vector<std::int64_t> given = {2};
    given.insert(given.end(), best.tokens.begin(), best.tokens.end());
    given.push_back(3);
    const auto forced =
        score_targets(ensemble, {source.narrow(0, b, 1).narrow(1, 0, S), lengths.narrow(0, b, 1)},
                      {torch::tensor(given).unsqueeze(0)}, false);
    EXPECT_NEAR(forced[0].log_probability, best.log_probability, 1e-5);
    for (std::size_t t = 0; t < best.token_log_p.size(); ++t) {
      EXPECT_NEAR(forced[0].token_log_p[t], best.token_log_p[t], 1e-5);
    }
  }
}

TEST(Ensemble, WeightsThatAreNoneAreRefused) {
  const auto model = table_model(1);
  using Members = std::vector<std::shared_ptr<Seq2Seq>>;
  const auto make = [&](std::vector<double> weights) {
    Ensemble ensemble(Members{model, model}, EnsembleMean::linear, std::move(weights));
  };
  EXPECT_THROW(make({1}), std::invalid_argument);
  EXPECT_THROW(make({1, 0}), std::invalid_argument);
  EXPECT_THROW(make({1, -1}), std::invalid_argument);
  EXPECT_THROW(make({1, std::nan("")}), std::invalid_argument);
  EXPECT_NO_THROW(make({}));
}

TEST(Ensemble, IsNotTrained) {
  Ensemble ensemble({table_model(1)}, EnsembleMean::linear);
  EXPECT_THROW(ensemble.output_layer().embed({}, {}), std::logic_error);
  EXPECT_THROW(ensemble.output_layer().loss({}, {}, {}, 0), std::logic_error);
}

}  // namespace
}  // namespace regard::ensemble_reference_test
