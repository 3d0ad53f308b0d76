// The keys and values of the earlier positions of N hypotheses, in a search of a Transformer. Room
// for further positions follows them, so that a step need not copy them.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace regard::kernels {

// The positions of N hypotheses.
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
// Copies nothing if `rows` is undefined, `past` has room and no gradient is recorded: then the
// current position is stored in `past` itself.
torch::Tensor with_current(torch::Tensor past, const torch::Tensor& rows,
                           const RowPositions& positions, const torch::Tensor& current);

}  // namespace regard::kernels
