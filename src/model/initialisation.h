// First values of parameters, drawn from Torch's generator; while there is a WithoutInitialisation
// nothing is drawn, and the values are whatever was in memory.
#pragma once

#include <torch/types.h>

namespace regard {

// While it lives, this thread's models are made for weights that are read from a file: first values
// would only cost time.
class WithoutInitialisation {
 public:
  WithoutInitialisation();
  ~WithoutInitialisation();
  WithoutInitialisation(const WithoutInitialisation&) = delete;
  WithoutInitialisation& operator=(const WithoutInitialisation&) = delete;

 private:
  bool before_;
};

// Each of these fills the tensor in place.

// Uniform with variance 2 / (rows + columns) (Glorot and Bengio 2010). tensor [in, out].
void xavier_uniform(torch::Tensor tensor);
// Orthonormal rows or columns (Saxe et al. 2014): a product with it keeps a state's length.
void orthogonal(torch::Tensor tensor);
// Normal with the standard deviation 1 / sqrt(E), for an embedding [V, E].
void embedding_normal(torch::Tensor tensor);

// A new vector [n] that scores are products with, uniform between ±1 / sqrt(n).
torch::Tensor score_vector(std::int64_t n);
// A new vector [n], each number normal with variance 1.
torch::Tensor normal_vector(std::int64_t n);

}  // namespace regard
