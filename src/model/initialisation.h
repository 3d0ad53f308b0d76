// Initial values of parameters, drawn from Torch's generator.
#pragma once

#include <torch/types.h>

namespace regard {

// While an instance exists, the functions below leave tensors uninitialised on this thread and draw
// no random numbers. Used for models whose weights are then read from a file.
class SkipInitialisation {
 public:
  SkipInitialisation();
  ~SkipInitialisation();
  SkipInitialisation(const SkipInitialisation&) = delete;
  SkipInitialisation& operator=(const SkipInitialisation&) = delete;

 private:
  bool previous_;
};

// The next three functions fill the tensor in place.

// Uniform with variance 2 / (rows + columns) (Glorot and Bengio 2010). tensor [in, out].
void xavier_uniform(torch::Tensor tensor);
// Orthonormal rows or columns (Saxe et al. 2014), so that the product with a state keeps its norm.
void orthogonal(torch::Tensor tensor);
// Normal with standard deviation 1 / sqrt(E), for an embedding [V, E].
void embedding_normal(torch::Tensor tensor);

// Returns a new vector [n], uniform between ±1 / sqrt(n). For the v of scores v · x.
torch::Tensor uniform_vector(std::int64_t n);
// Returns a new vector [n], standard normal.
torch::Tensor normal_vector(std::int64_t n);

}  // namespace regard
