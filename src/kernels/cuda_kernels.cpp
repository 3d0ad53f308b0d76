// The operators of row_operators.h and loop_operators.h on CUDA: they launch the kernels of
// cuda/rows.h and cuda/loops.h on LibTorch's current stream. Compiled with nvcc's kernels.cu where
// CUDA is installed (cmake/Torch.cmake).
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>
#include <torch/types.h>

#include <cstdint>

#include "cuda/block.h"
#include "kernels/loop_kernels.h"
#include "kernels/row_kernels.h"

namespace regard::kernels {
namespace {

struct OnCuda {
  template <typename Kernel>
  static void run(const torch::Tensor& x, std::int64_t blocks, const Kernel& kernel) {
    const c10::cuda::CUDAGuard guard(x.device());
    cuda::launch(blocks, kernel, c10::cuda::getCurrentCUDAStream().stream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
};

TORCH_LIBRARY_IMPL(regard, CUDA, library) {
  LoopOperators<OnCuda>::register_in(library);
  RowOperators<OnCuda>::register_in(library);
}

}  // namespace

// Called by has_kernel_operators(), so that the linker keeps this file.
void link_cuda_kernels() {}

}  // namespace regard::kernels
