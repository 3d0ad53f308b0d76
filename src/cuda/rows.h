// Kernels over rows, in single precision, with the contracts and the equations of the loops for the
// CPU (kernels/loops/layer_norm.h and functions.h). Each is a struct with its arguments, which a
// block computes (block.h). Pointers are to memory of the device.
//
// A block computes a row:
//   - AddAndNorm: s = x + dropout(z), y = g ⊙ (s − mean(s)) · scale + b
//   - AddAndNormBackward: d_x and d_z
//   - CrossEntropy: −log P(target), the loss and its gradient
//
// A block computes 32 columns:
//   - ColumnSums: d_g = Σ_rows d_y ⊙ x̂, d_b = Σ_rows d_y
//
// A block computes 1,024 elements:
//   - Dropout: y = dropout(x) or dropout(max(0, x))
//   - ReluDropoutBackward: d_x = d_y / (1 − p) where y > 0
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda/block.h"
#include "kernels/keyed_dropout.h"

namespace regard::cuda {

// Dropout whose key is in memory of the device, unless `key_on_device` is null.
struct Mask {
  double p = 0;
  std::uint64_t key = 0;
  const std::uint64_t* key_on_device = nullptr;

  REGARD_DEVICE kernels::DropoutMask mask() const {
    return kernels::DropoutMask({p, key_on_device != nullptr ? *key_on_device : key});
  }
  REGARD_DEVICE float factor() const { return static_cast<float>(1 / (1 - p)); }
};

// x, z [n, D], g, b [D] -> sum, y [n, D], stats [n, 2]: mean and scale. If z is null, the sum is x.
struct AddAndNorm {
  static constexpr int threads = 128;
  std::int64_t D;
  const float *x, *z, *g, *b;
  Mask dropout;
  float epsilon;
  float *sum, *y, *stats;

  template <typename Block>
  REGARD_DEVICE void operator()(const Block& block) const {
    const std::int64_t first = block.index * D;
    const float* s = z != nullptr ? sum + first : x + first;
    if (z != nullptr) {
      const auto mask = dropout.mask();
      const float factor = dropout.factor();
      block.each([&](int t) {
        for (std::int64_t i = first + t; i < first + D; i += threads) {
          sum[i] = x[i] + (mask.keeps(i) ? z[i] * factor : 0);
        }
      });
    }
    const float mean = block.sum([&](int t) {
      float total = 0;
      for (std::int64_t i = t; i < D; i += threads) total += s[i];
      return total;
    }) / static_cast<float>(D);
    const float variance = block.sum([&](int t) {
      float squares = 0;
      for (std::int64_t i = t; i < D; i += threads) squares += (s[i] - mean) * (s[i] - mean);
      return squares;
    }) / static_cast<float>(D);
    const float scale = 1 / sqrtf(variance + epsilon);
    block.each([&](int t) {
      for (std::int64_t i = t; i < D; i += threads) {
        y[first + i] = (s[i] - mean) * scale * g[i] + b[i];
      }
      if (t == 0) stats[2 * block.index] = mean;
      if (t == 0) stats[2 * block.index + 1] = scale;
    });
  }
};

// d_sum [n, D] or null, d_y, sum [n, D], stats [n, 2], g [D] -> d_x [n, D], d_z [n, D] unless null.
// With x̂ = (sum − mean) · scale and a = d_y ⊙ g:
//   d_x = d_sum + scale · (a − mean(a) − x̂ · mean(a ⊙ x̂))
struct AddAndNormBackward {
  static constexpr int threads = 128;
  std::int64_t D;
  const float *d_sum, *d_y, *sum, *stats, *g;
  Mask dropout;
  float *d_x, *d_z;

  template <typename Block>
  REGARD_DEVICE void operator()(const Block& block) const {
    const std::int64_t first = block.index * D;
    const float mean = stats[2 * block.index], scale = stats[2 * block.index + 1];
    const auto normal = [&](std::int64_t i) { return (sum[first + i] - mean) * scale; };
    const float mean_a = block.sum([&](int t) {
      float total = 0;
      for (std::int64_t i = t; i < D; i += threads) total += d_y[first + i] * g[i];
      return total;
    }) / static_cast<float>(D);
    const float mean_ax = block.sum([&](int t) {
      float total = 0;
      for (std::int64_t i = t; i < D; i += threads) total += d_y[first + i] * g[i] * normal(i);
      return total;
    }) / static_cast<float>(D);
    const auto mask = dropout.mask();
    const float factor = dropout.factor();
    block.each([&](int t) {
      for (std::int64_t i = t; i < D; i += threads) {
        const std::int64_t at = first + i;
        float d = scale * (d_y[at] * g[i] - mean_a - normal(i) * mean_ax);
        if (d_sum != nullptr) d += d_sum[at];
        d_x[at] = d;
        if (d_z != nullptr) d_z[at] = mask.keeps(at) ? d * factor : 0;
      }
    });
  }
};

// d_y, sum [n, D], stats [n, 2] -> d_g, d_b [D], each column in the same order of rows.
struct ColumnSums {
  static constexpr int threads = 1024;
  static constexpr int columns = 32;  // of a block
  std::int64_t n, D;
  const float *d_y, *sum, *stats;
  float *d_g, *d_b;

  template <typename Block>
  REGARD_DEVICE void operator()(const Block& block) const {
    const std::int64_t first = block.index * columns;
    const auto add_up = [&](const auto& term, float* result) {
      block.each([&](int t) {
        const std::int64_t column = first + t % columns;
        float total = 0;
        for (std::int64_t row = t / columns; row < n && column < D; row += threads / columns) {
          total += term(row, row * D + column);
        }
        block.shared(t) = total;
      });
      block.sum_columns(columns, [&](int t, float total) {
        if (first + t < D) result[first + t] = total;
      });
    };
    add_up([&](std::int64_t, std::int64_t i) { return d_y[i]; }, d_b);
    add_up(
        [&](std::int64_t row, std::int64_t i) {
          return d_y[i] * ((sum[i] - stats[2 * row]) * stats[2 * row + 1]);
        },
        d_g);
  }
};

constexpr std::int64_t elements_in_block = 1024;  // of Dropout and ReluDropoutBackward

// x [n] -> y = dropout(x) or dropout(max(0, x)) [n]. NaN stays NaN.
struct Dropout {
  static constexpr int threads = 256;
  std::int64_t n;
  const float* x;
  bool is_relu;
  Mask dropout;
  float* y;

  template <typename Block>
  REGARD_DEVICE void operator()(const Block& block) const {
    const auto mask = dropout.mask();
    const float factor = dropout.factor();
    const std::int64_t first = block.index * elements_in_block;
    block.each([&](int t) {
      for (std::int64_t i = first + t; i < first + elements_in_block && i < n; i += threads) {
        y[i] = !mask.keeps(i) || (is_relu && x[i] < 0) ? 0 : x[i] * factor;
      }
    });
  }
};

// y, d_y [n] -> d_x [n]. y is 0 wherever d_x is, so the mask is not needed.
struct ReluDropoutBackward {
  static constexpr int threads = 256;
  std::int64_t n;
  const float *y, *d_y;
  float factor;  // 1 / (1 − p)
  float* d_x;

  template <typename Block>
  REGARD_DEVICE void operator()(const Block& block) const {
    const std::int64_t first = block.index * elements_in_block;
    block.each([&](int t) {
      for (std::int64_t i = first + t; i < first + elements_in_block && i < n; i += threads) {
        d_x[i] = y[i] > 0 ? d_y[i] * factor : 0;
      }
    });
  }
};

// logits [n, V] without their bias [V], targets [n], ignored [n] or null, label smoothing ε
//   -> −log P(target) nll [n], the loss of each row [n], and in place of the logits
//      d loss / d logits = softmax(logits + bias) − (1 − ε) one-hot(target) − ε / V
// Ignored rows have 0 everywhere. Without a gradient, the logits stay.
struct CrossEntropy {
  static constexpr int threads = 256;
  std::int64_t V;
  float* logits;
  const float* bias;
  const std::int64_t* targets;
  const bool* ignored;
  double label_smoothing;
  bool with_gradient;
  double *nll, *loss;

  template <typename Block>
  REGARD_DEVICE void operator()(const Block& block) const {
    float* row = logits + block.index * V;
    const bool is_ignored = ignored != nullptr && ignored[block.index];
    const auto each_column = [&](int t, const auto& f) {
      for (std::int64_t k = t; k < V; k += threads) f(k);
    };
    const float largest = block.largest([&](int t) {
      float most = -INFINITY;
      each_column(t, [&](std::int64_t k) { most = fmaxf(most, row[k] + bias[k]); });
      return most;
    });
    const float sum = block.sum([&](int t) {
      float total = 0;
      each_column(t, [&](std::int64_t k) { total += row[k] + bias[k]; });
      return total;
    });
    const float total = block.sum([&](int t) {
      float exponentials = 0;
      each_column(t, [&](std::int64_t k) { exponentials += expf(row[k] + bias[k] - largest); });
      return exponentials;
    });
    const auto target = targets[block.index];
    block.each([&](int t) {
      if (t != 0) return;
      const double log_total = largest + log(static_cast<double>(total));
      const double of_target = row[target] + bias[target];
      const double mean = static_cast<double>(sum) / static_cast<double>(V);
      nll[block.index] = is_ignored ? 0 : log_total - of_target;
      loss[block.index] =
          is_ignored ? 0 : log_total - (1 - label_smoothing) * of_target - label_smoothing * mean;
    });
    if (!with_gradient) return;
    const auto uniform = static_cast<float>(label_smoothing / static_cast<double>(V));
    const auto one = static_cast<float>(1 - label_smoothing);
    block.each([&](int t) {
      each_column(t, [&](std::int64_t k) {
        const float p = expf(row[k] + bias[k] - largest) / total;
        row[k] = is_ignored ? 0 : p - uniform - (k == target ? one : 0);
      });
    });
  }
};

}  // namespace regard::cuda
