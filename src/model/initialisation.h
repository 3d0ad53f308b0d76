// Initial values of parameters, drawn from LibTorch's default generator.
#pragma once

#include <torch/types.h>

namespace regard {

// While an object lives, the functions below, called on the same thread, leave tensors
// uninitialised and draw no random numbers. For models whose weights are then read from a file.
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

// Uniform with mean 0 and variance 2 / (rows + columns) (Glorot and Bengio 2010), for a matrix.
void xavier_uniform(torch::Tensor tensor);
// A random matrix with orthonormal rows or columns, whichever are fewer (Saxe et al. 2014). If it
// is square, products with it preserve the norm of a state.
void orthogonal(torch::Tensor tensor);
// Normal with standard deviation 1 / sqrt(E), for an embedding [V, E].
void embedding_normal(torch::Tensor tensor);

// Returns a new vector [n], uniform between ±1 / sqrt(n). For a parameter v of which a score v · x
// is computed.
torch::Tensor uniform_vector(std::int64_t n);
// Returns a new vector [n], standard normal.
torch::Tensor normal_vector(std::int64_t n);

}  // namespace regard
