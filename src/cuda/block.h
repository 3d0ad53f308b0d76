// A block of threads, from one source for the GPU and for the CPU.
//
// A kernel is a sequence of phases: block.each(f) calls f(t) for each thread t and then waits for
// all threads. On the GPU, the threads run at once. On the CPU, for tests, they run one after the
// other in any order, so a result that depends on the order shows a missing phase. Shared memory is
// NaN at the start there, so a read of what no thread wrote shows too.
//
// Sums have a fixed order: the same bits in every run, on every GPU.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define REGARD_DEVICE __device__ __forceinline__
#else
#define REGARD_DEVICE inline
#endif

namespace regard::cuda {

// The phases of a block with `count` threads. Threads is GpuThreads or, in tests, CpuThreads
// (tests/cuda/run_on_cpu.h).
template <typename Threads, int count>
class Block {
 public:
  static constexpr int threads = count;

  // `shared` has room for one number per thread.
  REGARD_DEVICE Block(Threads threads_of_block, std::int64_t number, float* shared)
      : index(number), shared_(shared), threads_(threads_of_block) {}

  template <typename F>
  REGARD_DEVICE void each(const F& f) const {
    threads_.each(f);
  }

  // Returns the sum or the largest of f(t) over all threads, to each thread.
  template <typename F>
  REGARD_DEVICE float sum(const F& f) const {
    return reduce(f, [](float a, float b) { return a + b; });
  }
  template <typename F>
  REGARD_DEVICE float largest(const F& f) const {
    return reduce(f, [](float a, float b) { return a < b ? b : a; });
  }

  // Adds up shared memory over threads t, t + width, t + 2 width, …, and calls use(t, sum) for each
  // t < width, a power of two.
  template <typename Use>
  REGARD_DEVICE void sum_columns(int width, const Use& use) const {
    fold(width, [](float a, float b) { return a + b; });
    each([&](int t) {
      if (t < width) use(t, shared_[t]);
    });
  }

  // Adds up shared memory of each group of `width` threads, a power of two, and calls use(group,
  // sum).
  template <typename Use>
  REGARD_DEVICE void sum_groups(int width, const Use& use) const {
    for (int half = width / 2; half > 0; half /= 2) {
      each([&](int t) {
        if (t % width < half) shared_[t] += shared_[t + half];
      });
    }
    each([&](int t) {
      if (t % width == 0) use(t / width, shared_[t]);
    });
  }

  REGARD_DEVICE float& shared(int t) const { return shared_[t]; }

  const std::int64_t index;  // of the block

 private:
  template <typename Join>
  REGARD_DEVICE void fold(int width, const Join& join) const {
    for (int half = threads / 2; half >= width; half /= 2) {
      each([&](int t) {
        if (t < half) shared_[t] = join(shared_[t], shared_[t + half]);
      });
    }
  }

  template <typename F, typename Join>
  REGARD_DEVICE float reduce(const F& f, const Join& join) const {
    each([&](int t) { shared_[t] = f(t); });
    fold(1, join);
    float result = 0;
    each([&](int) { result = shared_[0]; });
    return result;
  }

  float* shared_;
  Threads threads_;
};

// Runs a kernel, a struct with `threads` and operator()(block), in `blocks` blocks on the current
// GPU, on a cudaStream_t. Does not wait. Instantiated in kernels.cu.
template <typename Kernel>
void launch(std::int64_t blocks, const Kernel& kernel, void* stream);

#ifdef __CUDACC__

struct GpuThreads {
  template <typename F>
  REGARD_DEVICE void each(const F& f) const {
    f(static_cast<int>(threadIdx.x));
    __syncthreads();
  }
};

template <typename Kernel>
__global__ void __launch_bounds__(Kernel::threads) run_block(Kernel kernel) {
  __shared__ float shared[Kernel::threads];
  kernel(Block<GpuThreads, Kernel::threads>({}, blockIdx.x, shared));
}

template <typename Kernel>
void launch(std::int64_t blocks, const Kernel& kernel, void* stream) {
  if (blocks == 0) return;
  run_block<<<static_cast<unsigned>(blocks), Kernel::threads, 0,
              static_cast<cudaStream_t>(stream)>>>(kernel);
}

#endif

}  // namespace regard::cuda
