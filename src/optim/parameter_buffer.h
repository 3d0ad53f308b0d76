// Named tensors, stored consecutively in a single contiguous buffer.
//
// Weights, gradients, optimizer moments and averaged weights share one layout. Element-wise
// operations run over ranges of the flat buffer: in parallel on the CPU, in a single call on a GPU.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"

namespace regard {

using NamedParameters = std::vector<std::pair<std::string, torch::Tensor>>;

// A copy shares the storage.
class ParameterBuffer {
 public:
  // Copies the data of `parameters` into a new buffer and makes each parameter a view of its part
  // of the buffer. Existing references to the parameters stay valid. Each part starts at a multiple
  // of 64 bytes; the gaps are zero. All parameters must have the same element type and device.
  static ParameterBuffer adopt(const NamedParameters& parameters);
  // Returns a buffer of zeros with the same names and layout.
  ParameterBuffer zeros_like() const;

  // Returns all elements, including gaps: [size], contiguous.
  const torch::Tensor& flat() const { return flat_; }
  // Returns the parameters by name, in the order of the argument of adopt(). Each tensor is a view
  // of flat().
  const NamedParameters& views() const { return views_; }

 private:
  torch::Tensor flat_;
  NamedParameters views_;
};

// Divides [0, buffer.numel()) into consecutive ranges and calls f(i, begin, end) for range i, with
// gradients disabled. On the CPU, the ranges fit into the cache and the threads of `pool` process
// them in parallel. On other devices there is a single range. The ranges do not depend on the
// number of threads.
void for_each_range(const torch::Tensor& buffer, ThreadPool& pool,
                    const std::function<void(std::size_t, std::int64_t, std::int64_t)>& f);
// Returns the number of ranges that for_each_range() uses.
std::size_t range_count(const torch::Tensor& buffer);

// Returns the Euclidean norm of a flat buffer, a double on its device. Computes it as the norm of
// the norms of its ranges, so that the result does not depend on the number of threads.
torch::Tensor norm(const torch::Tensor& buffer, ThreadPool& pool);

// Returns true if no element is infinite or NaN.
bool is_finite(const torch::Tensor& buffer);

// Returns temporary memory for swap_contents(), the size of one range. Allocated separately, so
// that swap_contents() needs no memory.
torch::Tensor swap_scratch(const torch::Tensor& buffer);
// Swaps the contents of two buffers with the same layout. `scratch` is from swap_scratch(a).
void swap_contents(const torch::Tensor& a, const torch::Tensor& b, const torch::Tensor& scratch);

}  // namespace regard
