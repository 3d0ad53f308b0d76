// The attention decoder against its equations, number by number: one GRU layer, additive attention.
#include "model/rnn/decoder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include <map>
#include <string>

#include "tests/model/attention/plain_numbers.h"

namespace regard::rnn_decoder_reference_test {
namespace {

constexpr std::int64_t B = 2, S = 4, T = 3, E = 3, D = 4, C = 5, R = 2, A = 3;

ModelOptions options_of(Query query, bool input_feeding) {
  ModelOptions options;
  auto& decoder = options.decoder;
  decoder.embedding_dim = E;
  decoder.hidden_size = D;
  decoder.readout_size = R;
  decoder.query = query;
  decoder.input_feeding = input_feeding;
  options.attention.size = A;
  return options;
}

Numbers sum(const std::vector<Numbers>& terms) {
  Numbers total(terms[0].size());
  for (const auto& term : terms) {
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += term.at(i);
  }
  return total;
}

Numbers tanh_of(Numbers x) {
  for (auto& value : x) value = std::tanh(value);
  return x;
}

// The decoder's parameters, and its equations in loops over numbers.
class Plain {
 public:
  explicit Plain(const RecurrentDecoder& decoder) {
    for (const auto& item : decoder.named_parameters()) of_[item.key()] = item.value().detach();
  }

  // `name`.weight x + `name`.bias
  Numbers linear(const std::string& name, const Numbers& x) const {
    auto y = product(of_.at(name + ".weight"), x);
    if (!of_.contains(name + ".bias")) return y;
    return sum({y, numbers(of_.at(name + ".bias"))});
  }

  // W x + b of a cell, and its step from s where the input's share of the gates is x.
  Numbers input(const std::string& cell, const Numbers& x) const {
    return sum({product(of_.at(cell + ".W")[0].t(), x), numbers(of_.at(cell + ".b"))});
  }
  Numbers gru(const std::string& cell, const Numbers& x, const Numbers& s) const {
    const auto U = of_.at(cell + ".U")[0];
    const auto times = [&](std::int64_t gate, const Numbers& v, std::size_t i) {
      return dot(numbers(U.select(1, gate * D + static_cast<std::int64_t>(i))), v);
    };
    Numbers reset = s, next = s;
    for (std::size_t i = 0; i < D; ++i) reset[i] = sigmoid(x[i] + times(0, s, i)) * s[i];
    for (std::size_t i = 0; i < D; ++i) {
      const auto z = sigmoid(x[D + i] + times(1, s, i));
      next[i] = z * s[i] + (1 - z) * std::tanh(x[2 * D + i] + times(2, reset, i));
    }
    return next;
  }

  // c = Σ_s α_s h_s over the n real positions of h [S, C]; α is left in `weights`.
  Numbers attend(const Numbers& query, const torch::Tensor& h, std::int64_t n,
                 Numbers& weights) const {
    const auto v = numbers(of_.at("attention.v"));
    Numbers e;
    for (std::int64_t s = 0; s < n; ++s) {
      const auto inner = sum({linear("attention.W", query), linear("attention.U", numbers(h[s]))});
      e.push_back(dot(v, tanh_of(inner)));
    }
    weights = softmax(e);
    Numbers context(C);
    for (std::int64_t s = 0; s < n; ++s) {
      const auto state = numbers(h[s]);
      for (std::size_t i = 0; i < C; ++i) {
        context[i] += weights[static_cast<std::size_t>(s)] * state[i];
      }
    }
    return context;
  }

 private:
  std::map<std::string, torch::Tensor> of_;
};

struct Steps {
  std::vector<Numbers> readouts, states, weights;
};

// One sentence: y [T, E], h [S, C] of which n are real, the summary [C].
Steps decode(const Plain& plain, const DecoderOptions& options, const torch::Tensor& y,
             const torch::Tensor& h, std::int64_t n, const torch::Tensor& summary) {
  Steps steps;
  Numbers s = tanh_of(plain.linear("bridges.0", numbers(summary)));
  Numbers readout(R);
  for (std::int64_t t = 0; t < y.size(0); ++t) {
    auto x = plain.input("layer0", numbers(y[t]));
    if (options.input_feeding) x = sum({x, plain.linear("F", readout)});
    Numbers weights, context;
    switch (options.query) {
      case Query::new_:
        s = plain.gru("layer0", x, s);
        context = plain.attend(s, h, n, weights);
        break;
      case Query::between:
        s = plain.gru("layer0", x, s);
        context = plain.attend(s, h, n, weights);
        s = plain.gru("second", plain.input("second", context), s);
        break;
      default:
        context = plain.attend(s, h, n, weights);
        s = plain.gru("layer0", sum({x, plain.linear("C", context)}), s);
    }
    readout = tanh_of(sum({plain.linear("W_y", numbers(y[t])), plain.linear("W_s", s),
                           plain.linear("W_c", context)}));
    steps.readouts.push_back(readout);
    steps.states.push_back(s);
    steps.weights.push_back(weights);
  }
  return steps;
}

void expect_equal(const torch::Tensor& found, const Numbers& wanted, const std::string& what) {
  const auto values = numbers(found);
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(values[i], wanted[i], 1e-12) << what;
}

TEST(RecurrentDecoderReference, EveryStepIsTheEquationsNumberByNumber) {
  for (const auto query : {Query::last, Query::new_, Query::between}) {
    for (const bool input_feeding : {false, true}) {
      torch::manual_seed(5);
      const auto options = options_of(query, input_feeding);
      RecurrentDecoder decoder(C, options);
      decoder.to(torch::kDouble);
      decoder.eval();
      {
        const torch::NoGradGuard guard;  // biases begin at 0, which would hide one left out
        for (auto& parameter : decoder.parameters()) parameter.uniform_(-1, 1);
      }
      EncoderOutput encoded;
      encoded.states = torch::randn({B, S, C}, torch::kDouble);
      encoded.set_lengths(torch::tensor({S, S - 2}), S, torch::kCPU);
      encoded.summary = torch::randn({B, C}, torch::kDouble);
      decoder.prepare(encoded);
      const auto y = torch::randn({B, T, E}, torch::kDouble);
      const auto found = decoder.forward(y, encoded);

      const Plain plain(decoder);
      for (std::int64_t b = 0; b < B; ++b) {
        const auto n = encoded.lengths[b].item<std::int64_t>();
        const auto wanted =
            decode(plain, options.decoder, y[b], encoded.states[b], n, encoded.summary[b]);
        for (std::int64_t t = 0; t < T; ++t) {
          const auto k = static_cast<std::size_t>(t);
          const auto what = fmt::format("query {}, feeding {}, sentence {}, step {}",
                                        static_cast<int>(query), input_feeding, b, t);
          expect_equal(found.readout[b][t], wanted.readouts[k], what);
          expect_equal(found.hidden[b][t], wanted.states[k], what);
          expect_equal(found.weights[b][t], wanted.weights[k], what);
        }
      }
    }
  }
}

}  // namespace
}  // namespace regard::rnn_decoder_reference_test
