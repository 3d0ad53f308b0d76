#include "model/output/pointer_output.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cmath>

#include "tests/gradcheck.h"
#include "tests/model/attention_kind.h"
#include "tests/model/output/output_layer_case.h"

namespace regard::pointer_output_reference_test {
namespace {

// Sentences of three, two and one elements; position p is 4 + p.
OutputCase pointer_case() {
  OutputCase x;
  x.source = {torch::tensor({{4, 5, 6, 3}, {7, 4, 3, 0}, {5, 3, 0, 0}}), torch::tensor({4, 3, 2})};
  x.input = torch::tensor({{2, 6, 4}, {2, 5, 0}, {2, 0, 0}});
  x.output = torch::tensor({{6, 4, 3}, {5, 3, 0}, {3, 0, 0}});
  return x;
}

// The same with pairs of numbers for words, the last column marks </s>.
OutputCase numbers_case() {
  auto x = pointer_case();
  const auto values = torch::rand({3, 4, 3}, torch::kDouble);
  values.select(2, 2).zero_();
  for (std::int64_t b = 0; b < 3; ++b) {
    const auto end = x.source.lengths[b].item<std::int64_t>() - 1;
    values[b].slice(0, end).zero_();
    values[b][end][2] = 1;
  }
  x.source.values = SourceVectors{values};
  return x;
}

EncoderDecoder pointer_model(std::int64_t numbers, const std::string& attention = "additive") {
  torch::manual_seed(1);
  auto options = small_model(OutputKind::pointer);
  options.encoder.numbers = numbers;
  options.attention.kind = kind_named(attention);
  EncoderDecoder model(9, 4, options);
  model.to(torch::kDouble);
  return model;
}

// P(position or </s>) of each step, in plain numbers: u = vᵀ tanh(W_1 h_s + W_2 s_t).
double plain_loss(EncoderDecoder& model, const OutputCase& x) {
  const Computed run(model, x);
  const auto W_2 = parameter(model, "pointer.W.weight");
  const auto W_1 = parameter(model, "pointer.U.weight");
  const auto bias = parameter(model, "pointer.U.bias");
  const auto v = parameter(model, "pointer.v");
  const TensorNumbers h(run.encoded.states), s(run.decoded.hidden);
  double loss = 0;
  for (std::int64_t b = 0; b < 3; ++b) {
    const auto S = x.source.lengths[b].item<std::int64_t>();
    for (std::int64_t t = 0; t < x.output.size(1); ++t) {
      const auto y = x.output[b][t].item<std::int64_t>();
      if (y == 0) continue;
      const auto pointed = y == 3 ? S - 1 : y - 4;
      double total = 0;
      double own = 0;
      for (std::int64_t p = 0; p < S; ++p) {
        double u = 0;
        for (std::int64_t a = 0; a < 5; ++a) {
          double inner = bias(a);
          for (std::int64_t c = 0; c < 4; ++c)
            inner += W_1(a, c) * h(b, p, c) + W_2(a, c) * s(b, t, c);
          u += v(a) * std::tanh(inner);
        }
        total += std::exp(u);
        if (p == pointed) own = u;
      }
      loss += std::log(total) - own;
    }
  }
  return loss;
}

TEST(PointerOutputReference, TheLossIsThatOfTheEquations) {
  auto model = pointer_model(0);
  EXPECT_NEAR(loss_of(model, pointer_case(), 0).item<double>(), plain_loss(model, pointer_case()),
              1e-10);
}

TEST(PointerOutputReference, GradientsEqualCentralDifferences) {
  for (const std::string attention : {"additive", "none"}) {
    for (const std::int64_t numbers : {0, 2}) {
      auto model = pointer_model(numbers, attention);
      torch::manual_seed(2);
      const auto x = numbers > 0 ? numbers_case() : pointer_case();
      std::vector<std::pair<std::string, torch::Tensor>> used;
      for (const auto& [name, tensor] : named_tensors(model)) {
        if (name.find("decoder.W_") != 0) used.emplace_back(name, tensor);  // the readout is not
      }
      expect_gradients_match([&] { return loss_of(model, x, 0.1); }, used, 1e-5);
    }
  }
}

TEST(PointerOutputReference, ABatchIsItsSentences) {
  auto words = pointer_model(0);
  expect_batch_equals_sentences(words, pointer_case());
  expect_search_ignores_the_batch(words, pointer_case());
  auto numbers = pointer_model(2);
  expect_batch_equals_sentences(numbers, numbers_case());
  expect_search_ignores_the_batch(numbers, numbers_case());
}

TEST(PointerOutputReference, TheSearchsProbabilitiesAreThoseOfTheLoss) {
  auto model = pointer_model(0);
  expect_steps_equal_loss(model, pointer_case());
  expect_log_probabilities_equal_loss(model, pointer_case());
}

TEST(PointerOutputLayer, OnlyPositionsOfTheSentenceAndStopCanBeSaid) {
  const torch::NoGradGuard guard;
  auto model = pointer_model(0);
  const auto x = pointer_case();
  const auto encoded = model.encode(x.source);
  const auto step = model.step(x.input.select(1, 0), model.initial_state(encoded), encoded);
  const auto p = model.output_layer().logits(step, encoded).softmax(-1);
  for (std::int64_t b = 0; b < 3; ++b) {
    for (std::int64_t y = 0; y < p.size(1); ++y) {
      const bool can = y >= 3 && y < 3 + x.source.lengths[b].item<std::int64_t>();
      EXPECT_EQ(p[b][y].item<double>() > 0, can) << b << ' ' << y;
    }
  }
}

TEST(PointerOutputLayer, TheDecoderIsFedTheElementLastPointedAt) {
  const torch::NoGradGuard guard;
  auto model = pointer_model(0);
  const auto x = pointer_case();
  const Computed run(model, x);
  const auto embedding = model.named_parameters()["source_embedding"];
  EXPECT_TRUE(torch::equal(run.decoded.input[0][0], model.named_parameters()["target_begin"]));
  EXPECT_TRUE(torch::equal(run.decoded.input[0][1], embedding[6]));  // position 2
  EXPECT_TRUE(torch::equal(run.decoded.input[1][1], embedding[4]));  // position 1
}

}  // namespace
}  // namespace regard::pointer_output_reference_test
