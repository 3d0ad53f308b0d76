#include "kernels/mode.h"

#include <utility>

#include "kernels/deferred_weight_gradients.h"
#include "kernels/device.h"
#include "kernels/packed_weights.h"

namespace regard::kernels {
namespace {

thread_local const Mode* mode_of_thread = nullptr;  // null: plain

}  // namespace

Mode::Mode(Kind kind, PackedWeights* weights, GradientFactors* factors,
           std::unique_ptr<DeferredGradients> deferred)
    : kind_(kind),
      weights_(weights),
      factors_(factors),
      deferred_(std::move(deferred)),
      previous_(std::exchange(mode_of_thread, this)) {
  if (kind == Kind::search) no_gradients_.emplace();
}

Mode::~Mode() {
  mode_of_thread = previous_;
}

Mode Mode::training(PackedWeights* weights, GradientFactors* factors) {
  return {Kind::training, weights, factors, nullptr};
}

Mode Mode::search(PackedWeights& weights) {
  return {Kind::search, &weights, nullptr, nullptr};
}

Mode Mode::time_loop() {
  const auto* outer = mode_of_thread;
  return {outer ? outer->kind_ : Kind::plain, outer ? outer->weights_ : nullptr,
          outer ? outer->factors_ : nullptr, std::make_unique<DeferredGradients>()};
}

bool in_search(const torch::Tensor& x) {
  return search_weights_for(x) != nullptr;
}

PackedWeights* search_weights_for(const torch::Tensor& W) {
  const auto* mode = mode_of_thread;
  return mode && mode->kind_ == Mode::Kind::search && is_fused_on(W) ? mode->weights_ : nullptr;
}

PackedWeights* training_weights() {
  const auto* mode = mode_of_thread;
  return mode && mode->kind_ == Mode::Kind::training ? mode->weights_ : nullptr;
}

PackedWeights* training_weights_for(const torch::Tensor& x) {
  return is_fused_on(x) && x.scalar_type() == torch::kFloat ? training_weights() : nullptr;
}

Precision training_precision_for(const torch::Tensor& x) {
  const auto* weights = training_weights_for(x);
  return weights == nullptr ? Precision::full : weights->precision();
}

PackedWeights* device_search_weights() {
  const auto* mode = mode_of_thread;
  return mode && mode->kind_ == Mode::Kind::search ? mode->weights_ : nullptr;
}

bool has_bf16_reference_products(const torch::Tensor& x) {
  const auto* weights =
      x.is_cpu() || training_weights() != nullptr ? training_weights() : device_search_weights();
  return weights != nullptr && !is_fused_on(x) && weights->precision() == Precision::bf16 &&
         x.scalar_type() == torch::kFloat;
}

GradientFactors* gradient_factors() {
  return mode_of_thread ? mode_of_thread->factors_ : nullptr;
}

DeferredGradients* deferred_gradients() {
  return mode_of_thread ? mode_of_thread->deferred_.get() : nullptr;
}

}  // namespace regard::kernels
