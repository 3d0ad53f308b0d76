// A tiny model with an output of a kind, and a ragged batch for it.
#pragma once

#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <string>

#include "decoding/search.h"
#include "model/encoder_decoder.h"

namespace regard {

inline ModelOptions small_model(OutputKind kind) {
  ModelOptions options;
  options.encoder.embedding_dim = options.decoder.embedding_dim = 3;
  options.encoder.hidden_size = 2;
  options.decoder.hidden_size = 4;
  options.decoder.readout_size = 3;
  options.attention.size = options.output.size = 5;
  options.dropout = {0, 0, 0};
  options.output.kind = kind;
  return options;
}

struct OutputCase {
  SourceBatch source;
  torch::Tensor input;
  torch::Tensor output;
};

// Its model, as it computes: in double precision.
struct Computed {
  Computed(EncoderDecoder& model, const OutputCase& x)
      : encoded(model.encode(x.source)), decoded(model.decode(x.input, encoded)) {}
  EncoderOutput encoded;
  DecoderOutput decoded;
};

inline torch::Tensor loss_of(EncoderDecoder& model, const OutputCase& x, double smoothing) {
  const Computed run(model, x);
  return model.output_layer().loss(run.decoded, run.encoded, x.output, smoothing).objective;
}

// Sentence b alone, without padding.
inline OutputCase alone(const OutputCase& x, std::int64_t b) {
  const auto S = x.source.lengths[b].item<std::int64_t>();
  const auto T = x.output[b].ne(0).sum().item<std::int64_t>();
  auto source =
      x.source.map([&](const torch::Tensor& all) { return all.narrow(0, b, 1).narrow(1, 0, S); });
  source.lengths = x.source.lengths.narrow(0, b, 1);
  return {source, x.input.narrow(0, b, 1).narrow(1, 0, T),
          x.output.narrow(0, b, 1).narrow(1, 0, T)};
}

inline void expect_batch_equals_sentences(EncoderDecoder& model, const OutputCase& x) {
  double sum = 0;
  for (std::int64_t b = 0; b < x.source.size(); ++b) {
    sum += loss_of(model, alone(x, b), 0.1).item<double>();
  }
  EXPECT_NEAR(loss_of(model, x, 0.1).item<double>(), sum, 1e-10);
}

// P(y_t) of the search, one step after the other, is that of the loss.
inline void expect_steps_equal_loss(EncoderDecoder& model, const OutputCase& x) {
  const torch::NoGradGuard guard;
  const auto encoded = model.encode(x.source);
  auto state = model.initial_state(encoded);
  double sum = 0;
  for (std::int64_t t = 0; t < x.input.size(1); ++t) {
    auto step = model.step(x.input.select(1, t), state, encoded);
    const auto log_p = model.output_layer().logits(step, encoded).log_softmax(-1);
    for (std::int64_t b = 0; b < x.source.size(); ++b) {
      const auto y = x.output[b][t].item<std::int64_t>();
      if (y != 0) sum -= log_p[b][y].item<double>();
    }
    state = std::move(step.state);
  }
  EXPECT_NEAR(loss_of(model, x, 0).item<double>(), sum, 1e-10);
}

inline void expect_log_probabilities_equal_loss(EncoderDecoder& model, const OutputCase& x) {
  const torch::NoGradGuard guard;
  const Computed run(model, x);
  const auto nll = model.output_layer().loss(run.decoded, run.encoded, x.output, 0).nll;
  const auto log_p = model.output_layer().log_probabilities(run.decoded, run.encoded, x.output);
  EXPECT_EQ(log_p.scalar_type(), torch::kDouble);
  EXPECT_TRUE(torch::allclose(log_p, -nll, 1e-10, 1e-10));
}

inline void expect_search_ignores_the_batch(EncoderDecoder& model, const OutputCase& x) {
  for (const std::int64_t beam : {1, 3}) {
    SearchRequest options;
    options.beam_size = beam;
    options.max_output_length = 6;
    options.want_weights = true;
    const auto together = search(model, x.source, options);
    for (std::int64_t b = 0; b < x.source.size(); ++b) {
      const auto one = alone(x, b);
      const auto found = search(model, one.source, options)[0];
      ASSERT_EQ(found.size(), together[static_cast<std::size_t>(b)].size());
      for (std::size_t k = 0; k < found.size(); ++k) {
        const auto& other = together[static_cast<std::size_t>(b)][k];
        EXPECT_EQ(found[k].tokens, other.tokens) << beam << ' ' << b << ' ' << k;
        EXPECT_NEAR(found[k].log_probability, other.log_probability, 1e-10);
        EXPECT_EQ(found[k].weights.size(), other.weights.size());
      }
    }
  }
}

// A parameter in plain numbers.
struct TensorNumbers {
  explicit TensorNumbers(const torch::Tensor& tensor) : values(tensor.detach().contiguous()) {}
  double operator()(std::int64_t i) const { return values.data_ptr<double>()[i]; }
  double operator()(std::int64_t i, std::int64_t j) const {
    return (*this)(i * values.size(-1) + j);
  }
  double operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return (*this)(i * values.size(-2) + j, k);
  }
  torch::Tensor values;
};

inline TensorNumbers parameter(EncoderDecoder& model, const std::string& name) {
  return TensorNumbers(model.named_parameters()[name]);
}

}  // namespace regard
