#include "translation/quantized_weights.h"

#include <torch/utils.h>

#include <map>

#include "base/error.h"

namespace regard {
namespace {

using torch::Tensor;

constexpr double largest_level = 127;
constexpr std::int64_t min_numbers = 4096;  // of a matrix to quantize
const std::string suffix = ".scale";

struct Quantized {
  Tensor numbers;        // Q, 8 bits
  Tensor scale;          // s
  double squared_error;  // Σ (W − Q ⊙ s)²
};

// Quantizes with one scale for all numbers along this dimension: by row for -1, by column for -2.
Quantized quantize_along(const Tensor& weight, std::int64_t dimension) {
  const auto scale = weight.abs().amax(dimension, /*keepdim=*/true) / largest_level;
  // clamp_min: a row of zeros has the scale 0, and 0 / 0 is NaN.
  const auto numbers =
      (weight / scale.clamp_min(1e-30)).round().clamp(-largest_level, largest_level);
  const auto error = (weight - numbers * scale).square().sum().item<double>();
  return {numbers.to(torch::kChar), scale, error};
}

bool is_worth_it(const Tensor& weight) {
  return weight.scalar_type() == torch::kFloat && weight.dim() >= 2 &&
         weight.numel() >= min_numbers;
}

}  // namespace

NamedTensors quantize(const NamedTensors& weights) {
  const torch::NoGradGuard guard;
  NamedTensors result;
  for (const auto& [name, weight] : weights) {
    if (!weight.isfinite().all().item<bool>()) {
      throw CheckpointError("{}: found a weight that is not a finite number", name);
    }
    if (!is_worth_it(weight)) {
      result.emplace_back(name, weight);
      continue;
    }
    auto chosen = quantize_along(weight, -1);
    auto other = quantize_along(weight, -2);
    if (other.squared_error < chosen.squared_error) chosen = std::move(other);
    result.emplace_back(name, chosen.numbers);
    result.emplace_back(name + suffix, chosen.scale);
  }
  return result;
}

NamedTensors dequantize(const NamedTensors& weights, const std::string& where) {
  const std::map<std::string, Tensor> by_name(weights.begin(), weights.end());
  NamedTensors result;
  for (const auto& [name, weight] : weights) {
    const bool is_scale =
        name.ends_with(suffix) && by_name.contains(name.substr(0, name.size() - suffix.size()));
    if (is_scale) continue;
    if (weight.scalar_type() != torch::kChar) {
      result.emplace_back(name, weight);
      continue;
    }
    const auto scale = by_name.find(name + suffix);
    const bool fits = scale != by_name.end() && scale->second.scalar_type() == torch::kFloat &&
                      scale->second.dim() == weight.dim() &&
                      at::is_expandable_to(scale->second.sizes(), weight.sizes());
    if (!fits) {
      throw CheckpointError("{}: {} has 8-bit numbers, but {}{} is missing or does not fit", where,
                            name, name, suffix);
    }
    result.emplace_back(name, weight.to(torch::kFloat) * scale->second);
  }
  return result;
}

}  // namespace regard
