// The kernels of cuda/rows.h with tensors as their arguments: what the operators of row_operators.h
// run on a device. Device is as in loop_kernels.h.
#pragma once

#include <torch/library.h>
#include <torch/types.h>

#include <cstdint>
#include <tuple>

#include "cuda/rows.h"
#include "kernels/loops/layer_norm.h"
#include "kernels/maybe.h"

namespace regard::kernels {

template <typename Device>
class RowOperators {
 public:
  using Tensor = torch::Tensor;

  static void register_in(torch::Library& library) {
    library.impl("dropout", &dropout);
    library.impl("relu_dropout_backward", &relu_dropout_backward);
    library.impl("add_and_norm", &add_and_norm);
    library.impl("add_and_norm_backward", &add_and_norm_backward);
    library.impl("cross_entropy", &cross_entropy);
  }

  static Tensor dropout(const Tensor& x, double p, std::int64_t key, const Maybe& key_in_memory,
                        bool is_relu) {
    const auto from = x.contiguous();
    const auto y = torch::empty_like(from);
    const auto n = from.numel();
    Device::run(x, blocks_for(n, cuda::elements_in_block),
                cuda::Dropout{n, read(from), is_relu, mask_of(p, key, key_in_memory), written(y)});
    return y;
  }

  static Tensor relu_dropout_backward(const Tensor& y, const Tensor& d_y, double p) {
    const auto d_x = torch::empty_like(y);
    const auto n = y.numel();
    Device::run(
        y, blocks_for(n, cuda::elements_in_block),
        cuda::ReluDropoutBackward{n, read(y), read(d_y), mask_of(p, 0, {}).factor(), written(d_x)});
    return d_x;
  }

  static std::tuple<Tensor, Tensor, Tensor> add_and_norm(const Tensor& x, const Maybe& z, double p,
                                                         std::int64_t key,
                                                         const Maybe& key_in_memory,
                                                         const Tensor& g, const Tensor& b) {
    const auto D = g.numel();
    const auto n = x.numel() / D;
    const auto sum = z ? torch::empty_like(x) : torch::empty({0}, x.options());
    const auto norm = torch::empty_like(x);
    const auto stats = torch::empty({n, 2}, x.options());
    Device::run(x, n,
                cuda::AddAndNorm{D, read(x), read(z), read(g), read(b),
                                 mask_of(p, key, key_in_memory), static_cast<float>(norm_epsilon),
                                 written(sum), written(norm), written(stats)});
    return {sum, norm, stats};
  }

  static std::tuple<Tensor, Tensor, Tensor, Tensor> add_and_norm_backward(
      const Maybe& d_sum, const Tensor& d_y, const Tensor& sum, const Tensor& stats,
      const Tensor& g, double p, std::int64_t key, const Maybe& key_in_memory, bool want_d_z) {
    const auto D = g.numel(), n = stats.size(0);
    const auto d_x = torch::empty_like(sum);
    const auto d_z = want_d_z ? torch::empty_like(sum) : torch::empty({0}, sum.options());
    const auto d_g = torch::empty_like(g), d_b = torch::empty_like(g);
    Device::run(
        sum, n,
        cuda::AddAndNormBackward{D, read(d_sum), read(d_y), read(sum), read(stats), read(g),
                                 mask_of(p, key, key_in_memory), written(d_x), written(d_z)});
    Device::run(
        sum, blocks_for(D, cuda::ColumnSums::columns),
        cuda::ColumnSums{n, D, read(d_y), read(sum), read(stats), written(d_g), written(d_b)});
    return {d_x, d_z, d_g, d_b};
  }

  static std::tuple<Tensor, Tensor, Tensor> cross_entropy(const Tensor& logits, const Tensor& bias,
                                                          const Tensor& targets,
                                                          const Maybe& ignored,
                                                          double label_smoothing,
                                                          bool with_gradient) {
    const auto n = logits.size(0), V = logits.size(1);
    const auto nll = torch::empty({n}, logits.options().dtype(torch::kDouble));
    const auto loss = torch::empty_like(nll);
    Device::run(logits, n,
                cuda::CrossEntropy{V, written(logits), read(bias), read<std::int64_t>(targets),
                                   read<bool>(ignored), label_smoothing, with_gradient,
                                   written<double>(nll), written<double>(loss)});
    const auto d_bias = with_gradient ? logits.sum(0) : torch::zeros_like(bias);
    return {loss.sum().to(torch::kFloat), nll, d_bias};
  }

 private:
  static cuda::Mask mask_of(double p, std::int64_t key, const Maybe& key_in_memory) {
    return {p, static_cast<std::uint64_t>(key),
            reinterpret_cast<const std::uint64_t*>(read<std::int64_t>(key_in_memory))};
  }

  static std::int64_t blocks_for(std::int64_t n, std::int64_t of_block) {
    return (n + of_block - 1) / of_block;
  }
};

}  // namespace regard::kernels
