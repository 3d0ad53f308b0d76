// Initial values of parameters, drawn from Torch's generator.
#pragma once

#include <torch/types.h>

namespace regard {

// While an object lives, the functions below leave the values uninitialised on this thread and draw
// nothing. For models whose weights are read from a file.
class WithoutInitialisation {
 public:
  WithoutInitialisation();
  ~WithoutInitialisation();
  WithoutInitialisation(const WithoutInitialisation&) = delete;
  WithoutInitialisation& operator=(const WithoutInitialisation&) = delete;

 private:
  bool before_;
};

// These fill the tensor in place.

// Uniform with variance 2 / (rows + columns) (Glorot and Bengio 2010). tensor [in, out].
void xavier_uniform(torch::Tensor tensor);
// Orthonormal rows or columns (Saxe et al. 2014), so that a product keeps the norm of a state.
void orthogonal(torch::Tensor tensor);
// Normal with standard deviation 1 / sqrt(E), for an embedding [V, E].
void embedding_normal(torch::Tensor tensor);

// A new vector [n] for scores v · x, uniform between ±1 / sqrt(n).
torch::Tensor score_vector(std::int64_t n);
// A new vector [n], standard normal.
torch::Tensor normal_vector(std::int64_t n);

}  // namespace regard
