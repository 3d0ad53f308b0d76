// Multi-head attention between its projections (Vaswani et al. 2017, section 3.2.2): the heads of
// scaled_dot_product.h in every mode (mode.h), with their padding and dropout, and with their
// weights if they are wanted; and the keys and values of the earlier positions of a search.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "kernels/functions.h"

namespace regard::kernels {

// The padding of keys and values, computed once per batch. Bias and lengths are undefined if there
// is no padding, and the bias also in a search on the CPU, which does not need it.
struct Padding {
  torch::Tensor bias = {};         // [B, 1, 1, S]: 0 at real positions, −∞ at padding
  torch::Tensor lengths = {};      // [B] int64: the number of real positions
  bool is_self_attention = false;  // the queries are the same positions, with the same padding
};
// Returns the padding of mask [B, S] and lengths [B]. If they are not on the CPU, it has a bias
// even if there is no padding: the device would have to be waited for. The bias has the dtype and
// the device of `like`.
Padding make_padding(const torch::Tensor& mask, const torch::Tensor& lengths,
                     const torch::Tensor& like, bool is_self_attention = false);

struct HeadsOutput {
  torch::Tensor y;  // [B, T, H · d], the heads side by side
  // The weights before dropout, undefined unless wanted:
  torch::Tensor weights = {};  // [B, T, S], the mean over the heads
  torch::Tensor heads = {};    // [B, H, T, S], the weights of each head
};

// q [B, T, D], keys_and_values [B, S, 2D]: the keys of all heads, then their values. If `causal` is
// true, query t attends to positions s ≤ t only, and `padding` must be empty. Dropout is applied to
// the weights.
HeadsOutput multi_head_attention(const torch::Tensor& q, const torch::Tensor& keys_and_values,
                                 std::int64_t heads, const Padding& padding, bool causal,
                                 bool want_weights, const DrawnDropout& dropout);

// The same for q [B, H, T, d], k and v [B, H, S, d]. Computes the weights always, so without them
// the function above is faster in training. The last bits of an encoder in a search differ.
HeadsOutput attend_by_head(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                           const Padding& padding, bool causal, bool want_weights,
                           const DrawnDropout& dropout);

// The positions of N hypotheses in a search.
struct RowPositions {
  std::int64_t largest = 0;           // of all rows
  torch::Tensor each = {};            // [N] int64, as DecoderState::positions
  torch::Tensor each_on_device = {};  // the same on the device of the keys and values
};

// Returns the keys and values of N hypotheses up to their current positions: those of the earlier
// positions, and `current` [N, 2D]. `past` is [M, C, 2D]; hypothesis n continues its row rows[n],
// or row n if `rows` is undefined. The result [N, C', 2D] has C' > positions.largest. What follows
// the position of a row is not set in a search on the CPU (mode.h), whose kernels read no further;
// elsewhere it is finite.
//
// The result has room for further positions, so that a step need not copy the earlier ones: copies
// nothing if `rows` is undefined, `past` has room and no gradient is recorded. Then the current
// position is stored in `past` itself.
torch::Tensor with_current(torch::Tensor past, const torch::Tensor& rows,
                           const RowPositions& positions, const torch::Tensor& current);

}  // namespace regard::kernels
