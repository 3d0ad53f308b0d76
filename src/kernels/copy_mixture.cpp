#include "kernels/copy_mixture.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/functions.h"
#include "kernels/loops/losses.h"
#include "kernels/mode.h"

namespace regard::kernels {
namespace {

template <typename T>
T log_add_exp(T a, T b) {
  const T larger = std::max(a, b);
  if (std::isinf(larger)) return larger;
  return larger + std::log1p(std::exp(-std::abs(a - b)));
}

// Adds the copies to one row: log_p [width] is log σ(g) + log P_vocabulary and becomes log P.
// log_copies is log σ(−g). mass [width] is 0 before and after.
template <typename T>
void add_copies(std::int64_t V, std::int64_t length, const std::int64_t* ids, const T* weights,
                T log_copies, std::vector<T>& mass, T* log_p) {
  constexpr T added = -1;  // in place of the mass of an id that is done
  for (std::int64_t s = 0; s < length; ++s) mass[ids[s]] += weights[s];
  for (std::int64_t s = 0; s < length; ++s) {
    const auto y = ids[s];
    if (mass[y] == added) continue;
    const T copied = y < V ? mass[y] : std::max(mass[y], T(least_extended_mass));
    if (copied != 0) log_p[y] = log_add_exp(log_p[y], log_copies + std::log(copied));
    mass[y] = added;
  }
  for (std::int64_t s = 0; s < length; ++s) mass[ids[s]] = 0;
}

torch::Tensor mixture_in_rows(const torch::Tensor& log_p, const torch::Tensor& gate,
                              const torch::Tensor& weights, const torch::Tensor& ids,
                              const torch::Tensor& lengths, std::int64_t width) {
  const auto B = log_p.size(0), G = log_p.size(1), V = log_p.size(2), S = ids.size(1);
  auto mixture = torch::full({B, G, width}, minus_infinity, log_p.options());
  mixture.narrow(2, 0, V).copy_(log_p + kernels::log_sigmoid(gate));
  const auto log_copies = kernels::log_sigmoid(-gate).contiguous();
  const auto alpha = weights.contiguous();
  const auto tokens = ids.contiguous();
  const auto real_lengths = lengths.contiguous();
  AT_DISPATCH_FLOATING_TYPES(log_p.scalar_type(), "copy_mixture", [&] {
    std::vector<scalar_t> mass(static_cast<std::size_t>(width), scalar_t(0));
    for (std::int64_t n = 0; n < B * G; ++n) {
      const auto b = n / G;
      add_copies(V, real_lengths.const_data_ptr<std::int64_t>()[b],
                 tokens.const_data_ptr<std::int64_t>() + b * S,
                 alpha.const_data_ptr<scalar_t>() + n * S, log_copies.const_data_ptr<scalar_t>()[n],
                 mass, mixture.mutable_data_ptr<scalar_t>() + n * width);
    }
  });
  return mixture;
}

// Returns log(σ(g) generated + σ(−g) copied).
torch::Tensor log_mixture(const torch::Tensor& gate, const torch::Tensor& log_generated,
                          const torch::Tensor& log_copied) {
  return torch::logaddexp(torch::log_sigmoid(gate) + log_generated,
                          torch::log_sigmoid(-gate) + log_copied);
}

// Returns the logarithm of the masses of vocabulary words: −∞ without gradient for a mass of 0.
torch::Tensor log_mass(const torch::Tensor& mass) {
  const auto is_zero = mass == 0;
  return mass.masked_fill(is_zero, 1).log().masked_fill(is_zero, minus_infinity);
}

// Returns the logarithm of the masses of words with ids ≥ V.
torch::Tensor log_extended_mass(const torch::Tensor& mass) {
  return mass.clamp_min(least_extended_mass).log();
}

// Returns Σ_{s: x_s = y} α_s for all y < width: α [B, G, S], x [B, S] -> [B, G, width].
torch::Tensor copied_mass(const torch::Tensor& weights, const torch::Tensor& ids,
                          std::int64_t width) {
  return weights.new_zeros({weights.size(0), weights.size(1), width})
      .scatter_add(2, ids.unsqueeze(1).expand_as(weights), weights);
}

}  // namespace

torch::Tensor copy_nll(const torch::Tensor& nll_of_vocabulary, const torch::Tensor& targets,
                       std::int64_t V, const Copies& copies) {
  const auto is_extended = targets >= V;
  const auto is_other = copies.ids != targets.unsqueeze(1);           // [N, S]
  const auto mass = copies.weights.masked_fill(is_other, 0).sum(-1);  // [N]
  const auto log_copied = torch::where(is_extended, log_extended_mass(mass), log_mass(mass));
  return -log_mixture(copies.gate, (-nll_of_vocabulary).masked_fill(is_extended, minus_infinity),
                      log_copied);
}

torch::Tensor copy_log_p(const torch::Tensor& log_p, const Copies& copies) {
  const auto V = log_p.size(1);
  // The last column collects the words outside of the vocabulary.
  const auto mass = copied_mass(copies.weights.unsqueeze(1), copies.ids.clamp_max(V), V + 1);
  return log_mixture(copies.gate.unsqueeze(1), log_p, log_mass(mass.squeeze(1).narrow(1, 0, V)));
}

torch::Tensor copy_mixture(const torch::Tensor& log_p, const torch::Tensor& gate,
                           const torch::Tensor& weights, const torch::Tensor& ids,
                           const torch::Tensor& lengths, std::int64_t width) {
  if (in_search(log_p)) return mixture_in_rows(log_p, gate, weights, ids, lengths, width);
  const auto V = log_p.size(2);
  const auto generated = torch::constant_pad_nd(log_p, {0, width - V}, minus_infinity);
  const auto is_extended = torch::arange(width, ids.options()) >= V;
  const auto is_own_extended = torch::zeros({log_p.size(0), width}, is_extended.options())
                                   .scatter_(1, ids, true)
                                   .logical_and(is_extended)
                                   .unsqueeze(1);  // [B, 1, width]
  const auto mass = copied_mass(weights, ids, width);
  return log_mixture(gate, generated,
                     torch::where(is_own_extended, log_extended_mass(mass), log_mass(mass)));
}

}  // namespace regard::kernels
