// The mode in which the operations of this folder compute on a thread.
//
//                    plain      training                    search
//   gradients        computed   computed                    disabled
//   products with    LibTorch   packed once a step, in the  packed once for all threads, in
//     weights                   precision of the run        its precision, each row by itself
//   time loops       fused      fused, in that precision    by single steps
//   functions        LibTorch   LibTorch                    each row by itself
//   layer norms      fused, each row by itself, in every mode
//   attention        fused      fused                       each query by itself, over the real
//                                                           positions of its sentence
//
// This holds for tensors on the CPU. A search has the same bits in every batch there: LibTorch's
// operations do not guarantee this, because the order of their sums and the rounding of their
// functions depend on the sizes of the tensors. On other devices, plain and search are the same,
// but for products in bf16 if the run or the search is in bf16.
//
// A loop of plain steps with autograd (Mode::time_loop()) defers the gradients of the matrices that
// every step multiplies by (deferred_weight_gradients.h).
#pragma once

#include <torch/types.h>

#include <memory>
#include <optional>

#include "kernels/loops/products.h"

namespace regard::kernels {

class DeferredGradients;
class GradientFactors;
class PackedWeights;

// A scope: while an object lives, it is the mode of its thread. The mode is plain without one.
// Objects may be nested; the innermost one counts.
class Mode {
 public:
  // Products use `weights`, in forward and backward passes. If it is null, they are plain. Backward
  // passes note the factors of weight gradients in `factors`, unless it is null.
  static Mode training(PackedWeights* weights, GradientFactors* factors = nullptr);
  // Products use `weights`.
  static Mode search(PackedWeights& weights);
  // The current mode, with deferred gradients. The backward pass may run after the scope has ended.
  static Mode time_loop();

  ~Mode();
  Mode(const Mode&) = delete;
  Mode& operator=(const Mode&) = delete;

 private:
  enum class Kind { plain, training, search };
  friend bool in_search(const torch::Tensor& x);
  friend PackedWeights* search_weights_for(const torch::Tensor& W);
  friend PackedWeights* training_weights();
  friend PackedWeights* device_search_weights();
  friend GradientFactors* gradient_factors();
  friend DeferredGradients* deferred_gradients();

  Mode(Kind kind, PackedWeights* weights, GradientFactors* factors,
       std::unique_ptr<DeferredGradients> deferred);

  Kind kind_;
  PackedWeights* weights_;
  GradientFactors* factors_;
  std::unique_ptr<DeferredGradients> deferred_;
  std::optional<torch::NoGradGuard> no_gradients_;  // of a search
  const Mode* previous_;
};

// The questions below are for the operations of this folder.

// True in a search, for x on the CPU.
bool in_search(const torch::Tensor& x);
// Returns the weights of the search. Null in other modes, and if there are no packed products for
// the device or type of W.
PackedWeights* search_weights_for(const torch::Tensor& W);
// Returns the weights of the training step, whatever the device. Null in other modes.
PackedWeights* training_weights();
// The same, but null if x is not in single precision on the CPU.
PackedWeights* training_weights_for(const torch::Tensor& x);
// Returns the precision of the products with x in training: Precision::full if
// training_weights_for(x) is null.
Precision training_precision_for(const torch::Tensor& x);
// Returns the weights of the search, whatever the device. Null in other modes.
PackedWeights* device_search_weights();
// True if LibTorch must compute the products with x from factors rounded to bf16. This is so in
// bf16 if x is not on the CPU, and in training under use_reference(true).
bool has_bf16_reference_products(const torch::Tensor& x);
// Returns what the training step of this thread gathers (gradient_factors.h), or null.
GradientFactors* gradient_factors();
// Returns the gradients that the time loop of this thread defers, or null.
DeferredGradients* deferred_gradients();

}  // namespace regard::kernels
