// The floor under a training step: its matrix products alone, at their shapes, in their order.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "config/model_options.h"

namespace regard {

struct BatchShape {
  std::int64_t B = 80;
  std::int64_t S = 15;
  std::int64_t T = 15;
  std::int64_t V = 8000;
};

enum class Part { encoder, decoder, output };

// The products that a step cannot do without, forward and backward: those of a recurrent translator
// with one encoder layer in two directions, one decoder layer with additive attention (the
// encoder's part includes what is made of its states once a sentence: keys, gate and read-out
// values), and an output layer over all tokens. Threads must not share one: they would write the
// same results.
class Floor {
 public:
  Floor(const ModelOptions& options, const BatchShape& shape);
  void run();
  void run_forward(Part part);
  void run_backward(Part part);
  // Multiplications and additions of one run().
  double operations() const { return operations_; }

 private:
  // [rows, in] · [in, out], `times` over: the value, and with respect to both factors. The products
  // of a time loop are made step by step, save the last, which can wait for all steps.
  struct Product {
    Part part;
    torch::Tensor x, w, y, d_x, d_w, all_x, all_y;
    std::int64_t times;
  };
  void add(Part part, std::int64_t rows, std::int64_t in, std::int64_t out, std::int64_t times = 1);

  std::vector<Product> products_;
  double operations_ = 0;
};

}  // namespace regard
