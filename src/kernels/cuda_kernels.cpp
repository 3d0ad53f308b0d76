// The operators of row_operators.h and loop_operators.h on CUDA: they launch the kernels of
// cuda/rows.h and cuda/loops.h on LibTorch's current stream. Compiled with nvcc's kernels.cu where
// CUDA is installed (cmake/Torch.cmake).
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>
#include <torch/types.h>

#include <tuple>

#include "cuda/loops.h"
#include "cuda/rows.h"
#include "kernels/loop_kernels.h"
#include "kernels/loops/layer_norm.h"
#include "kernels/maybe.h"

namespace regard::kernels {
namespace {

using torch::Tensor;

template <typename T>
T* written(const Tensor& x) {
  return x.numel() > 0 ? x.mutable_data_ptr<T>() : nullptr;
}

const float* read(const Tensor& x) {
  return x.const_data_ptr<float>();
}

const float* read(const Maybe& x) {
  return x ? read(*x) : nullptr;
}

cuda::Mask mask_of(double p, std::int64_t key, const Maybe& key_in_memory) {
  cuda::Mask mask = {p, static_cast<std::uint64_t>(key), nullptr};
  if (key_in_memory) {
    mask.key_on_device =
        reinterpret_cast<const std::uint64_t*>(key_in_memory->const_data_ptr<std::int64_t>());
  }
  return mask;
}

template <typename Kernel>
void run(const Tensor& x, std::int64_t blocks, const Kernel& kernel) {
  const c10::cuda::CUDAGuard guard(x.device());
  cuda::launch(blocks, kernel, c10::cuda::getCurrentCUDAStream().stream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

std::int64_t blocks_for(std::int64_t n, std::int64_t of_block) {
  return (n + of_block - 1) / of_block;
}

Tensor dropout_on_cuda(const Tensor& x, double p, std::int64_t key, const Maybe& key_in_memory,
                       bool is_relu) {
  const auto from = x.contiguous();
  const auto y = torch::empty_like(from);
  const auto n = from.numel();
  run(x, blocks_for(n, cuda::elements_in_block),
      cuda::Dropout{n, read(from), is_relu, mask_of(p, key, key_in_memory), written<float>(y)});
  return y;
}

Tensor relu_dropout_backward_on_cuda(const Tensor& y, const Tensor& d_y, double p) {
  const auto d_x = torch::empty_like(y);
  const auto n = y.numel();
  run(y, blocks_for(n, cuda::elements_in_block),
      cuda::ReluDropoutBackward{n, read(y), read(d_y), mask_of(p, 0, {}).factor(),
                                written<float>(d_x)});
  return d_x;
}

std::tuple<Tensor, Tensor, Tensor> add_and_norm_on_cuda(const Tensor& x, const Maybe& z, double p,
                                                        std::int64_t key,
                                                        const Maybe& key_in_memory, const Tensor& g,
                                                        const Tensor& b) {
  const auto D = g.numel();
  const auto n = x.numel() / D;
  const auto sum = z ? torch::empty_like(x) : torch::empty({0}, x.options());
  const auto norm = torch::empty_like(x);
  const auto stats = torch::empty({n, 2}, x.options());
  run(x, n,
      cuda::AddAndNorm{D, read(x), read(z), read(g), read(b), mask_of(p, key, key_in_memory),
                       static_cast<float>(norm_epsilon), written<float>(sum), written<float>(norm),
                       written<float>(stats)});
  return {sum, norm, stats};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> add_and_norm_backward_on_cuda(
    const Maybe& d_sum, const Tensor& d_y, const Tensor& sum, const Tensor& stats, const Tensor& g,
    double p, std::int64_t key, const Maybe& key_in_memory, bool want_d_z) {
  const auto D = g.numel(), n = stats.size(0);
  const auto d_x = torch::empty_like(sum);
  const auto d_z = want_d_z ? torch::empty_like(sum) : torch::empty({0}, sum.options());
  const auto d_g = torch::empty_like(g), d_b = torch::empty_like(g);
  run(sum, n,
      cuda::AddAndNormBackward{D, read(d_sum), read(d_y), read(sum), read(stats), read(g),
                               mask_of(p, key, key_in_memory), written<float>(d_x),
                               written<float>(d_z)});
  run(sum, blocks_for(D, cuda::ColumnSums::columns),
      cuda::ColumnSums{n, D, read(d_y), read(sum), read(stats), written<float>(d_g),
                       written<float>(d_b)});
  return {d_x, d_z, d_g, d_b};
}

std::tuple<Tensor, Tensor, Tensor> cross_entropy_on_cuda(const Tensor& logits, const Tensor& bias,
                                                         const Tensor& targets,
                                                         const Maybe& ignored,
                                                         double label_smoothing,
                                                         bool with_gradient) {
  const auto n = logits.size(0), V = logits.size(1);
  const auto nll = torch::empty({n}, logits.options().dtype(torch::kDouble));
  const auto loss = torch::empty_like(nll);
  run(logits, n,
      cuda::CrossEntropy{V, written<float>(logits), read(bias),
                         targets.const_data_ptr<std::int64_t>(),
                         ignored ? ignored->const_data_ptr<bool>() : nullptr, label_smoothing,
                         with_gradient, written<double>(nll), written<double>(loss)});
  const auto d_bias = with_gradient ? logits.sum(0) : torch::zeros_like(bias);
  return {loss.sum().to(torch::kFloat), nll, d_bias};
}

struct OnCuda {
  template <typename Kernel>
  static void run(const Tensor& x, std::int64_t blocks, const Kernel& kernel) {
    regard::kernels::run(x, blocks, kernel);
  }
};

TORCH_LIBRARY_IMPL(regard, CUDA, library) {
  LoopOperators<OnCuda>::register_in(library);
  library.impl("dropout", &dropout_on_cuda);
  library.impl("relu_dropout_backward", &relu_dropout_backward_on_cuda);
  library.impl("add_and_norm", &add_and_norm_on_cuda);
  library.impl("add_and_norm_backward", &add_and_norm_backward_on_cuda);
  library.impl("cross_entropy", &cross_entropy_on_cuda);
}

}  // namespace

// Called by has_kernel_operators(), so that the linker keeps this file.
void link_cuda_kernels() {}

}  // namespace regard::kernels
