// Kernels for a step of the time loops, in single precision, with the equations of the loops for
// the CPU (kernels/loops/cells.h and attention.h). Each is a struct with its arguments, which a
// block computes (block.h). Pointers are to memory of the device. Sums have a fixed order.
//
// A block computes a row, the state of one sentence:
//   - CellForward, CellBackward: a cell, or half of a GRU whose reset gate is before the product
//
// A block computes a sentence:
//   - Attend, AttendBackward: from the query to the mixture
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda/block.h"
#include "kernels/loops/attention.h"

namespace regard::cuda {

// The parts of a step between two products.
enum class CellPart { gru_after, gru_before_reset, gru_before_candidate, lstm, tanh };

REGARD_DEVICE float sigmoid(float x) {
  return 1 / (1 + expf(-x));
}

// The number of gates K of a row of inputs.
REGARD_DEVICE constexpr int gates_of(CellPart part) {
  return part == CellPart::lstm ? 4 : part == CellPart::tanh ? 1 : 3;
}

// x [n, K · D] becomes the activations of the gates that this part computes; that of a tanh stays.
//
//   gru_after             u = U s [n, 3D], b_U -> product = u + b_U of s̃, next
//   gru_before_reset      u = U s [n, 2D]      -> product = r ⊙ s
//   gru_before_candidate  u = U product [n, D] -> next
//   lstm                  u = U h [n, 4D], c   -> next_c, next
//   tanh                  u = U h [n, D]       -> next
//
// u has rows of `u_width` numbers, the other arrays rows of D. The first `rows_of_cell` rows take
// the first row of b_U [·, D], and so on.
struct CellForward {
  static constexpr int threads = 256;
  CellPart part;
  std::int64_t D, rows_of_cell, u_width;
  float* x;
  const float* u;
  const float *b_U = nullptr, *s = nullptr;
  float* product = nullptr;
  const float* c = nullptr;
  float* next_c = nullptr;
  float* next;

  template <typename Block>
  REGARD_DEVICE void operator()(const Block& block) const {
    const std::int64_t row = block.index;
    float* gates = x + row * gates_of(part) * D;
    const float* sums = u + row * u_width;
    const float* bias = b_U != nullptr ? b_U + row / rows_of_cell * D : nullptr;
    block.each([&](int t) {
      for (std::int64_t d = t; d < D; d += threads) {
        element(row * D + d, d, gates + d, sums + d, bias);
      }
    });
  }

 private:
  // i: of a state, d: of its row.
  REGARD_DEVICE void element(std::int64_t i, std::int64_t d, float* gate, const float* sum,
                             const float* bias) const {
    switch (part) {
      case CellPart::gru_after: {
        const float r = sigmoid(gate[0] + sum[0]);
        const float z = sigmoid(gate[D] + sum[D]);
        product[i] = sum[2 * D] + (bias != nullptr ? bias[d] : 0);
        const float candidate = tanhf(gate[2 * D] + r * product[i]);
        gate[0] = r;
        gate[D] = z;
        gate[2 * D] = candidate;
        next[i] = candidate + z * (s[i] - candidate);
        break;
      }
      case CellPart::gru_before_reset:
        gate[0] = sigmoid(gate[0] + sum[0]);
        gate[D] = sigmoid(gate[D] + sum[D]);
        product[i] = gate[0] * s[i];
        break;
      case CellPart::gru_before_candidate: {
        const float candidate = tanhf(gate[2 * D] + sum[0]);
        gate[2 * D] = candidate;
        next[i] = candidate + gate[D] * (s[i] - candidate);
        break;
      }
      case CellPart::lstm: {
        for (int k = 0; k < 3; ++k) gate[k * D] = sigmoid(gate[k * D] + sum[k * D]);
        gate[3 * D] = tanhf(gate[3 * D] + sum[3 * D]);
        next_c[i] = gate[D] * c[i] + gate[0] * gate[3 * D];
        next[i] = gate[2 * D] * tanhf(next_c[i]);
        break;
      }
      case CellPart::tanh:
        next[i] = tanhf(gate[0] + sum[0]);
        break;
    }
  }
};

// The gradients of the sums of the gates that this part computed, d_x in rows of `width` numbers,
// from d [n, D]: that of the next state, or of `product` for gru_before_reset.
//
//   gru_before_candidate  -> d_x of z and s̃; adds to d_s
//   gru_before_reset      -> d_x of r; adds to d_s
//   gru_after             -> d_u of s̃ in front of d_x, with those of r and z alone; adds to d_s
//   lstm, tanh            -> d_x; d_c of an LSTM becomes that before the step
//
// d_s lacks the part that reaches the state through the products.
struct CellBackward {
  static constexpr int threads = 256;
  CellPart part;
  std::int64_t D, width;
  const float *d, *gates;
  const float *s = nullptr, *product = nullptr, *c = nullptr, *next_c = nullptr, *next = nullptr;
  float* d_x;
  float *d_s = nullptr, *d_c = nullptr;

  template <typename Block>
  REGARD_DEVICE void operator()(const Block& block) const {
    const std::int64_t row = block.index;
    const float* activations = gates + row * gates_of(part) * D;
    block.each([&](int t) {
      for (std::int64_t i = t; i < D; i += threads) {
        element(row * D + i, activations + i, d_x + row * width + i);
      }
    });
  }

 private:
  static REGARD_DEVICE float by_sigmoid(float d_y, float y) { return d_y * y * (1 - y); }
  static REGARD_DEVICE float by_tanh(float d_y, float y) { return d_y * (1 - y * y); }

  REGARD_DEVICE void element(std::int64_t i, const float* gate, float* d_sum) const {
    switch (part) {
      case CellPart::gru_before_candidate: {
        const float z = gate[D], candidate = gate[2 * D];
        d_sum[D] = by_sigmoid(d[i] * (s[i] - candidate), z);
        d_sum[2 * D] = by_tanh(d[i] * (1 - z), candidate);
        d_s[i] += d[i] * z;
        break;
      }
      case CellPart::gru_before_reset:
        d_sum[0] = by_sigmoid(d[i] * s[i], gate[0]);
        d_s[i] += d[i] * gate[0];
        break;
      case CellPart::gru_after: {
        const float r = gate[0], z = gate[D], candidate = gate[2 * D];
        const float d_candidate = by_tanh(d[i] * (1 - z), candidate);
        d_sum[0] = d_candidate * r;
        d_sum[D] = by_sigmoid(d_candidate * product[i], r);
        d_sum[2 * D] = by_sigmoid(d[i] * (s[i] - candidate), z);
        d_sum[3 * D] = d_candidate;
        d_s[i] += d[i] * z;
        break;
      }
      case CellPart::lstm: {
        const float in = gate[0], forget = gate[D], out = gate[2 * D], candidate = gate[3 * D];
        const float tanh_c = tanhf(next_c[i]);
        const float d_next_c = d_c[i] + by_tanh(d[i] * out, tanh_c);
        d_sum[0] = by_sigmoid(d_next_c * candidate, in);
        d_sum[D] = by_sigmoid(d_next_c * c[i], forget);
        d_sum[2 * D] = by_sigmoid(d[i] * tanh_c, out);
        d_sum[3 * D] = by_tanh(d_next_c * in, candidate);
        d_c[i] = d_next_c * forget;
        break;
      }
      case CellPart::tanh:
        d_sum[0] = by_tanh(d[i], next[i]);
        break;
    }
  }
};

using kernels::ScoreForm;

// The arguments that both passes of attention read.
struct AttentionInputs {
  ScoreForm form;
  float scale;
  std::int64_t S, A, M;               // A: the width of q and of a key, M: of a row of the mixture
  std::int64_t q_width;               // of a row of q
  const float *q, *keys, *v, *mixed;  // [B, A], [B, S, A], [A] of additive, [B, S, M]

  // |q|, or the bound, of the cosine.
  template <typename Block>
  REGARD_DEVICE float norm(const Block& block, const float* query) const {
    const float squares = block.sum([&](int t) {
      float total = 0;
      for (std::int64_t a = t; a < A; a += Block::threads) total += query[a] * query[a];
      return total;
    });
    return fmaxf(sqrtf(squares), static_cast<float>(kernels::smallest_norm));
  }
};

// Computes f(s, lane) over the lanes of each position, adds them up and calls use(s, sum).
template <typename Block, typename F, typename Use>
REGARD_DEVICE void sum_positions(const Block& block, std::int64_t S, const F& f, const Use& use) {
  constexpr int lanes = 32;
  for (std::int64_t first = 0; first < S; first += Block::threads / lanes) {
    block.each([&](int t) {
      const std::int64_t s = first + t / lanes;
      block.shared(t) = s < S ? f(s, t % lanes) : 0;
    });
    block.sum_groups(lanes, [&](int group, float sum) {
      if (first + group < S) use(first + group, sum);
    });
  }
}

// padding [B, S] -> α [B, S], 0 at padding; adds the mixture Σ α_s m_s to x [B, M].
struct Attend {
  static constexpr int threads = 256;
  AttentionInputs in;
  const bool* padding;
  float *x, *weights;

  template <typename Block>
  REGARD_DEVICE void operator()(const Block& block) const {
    const auto S = in.S, A = in.A, M = in.M;
    const float* query = in.q + block.index * in.q_width;
    const float* keys = in.keys + block.index * S * A;
    const bool* is_padding = padding + block.index * S;
    float* alpha = weights + block.index * S;
    const auto store = [&](std::int64_t s, float e) { alpha[s] = is_padding[s] ? -INFINITY : e; };
    if (in.form == ScoreForm::position) {
      block.each([&](int t) {
        for (std::int64_t s = t; s < S; s += threads) store(s, query[s]);
      });
    } else if (in.form == ScoreForm::additive) {
      const auto term = [&](std::int64_t s, int lane) {
        float total = 0;
        for (std::int64_t a = lane; a < A; a += 32)
          total += in.v[a] * tanhf(keys[s * A + a] + query[a]);
        return total;
      };
      sum_positions(block, S, term, store);
    } else {
      const float scale =
          in.form == ScoreForm::cosine ? in.scale / in.norm(block, query) : in.scale;
      const auto term = [&](std::int64_t s, int lane) {
        float total = 0;
        for (std::int64_t a = lane; a < A; a += 32) total += keys[s * A + a] * query[a];
        return total;
      };
      sum_positions(block, S, term, [&](std::int64_t s, float e) { store(s, scale * e); });
    }
    const float largest = block.largest([&](int t) {
      float most = -INFINITY;
      for (std::int64_t s = t; s < S; s += threads) most = fmaxf(most, alpha[s]);
      return most;
    });
    const float total = block.sum([&](int t) {
      float exponentials = 0;
      for (std::int64_t s = t; s < S; s += threads) exponentials += expf(alpha[s] - largest);
      return exponentials;
    });
    block.each([&](int t) {
      for (std::int64_t s = t; s < S; s += threads) alpha[s] = expf(alpha[s] - largest) / total;
    });
    const float* mixed = in.mixed + block.index * S * M;
    block.each([&](int t) {
      for (std::int64_t m = t; m < M; m += threads) {
        float mixture = 0;
        for (std::int64_t s = 0; s < S; ++s) mixture += alpha[s] * mixed[s * M + m];
        x[block.index * M + m] += mixture;
      }
    });
  }
};

// α [B, S] as Attend wrote it, its gradient d_weights [B, S] or null, that of the mixture d_mixture
// in rows of d_mixture_width numbers -> d_e [B, S], d_q in rows of d_q_width numbers, or added to
// them. Adds to d_keys [B, S, A] of the additive score and the cosine, and to d_v [B, A], the
// gradient of v for each sentence, of the additive score.
struct AttendBackward {
  static constexpr int threads = 256;
  AttentionInputs in;
  const float *weights, *d_weights, *d_mixture;
  std::int64_t d_mixture_width, d_q_width;
  bool adds_d_q;
  float *d_e, *d_q, *d_keys, *d_v;

  template <typename Block>
  REGARD_DEVICE void operator()(const Block& block) const {
    const auto S = in.S, M = in.M;
    const float* alpha = weights + block.index * S;
    const float* d_alpha = d_weights != nullptr ? d_weights + block.index * S : nullptr;
    const float* mixed = in.mixed + block.index * S * M;
    const float* d_row = d_mixture + block.index * d_mixture_width;
    float* d_score = d_e + block.index * S;
    sum_positions(
        block, S,
        [&](std::int64_t s, int lane) {
          float total = 0;
          for (std::int64_t m = lane; m < M; m += 32) total += mixed[s * M + m] * d_row[m];
          return total;
        },
        [&](std::int64_t s, float d) { d_score[s] = d + (d_alpha != nullptr ? d_alpha[s] : 0); });
    const float mean = block.sum([&](int t) {
      float total = 0;
      for (std::int64_t s = t; s < S; s += threads) total += alpha[s] * d_score[s];
      return total;
    });
    block.each([&](int t) {
      for (std::int64_t s = t; s < S; s += threads) d_score[s] = alpha[s] * (d_score[s] - mean);
    });
    query_and_keys(block, d_score);
  }

 private:
  template <typename Block>
  REGARD_DEVICE void query_and_keys(const Block& block, const float* d_score) const {
    const auto S = in.S, A = in.A;
    const float* query = in.q + block.index * in.q_width;
    const float* keys = in.keys + block.index * S * A;
    float* d_key = d_keys + block.index * S * A;
    float* d_query = d_q + block.index * d_q_width;
    const auto put = [&](std::int64_t a, float d) { d_query[a] = adds_d_q ? d_query[a] + d : d; };
    const auto through_keys = [&](std::int64_t a) {
      float total = 0;
      for (std::int64_t s = 0; s < S; ++s) total += d_score[s] * keys[s * A + a];
      return total;
    };
    switch (in.form) {
      case ScoreForm::additive:
        block.each([&](int t) {
          for (std::int64_t a = t; a < A; a += threads) {
            float of_query = 0, of_v = 0;
            for (std::int64_t s = 0; s < S; ++s) {
              const float h = tanhf(keys[s * A + a] + query[a]);
              const float d = d_score[s] * in.v[a] * (1 - h * h);
              of_v += d_score[s] * h;
              of_query += d;
              d_key[s * A + a] += d;
            }
            put(a, of_query);
            d_v[block.index * A + a] += of_v;
          }
        });
        break;
      case ScoreForm::dot:
        block.each([&](int t) {
          for (std::int64_t a = t; a < A; a += threads) put(a, in.scale * through_keys(a));
        });
        break;
      case ScoreForm::position:
        block.each([&](int t) {
          for (std::int64_t s = t; s < S; s += threads) put(s, d_score[s]);
        });
        break;
      case ScoreForm::cosine: {
        const float norm = in.norm(block, query);
        // The projection of d_q on q, which its norm does not pass on, but for a norm of nearly 0.
        const float along = block.sum([&](int t) {
          float total = 0;
          for (std::int64_t a = t; a < A; a += threads) total += through_keys(a) * query[a] / norm;
          return total;
        });
        const float projected = norm > static_cast<float>(kernels::smallest_norm) ? along : 0;
        block.each([&](int t) {
          for (std::int64_t a = t; a < A; a += threads) {
            const float unit = query[a] / norm;
            put(a, in.scale / norm * (through_keys(a) - projected * unit));
            for (std::int64_t s = 0; s < S; ++s) d_key[s * A + a] += in.scale * d_score[s] * unit;
          }
        });
        break;
      }
    }
  }
};

}  // namespace regard::cuda
