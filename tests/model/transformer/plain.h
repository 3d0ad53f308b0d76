// The Transformer in plain numbers, loop by loop and a sentence at a time, from the parameters of a
// module: what the fused, batched and cached one is held to.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace regard::plain {

using Vector = std::vector<double>;
using Rows = std::vector<Vector>;

inline Vector vector_of(const torch::Tensor& x) {
  const auto y = x.contiguous();
  return {y.data_ptr<double>(), y.data_ptr<double>() + y.numel()};
}
inline Rows rows_of(const torch::Tensor& x) {
  Rows rows;
  for (std::int64_t i = 0; i < x.size(0); ++i) rows.push_back(vector_of(x[i]));
  return rows;
}

class Transformer {
 public:
  // With `rotary`, self-attention has rotary positions.
  Transformer(const torch::nn::Module& module, std::size_t heads, bool pre, bool rotary = false)
      : heads_(heads), pre_(pre), rotary_(rotary) {
    for (const auto& item : module.named_parameters()) {
      parameters_[item.key()] = rows_of(item.value().detach().reshape(
          {item.value().size(0), item.value().numel() / item.value().size(0)}));
    }
  }

  // The weights by layer and head.
  using Heads = std::vector<std::vector<Rows>>;

  // Adds the weights of each layer to `heads`, unless it is null.
  Rows encode(Rows x, std::size_t layers, Heads* heads = nullptr) const {
    for (std::size_t l = 0; l < layers; ++l) {
      const auto layer = "layer" + std::to_string(l) + ".";
      x = around(layer + "attention_norm", x, [&](const Rows& z) {
        auto attended = attend(layer + "attention", z, z, false, rotary_);
        if (heads != nullptr) heads->push_back(attended.heads);
        return attended.y;
      });
      x = feed_forward_around(layer, x);
    }
    return pre_ ? norm("norm", x) : x;
  }

  struct DecoderOutput {
    Rows readout;
    Rows weights;  // of the last layer
    Heads self_attention;
  };
  DecoderOutput decode(Rows x, const Rows& source, std::size_t layers) const {
    DecoderOutput decoded;
    for (std::size_t l = 0; l < layers; ++l) {
      const auto layer = "layer" + std::to_string(l) + ".";
      x = around(layer + "self_attention_norm", x, [&](const Rows& z) {
        auto attended = attend(layer + "self_attention", z, z, true, rotary_);
        decoded.self_attention.push_back(attended.heads);
        return attended.y;
      });
      x = around(layer + "source_attention_norm", x, [&](const Rows& z) {
        auto attended = attend(layer + "source_attention", z, source, false);
        decoded.weights = attended.weights;
        return attended.y;
      });
      x = feed_forward_around(layer, x);
    }
    decoded.readout = pre_ ? norm("norm", x) : x;
    return decoded;
  }

  struct Attended {
    Rows y;
    Rows weights;  // the mean over the heads
    std::vector<Rows> heads;
  };
  Attended attend(const std::string& name, const Rows& queries, const Rows& source, bool causal,
                  bool rotary = false) const {
    auto q = linear(dotted(name) + "W_Q", queries);
    auto kv = linear(dotted(name) + "W_KV", source);
    if (rotary) {
      rotate(q, q[0].size());
      rotate(kv, q[0].size());
    }
    const auto D = q[0].size();
    const auto d = D / heads_;
    Attended attended;
    Rows mixed(q.size(), Vector(D, 0));
    attended.weights.assign(q.size(), Vector(source.size(), 0));
    attended.heads.assign(heads_, attended.weights);
    for (std::size_t t = 0; t < q.size(); ++t) {
      for (std::size_t h = 0; h < heads_; ++h) {
        const auto end = causal ? t + 1 : source.size();
        Vector alpha(end);
        double sum = 0;
        for (std::size_t s = 0; s < end; ++s) {
          double e = 0;
          for (auto i = h * d; i < (h + 1) * d; ++i) e += q[t][i] * kv[s][i];
          alpha[s] = std::exp(e / std::sqrt(static_cast<double>(d)));
          sum += alpha[s];
        }
        for (std::size_t s = 0; s < end; ++s) {
          attended.heads[h][t][s] = alpha[s] / sum;
          attended.weights[t][s] += alpha[s] / sum / static_cast<double>(heads_);
          for (auto i = h * d; i < (h + 1) * d; ++i) mixed[t][i] += alpha[s] / sum * kv[s][D + i];
        }
      }
    }
    attended.y = linear(dotted(name) + "W_O", mixed);
    return attended;
  }

 private:
  static std::string dotted(const std::string& name) { return name.empty() ? "" : name + "."; }

  Rows linear(const std::string& name, const Rows& x) const {
    const auto& W = parameters_.at(name + ".weight");
    const auto& b = parameters_.at(name + ".bias");
    Rows y;
    for (const auto& row : x) {
      Vector out;
      for (std::size_t o = 0; o < W.size(); ++o) {
        double sum = b[o][0];
        for (std::size_t i = 0; i < row.size(); ++i) sum += W[o][i] * row[i];
        out.push_back(sum);
      }
      y.push_back(out);
    }
    return y;
  }

  // Rotates the pairs of numbers of each head, in the first D columns, by the angles of their row.
  void rotate(Rows& x, std::size_t D) const {
    const auto d = D / heads_;
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t i = 0; i < D; i += 2) {
        const auto angle = static_cast<double>(t) *
                           std::pow(10000.0, -static_cast<double>(i % d) / static_cast<double>(d));
        const auto first = x[t][i], second = x[t][i + 1];
        x[t][i] = first * std::cos(angle) - second * std::sin(angle);
        x[t][i + 1] = first * std::sin(angle) + second * std::cos(angle);
      }
    }
  }

  Rows norm(const std::string& name, Rows x) const {
    const auto& g = parameters_.at(name + ".g");
    const auto& b = parameters_.at(name + ".b");
    for (auto& row : x) {
      const auto n = static_cast<double>(row.size());
      double mean = 0;
      double variance = 0;
      for (const auto v : row) mean += v / n;
      for (const auto v : row) variance += (v - mean) * (v - mean) / n;
      for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] = g[i][0] * (row[i] - mean) / std::sqrt(variance + 1e-5) + b[i][0];
      }
    }
    return x;
  }

  Rows around(const std::string& name, const Rows& x,
              const std::function<Rows(const Rows&)>& f) const {
    auto y = f(pre_ ? norm(name, x) : x);
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t i = 0; i < x[t].size(); ++i) y[t][i] += x[t][i];
    }
    return pre_ ? y : norm(name, y);
  }

  Rows feed_forward_around(const std::string& layer, const Rows& x) const {
    return around(layer + "feed_forward_norm", x, [&](const Rows& z) {
      auto inner = linear(layer + "feed_forward.W_1", z);
      for (auto& row : inner) {
        for (auto& v : row) v = std::max(0.0, v);
      }
      return linear(layer + "feed_forward.W_2", inner);
    });
  }

  std::size_t heads_;
  bool pre_;
  bool rotary_;
  std::map<std::string, Rows> parameters_;  // a vector as rows of one
};

// x[t] against rows[t] for each of rows.
inline bool close(const torch::Tensor& x, const Rows& rows, double tolerance = 1e-11) {
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const auto found = vector_of(x[static_cast<std::int64_t>(t)]);
    for (std::size_t i = 0; i < rows[t].size(); ++i) {
      if (!(std::abs(found[i] - rows[t][i]) <= tolerance)) return false;
    }
  }
  return true;
}

}  // namespace regard::plain
