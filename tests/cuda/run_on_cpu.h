// Runs kernels of src/cuda/ on the CPU.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "cuda/block.h"

namespace regard::cuda {

// Runs the threads in an order, a permutation of them.
struct CpuThreads {
  const std::vector<int>& order;

  template <typename F>
  void each(const F& f) const {
    for (const int t : order) f(t);
  }
};

// The same as launch() on the CPU.
template <typename Kernel>
void run_on_cpu(std::int64_t blocks, const Kernel& kernel, const std::vector<int>& order) {
  for (std::int64_t b = 0; b < blocks; ++b) {
    std::vector<float> shared(Kernel::threads, std::numeric_limits<float>::quiet_NaN());
    kernel(Block<CpuThreads, Kernel::threads>({order}, b, shared.data()));
  }
}

}  // namespace regard::cuda
