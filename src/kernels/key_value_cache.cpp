#include "kernels/key_value_cache.h"

#include <cstring>

#include "kernels/mode.h"

namespace regard::kernels {
namespace {

// Positions for which a copy has room.
constexpr std::int64_t room = 8;

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
    if (rows.defined() && in_search(past) && past.is_contiguous()) {
      auto copy = past.new_empty({current.size(0), t + room, past.size(2)});
      copy_earlier(past, rows, positions, copy);
      past = copy;
    } else {
      const bool has_room = past.size(1) > t;
      if (rows.defined()) past = past.index_select(0, rows);
      // Outside of a search on the CPU, what follows is multiplied by a weight of 0.
      if (!has_room) past = torch::constant_pad_nd(past, {0, 0, 0, t + room - past.size(1)});
      if (has_room && !rows.defined()) past = past.clone();
    }
  }
  if (!positions.each.defined()) {
    past.select(1, t).copy_(current);
  } else {
    const auto columns = positions.each_on_device.view({-1, 1, 1});
    past.scatter_(1, columns.expand({-1, 1, past.size(2)}), current.unsqueeze(1));
  }
  return past;
}

}  // namespace regard::kernels
