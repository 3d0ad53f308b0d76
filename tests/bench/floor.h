// The floor under a training step: its matrix products alone, at their shapes, in their order, each
// by the fastest code for it on this machine: LibTorch's product, oneDNN's with a packed matrix, or
// regard's own. The conversion and packing of the factors is not part of the floor.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "config/model_options.h"
#include "kernels/loops/products.h"

namespace regard {

struct BatchShape {
  std::int64_t B = 80;
  std::int64_t S = 15;
  std::int64_t T = 15;
  std::int64_t V = 8000;
};

enum class StepPart { encoder, decoder, output };

// A product [M, K] · [K, N], made `times` times.
struct ProductShape {
  std::int64_t M, K, N;
  std::int64_t times = 1;
};

// Returns a function that computes a b by oneDNN, b packed before, or an empty one if this LibTorch
// does not have it.
std::function<void()> one_dnn_product(const torch::Tensor& a, const torch::Tensor& b);

// Runs `step` and returns the products in it, on any thread: those of LibTorch and of PackedMatrix,
// without those inside LibTorch's fused self-attention.
std::vector<ProductShape> record_products(const std::function<void()>& step);

// The products that a step cannot do without, forward and backward: those of a recurrent translator
// with one encoder layer in two directions, one decoder layer with additive attention (the
// encoder's part includes what is made of its states once a sentence: keys, gate and read-out
// values), and an output layer over all tokens. In bf16, products in fp32 are candidates too.
// Threads must not share one: they would write the same results.
class Floor {
 public:
  Floor(const ModelOptions& options, const BatchShape& shape,
        kernels::Precision precision = kernels::Precision::full);
  // The floor of any step: the products of record_products(), all forward and of no part.
  explicit Floor(const std::vector<ProductShape>& products,
                 kernels::Precision precision = kernels::Precision::full);
  void run();
  void run_forward(StepPart part);
  void run_backward(StepPart part);
  // Multiplications and additions of one run().
  double operations() const { return operations_; }
  // The number of operations in products made by each library, by its name.
  const std::map<std::string, double>& operations_by_library() const { return by_library_; }

 private:
  // [rows, in] · [in, out], `times` over: the value, and with respect to both factors. The products
  // of a time loop are made step by step, save the last, which can wait for all steps.
  struct Product {
    StepPart part;
    std::function<void()> forward, backward_x, backward_w;
    std::int64_t times;
  };
  // Returns the fastest way to compute a b.
  std::function<void()> fastest(const torch::Tensor& a, const torch::Tensor& b, double times);
  void add(StepPart part, std::int64_t rows, std::int64_t in, std::int64_t out,
           std::int64_t times = 1);

  kernels::Precision precision_;
  std::vector<Product> products_;
  std::map<std::string, double> by_library_;
  double operations_ = 0;
};

}  // namespace regard
