// The kernels of cuda/loops.h with tensors as their arguments: what the operators of
// loop_operators.h run on a device. Device::run(x, blocks, kernel) runs a kernel on the device of
// x: cuda_kernels.cpp has CUDA's, tests/gpu/stand_in.cpp that of the stand-in.
#pragma once

#include <torch/library.h>
#include <torch/types.h>

#include <cstdint>

#include "cuda/loops.h"
#include "kernels/maybe.h"

namespace regard::kernels {

template <typename Device>
class LoopOperators {
 public:
  using Tensor = torch::Tensor;

  static void register_in(torch::Library& library) {
    library.impl("cell_forward", &cell_forward);
    library.impl("cell_backward", &cell_backward);
    library.impl("attend", &attend);
    library.impl("attend_backward", &attend_backward);
  }

  static void cell_forward(std::int64_t part, const Tensor& gates, const Tensor& u,
                           const Maybe& b_U, const Tensor& s, const Maybe& product, const Maybe& c,
                           const Maybe& next_c, const Maybe& next) {
    const auto D = s.size(-1);
    Device::run(s, s.numel() / D,
                cuda::CellForward{static_cast<cuda::CellPart>(part), D, s.size(-2), u.stride(-2),
                                  written(gates), read(u), read(b_U), read(s), written(product),
                                  read(c), written(next_c), written(next)});
  }

  static void cell_backward(std::int64_t part, const Tensor& d, const Tensor& gates,
                            const Tensor& s, const Maybe& product, const Maybe& c,
                            const Maybe& next_c, const Maybe& next, const Tensor& rows,
                            const Tensor& d_s, const Maybe& d_c) {
    const auto D = s.size(-1);
    Device::run(s, s.numel() / D,
                cuda::CellBackward{static_cast<cuda::CellPart>(part), D, rows.stride(-2), read(d),
                                   read(gates), read(s), read(product), read(c), read(next_c),
                                   read(next), written(rows), written(d_s), written(d_c)});
  }

  static void attend(std::int64_t form, double scale, const Tensor& q, const Tensor& keys,
                     const Maybe& v, const Tensor& mixed, const Tensor& padding, const Tensor& x,
                     const Tensor& weights) {
    Device::run(x, x.size(0),
                cuda::Attend{inputs(form, scale, q, keys, v, mixed), read<bool>(padding),
                             written(x), written(weights)});
  }

  static void attend_backward(std::int64_t form, double scale, const Tensor& q, const Tensor& keys,
                              const Maybe& v, const Tensor& mixed, const Tensor& weights,
                              const Maybe& d_weights, const Tensor& d_mixture, const Tensor& d_e,
                              const Tensor& d_q, bool adds_d_q, const Maybe& d_keys,
                              const Maybe& d_v) {
    Device::run(
        q, q.size(0),
        cuda::AttendBackward{inputs(form, scale, q, keys, v, mixed), read(weights), read(d_weights),
                             read(d_mixture), d_mixture.stride(0), d_q.stride(0), adds_d_q,
                             written(d_e), written(d_q), written(d_keys), written(d_v)});
  }

 private:
  static cuda::AttentionInputs inputs(std::int64_t form, double scale, const Tensor& q,
                                      const Tensor& keys, const Maybe& v, const Tensor& mixed) {
    return {static_cast<ScoreForm>(form),
            static_cast<float>(scale),
            keys.size(1),
            keys.size(2),
            mixed.size(2),
            q.stride(0),
            read(q),
            read(keys),
            read(v),
            read(mixed)};
  }
};

}  // namespace regard::kernels
