#include "kernels/key_value_cache.h"

#include <cstring>
#include <vector>

#include "kernels/device.h"
#include "kernels/mode.h"

namespace regard::kernels {
namespace {

// Positions for which a copy has room.
constexpr std::int64_t room = 8;

// Returns a past of N rows with room for `positions` and more.
torch::Tensor new_past(const torch::Tensor& like, std::int64_t N, std::int64_t positions) {
  const std::vector<std::int64_t> sizes = {N, positions + room, like.size(2)};
  // Outside of a search on the CPU, what follows is multiplied by a weight of 0.
  return in_search(like) ? like.new_empty(sizes) : like.new_zeros(sizes);
}

// Copies the earlier positions of each hypothesis, and no others.
void copy_earlier(const torch::Tensor& past, const torch::Tensor& rows,
                  const RowPositions& positions, torch::Tensor& copy) {
  const auto width = static_cast<std::size_t>(past.size(2)) * past.element_size();
  const auto from_row = static_cast<std::size_t>(past.stride(0)) * past.element_size();
  const auto to_row = static_cast<std::size_t>(copy.stride(0)) * copy.element_size();
  const auto* from = static_cast<const char*>(past.const_data_ptr());
  auto* to = static_cast<char*>(copy.data_ptr());
  const auto index = rows.cpu();
  const auto* row = index.const_data_ptr<std::int64_t>();
  const auto* each =
      positions.each.defined() ? positions.each.const_data_ptr<std::int64_t>() : nullptr;
  for (std::int64_t n = 0; n < rows.size(0); ++n) {
    const auto count = static_cast<std::size_t>(each == nullptr ? positions.largest : each[n]);
    if (count == 0) continue;
    std::memcpy(to + static_cast<std::size_t>(n) * to_row,
                from + static_cast<std::size_t>(row[n]) * from_row, count * width);
  }
}

}  // namespace

torch::Tensor with_current(torch::Tensor past, const torch::Tensor& rows,
                           const RowPositions& positions, const torch::Tensor& current) {
  const auto t = positions.largest;
  if (rows.defined() || past.size(1) <= t || torch::GradMode::is_enabled()) {
    auto copy = new_past(past, current.size(0), t);
    if (rows.defined() && in_search(past) && past.is_contiguous()) {
      copy_earlier(past, rows, positions, copy);
    } else if (t > 0) {
      const auto earlier = past.narrow(1, 0, t);
      copy.narrow(1, 0, t).copy_(rows.defined() ? earlier.index_select(0, rows) : earlier);
    }
    past = copy;
  }
  if (!positions.each.defined()) {
    past.select(1, t).copy_(current);
  } else {
    const auto columns = to_device(positions.each, past.device());
    past.index_put_({torch::arange(past.size(0), columns.options()), columns}, current);
  }
  return past;
}

}  // namespace regard::kernels
