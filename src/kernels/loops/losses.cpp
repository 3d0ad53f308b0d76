#include "kernels/loops/losses.h"

#include <algorithm>
#include <cmath>

#include "kernels/loops/vector_math.h"

namespace regard::kernels {
namespace {

// Largest and sum of the logits of a row.
template <typename T>
struct RowRange {
  T largest;
  T sum = 0;

  // Adds the bias to the logits.
  REGARD_INLINE RowRange(std::int64_t V, T* logits, const T* bias) {
    T most = logits[0] + bias[0];
    T all = 0;
#pragma omp simd reduction(max : most) reduction(+ : all)
    for (std::int64_t y = 0; y < V; ++y) {
      logits[y] += bias[y];
      most = logits[y] > most ? logits[y] : most;
      all += logits[y];
    }
    largest = most;
    sum = all;
  }
};

// Writes exp(logits − largest) to p, which may be the logits. Returns the sum.
template <typename T>
REGARD_INLINE T exp_row(std::int64_t V, const T* logits, T largest, T* p) {
  T total = 0;
#pragma omp simd reduction(+ : total)
  for (std::int64_t y = 0; y < V; ++y) {
    p[y] = vector_exp(logits[y] - largest);
    total += p[y];
  }
  return total;
}

// log Σ_y exp(logits_y)
template <typename T>
REGARD_INLINE double log_sum_of(T largest, T total) {
  return static_cast<double>(largest) + std::log(static_cast<double>(total));
}

}  // namespace

template <typename T>
REGARD_FOR_EACH_CPU double cross_entropy_rows(std::int64_t n, std::int64_t V, T* logits,
                                              const T* bias, const std::int64_t* targets,
                                              double label_smoothing, T* d_bias, double* nll) {
  double loss = 0;
  const T uniform = static_cast<T>(label_smoothing / static_cast<double>(V));
  for (std::int64_t row = 0; row < n; ++row, logits += V) {
    const RowRange<T> range(V, logits, bias);
    const double target = logits[targets[row]];
    const T total = exp_row(V, logits, range.largest, logits);
    const double log_total = log_sum_of(range.largest, total);
    const double mean = static_cast<double>(range.sum) / static_cast<double>(V);
    nll[row] = log_total - target;
    loss += log_total - (1 - label_smoothing) * target - label_smoothing * mean;
    if (d_bias == nullptr) continue;

    const T inverse = 1 / total;
#pragma omp simd
    for (std::int64_t y = 0; y < V; ++y) {
      logits[y] = logits[y] * inverse - uniform;
      d_bias[y] += logits[y];
    }
    const T one = static_cast<T>(1 - label_smoothing);
    logits[targets[row]] -= one;
    d_bias[targets[row]] -= one;
  }
  return loss;
}

namespace {

// A row of logits with its softmax.
template <typename T>
struct SoftmaxRow {
  T* logits;         // replaced by log softmax
  T* probabilities;  // softmax
  double mean;       // of log softmax

  REGARD_INLINE SoftmaxRow(std::int64_t V, T* row, const T* bias, T* p)
      : logits(row), probabilities(p) {
    const RowRange<T> range(V, row, bias);
    const T total = exp_row(V, row, range.largest, p);
    const double log_total = log_sum_of(range.largest, total);
    mean = static_cast<double>(range.sum) / static_cast<double>(V) - log_total;
    const T inverse = 1 / total;
    const T shift = static_cast<T>(log_total);
#pragma omp simd
    for (std::int64_t y = 0; y < V; ++y) {
      p[y] *= inverse;
      row[y] -= shift;
    }
  }
};

}  // namespace

template <typename T>
REGARD_FOR_EACH_CPU double consistent_cross_entropy_rows(std::int64_t n, std::int64_t V, T* first,
                                                         T* second, const T* bias,
                                                         const std::int64_t* targets,
                                                         double label_smoothing, double consistency,
                                                         T* d_bias, double* nll_first,
                                                         double* nll_second, T* scratch) {
  double loss = 0;
  const T uniform = static_cast<T>(label_smoothing / static_cast<double>(V));
  const T one = static_cast<T>(1 - label_smoothing);
  const T kappa = static_cast<T>(consistency);
  for (std::int64_t row = 0; row < n; ++row, first += V, second += V) {
    const SoftmaxRow<T> p(V, first, bias, scratch);
    const SoftmaxRow<T> q(V, second, bias, scratch + V);
    const auto target = targets[row];
    nll_first[row] = -static_cast<double>(first[target]);
    nll_second[row] = -static_cast<double>(second[target]);
    T kl_pq = 0;
    T kl_qp = 0;
#pragma omp simd reduction(+ : kl_pq, kl_qp)
    for (std::int64_t y = 0; y < V; ++y) {
      const T difference = first[y] - second[y];
      kl_pq += p.probabilities[y] * difference;
      kl_qp -= q.probabilities[y] * difference;
    }
    loss += (1 - label_smoothing) * (nll_first[row] + nll_second[row]) -
            label_smoothing * (p.mean + q.mean) +
            consistency * (static_cast<double>(kl_pq) + static_cast<double>(kl_qp));
    if (d_bias == nullptr) continue;

#pragma omp simd
    for (std::int64_t y = 0; y < V; ++y) {
      const T difference = first[y] - second[y];
      const T py = p.probabilities[y];
      const T qy = q.probabilities[y];
      first[y] = py - uniform + kappa * (py - qy + py * (difference - kl_pq));
      second[y] = qy - uniform + kappa * (qy - py - qy * (difference + kl_qp));
      d_bias[y] += first[y] + second[y];
    }
    first[target] -= one;
    second[target] -= one;
    d_bias[target] -= 2 * one;
  }
  return loss;
}

namespace {

// log P(y) of a pointer-generator, and the shares of P(y) that are generated, r_y, and copied.
struct Mixture {
  double log_p;
  double generated_share = 1;
  double copied_share = 0;

  // log_generated is log σ(g) + log P_vocabulary(y), log_copies is log σ(−g).
  REGARD_INLINE Mixture(double log_generated, double log_copies, double mass)
      : log_p(log_generated) {
    if (mass == 0) return;
    const double log_copied = log_copies + std::log(mass);
    log_p = std::max(log_generated, log_copied) +
            std::log1p(std::exp(-std::abs(log_generated - log_copied)));
    generated_share = std::exp(log_generated - log_p);
    copied_share = std::exp(log_copied - log_p);
  }
};

// The loss of one row of a pointer-generator, and the gradients of its copies. The weight of
// −log P(y) in the loss is `uniform` for all words of the vocabulary, and `one` more for the
// target.
template <typename T>
struct CopyRow {
  std::int64_t V, S;
  const T* weights;         // α [S]
  const std::int64_t* ids;  // x [S]
  double uniform, one;
  double log_gate, log_copies;  // log σ(g), log σ(−g)
  double log_total;             // of the exponential functions of all logits
  double loss = 0;
  double R = 0;

  // Adds the words with the weight `uniform`. `sum` is that of all logits, source_logits [S] are
  // those of the source words, and mass [V + S] is 0. Replaces source_logits[s] by ε / V (1 − r_y),
  // the term that d logit_y has more (0 if y occurred before), and mass[y] by d m_y, for y < V.
  REGARD_INLINE void add_vocabulary(double sum, T* source_logits, T* mass) {
    R += uniform * static_cast<double>(V);
    sum += static_cast<double>(V) * (log_gate - log_total);  // Σ log P without copies
    for (std::int64_t s = 0; s < S; ++s) mass[ids[s]] += weights[s];
    for (std::int64_t s = 0; s < S; ++s) {
      const double log_generated = log_gate + source_logits[s] - log_total;
      const double m = mass[ids[s]];
      source_logits[s] = 0;
      if (ids[s] >= V || m <= 0) continue;  // m ≤ 0: not copied, or done, as d_mass is ≤ 0
      const Mixture p(log_generated, log_copies, m);
      sum += p.log_p - log_generated;
      R -= uniform * p.copied_share;
      source_logits[s] = static_cast<T>(uniform * p.copied_share);
      mass[ids[s]] = static_cast<T>(-uniform * p.copied_share / m);
    }
    loss -= uniform * sum;
  }

  struct Target {
    double nll;
    double weighted_share;  // (1 − ε) r
    double d_mass;
  };
  // Adds the target; its logit is not read if it is not in the vocabulary.
  REGARD_INLINE Target add_target(std::int64_t target, double logit) {
    double m = 0;
    for (std::int64_t s = 0; s < S; ++s) m += ids[s] == target ? weights[s] : T(0);
    Target result = {};
    if (target >= V) {
      result.nll = -log_copies - std::log(m < least_extended_mass ? least_extended_mass : m);
      if (m >= least_extended_mass) result.d_mass = -one / m;
    } else {
      const Mixture p(log_gate + logit - log_total, log_copies, m);
      result.nll = -p.log_p;
      result.weighted_share = one * p.generated_share;
      if (m > 0) result.d_mass = -one * p.copied_share / m;
    }
    R += result.weighted_share;
    loss += one * result.nll;
    return result;
  }
};

}  // namespace

template <typename T>
REGARD_FOR_EACH_CPU double copy_cross_entropy_rows(std::int64_t n, std::int64_t V, T* logits,
                                                   const T* bias, const std::int64_t* targets,
                                                   CopiedRows<T> copies, double label_smoothing,
                                                   T* d_bias, double* nll) {
  double loss = 0;
  const auto S = copies.S;
  const bool is_smooth = label_smoothing > 0;
  const T uniform = static_cast<T>(label_smoothing / static_cast<double>(V));
  T* mass = copies.scratch;                   // [V + S]
  T* source_logits = copies.scratch + V + S;  // the logits of the source words [S]
  for (std::int64_t i = 0; i < n; ++i, logits += V) {
    const auto* ids = copies.ids + i * S;
    const auto target = targets[i];
    // 1. The softmax of the row.
    const RowRange<T> range(V, logits, bias);
    const double target_logit = target < V ? logits[target] : T(0);
    if (is_smooth) {
      for (std::int64_t s = 0; s < S; ++s) source_logits[s] = ids[s] < V ? logits[ids[s]] : T(0);
    }
    const T total = exp_row(V, logits, range.largest, logits);
    // 2. The loss.
    const double gate = copies.gate[i];
    CopyRow<T> row = {.V = V,
                      .S = S,
                      .weights = copies.weights + i * S,
                      .ids = ids,
                      .uniform = label_smoothing / static_cast<double>(V),
                      .one = 1 - label_smoothing,
                      .log_gate = log_sigmoid(gate),
                      .log_copies = log_sigmoid(-gate),
                      .log_total = log_sum_of(range.largest, total)};
    if (is_smooth) row.add_vocabulary(static_cast<double>(range.sum), source_logits, mass);
    const auto of_target = row.add_target(target, target_logit);
    nll[i] = of_target.nll;
    loss += row.loss;
    // 3. The gradients.
    if (d_bias != nullptr) {
      copies.d_gate[i] = static_cast<T>(std::exp(row.log_gate) - row.R);
      T* d_weights = copies.d_weights + i * S;
      for (std::int64_t s = 0; s < S; ++s) {
        d_weights[s] = is_smooth && ids[s] < V ? mass[ids[s]] : T(0);
        if (ids[s] == target) d_weights[s] += static_cast<T>(of_target.d_mass);
      }
      const T scale = static_cast<T>(row.R / static_cast<double>(total));
#pragma omp simd
      for (std::int64_t y = 0; y < V; ++y) {
        logits[y] = logits[y] * scale - uniform;
        d_bias[y] += logits[y];
      }
      const auto add = [&](std::int64_t y, T more) {
        if (y >= V) return;
        logits[y] += more;
        d_bias[y] += more;
      };
      for (std::int64_t s = 0; is_smooth && s < S; ++s) add(ids[s], source_logits[s]);
      add(target, static_cast<T>(-of_target.weighted_share));
    }
    for (std::int64_t s = 0; is_smooth && s < S; ++s) mass[ids[s]] = 0;
  }
  return loss;
}

#define REGARD_INSTANTIATE(T)                                                                     \
  template double cross_entropy_rows(std::int64_t, std::int64_t, T*, const T*,                    \
                                     const std::int64_t*, double, T*, double*);                   \
  template double consistent_cross_entropy_rows(std::int64_t, std::int64_t, T*, T*, const T*,     \
                                                const std::int64_t*, double, double, T*, double*, \
                                                double*, T*);                                     \
  template double copy_cross_entropy_rows(std::int64_t, std::int64_t, T*, const T*,               \
                                          const std::int64_t*, CopiedRows<T>, double, T*,         \
                                          double*);
REGARD_INSTANTIATE(float)
REGARD_INSTANTIATE(double)

}  // namespace regard::kernels
