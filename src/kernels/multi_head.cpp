#include "kernels/multi_head.h"

#include <cstring>
#include <limits>

#include "kernels/functions.h"
#include "kernels/mode.h"
#include "kernels/scaled_dot_product.h"

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

Padding make_padding(const torch::Tensor& mask, const torch::Tensor& lengths,
                     const torch::Tensor& like, bool is_self_attention) {
  const bool is_known = lengths.is_cpu();  // else the device would have to be waited for
  if (is_known && lengths.min().item<std::int64_t>() == mask.size(1)) {
    return {{}, {}, is_self_attention};
  }
  if (in_search(like)) return {{}, lengths.contiguous(), is_self_attention};
  // LibTorch's attention on a GPU copies a bias whose rows do not begin at multiples of 8.
  const auto B = mask.size(0), S = mask.size(1);
  auto bias = torch::zeros({B, 1, 1, (S + 7) / 8 * 8}, like.options()).narrow(3, 0, S);
  bias.masked_fill_(mask.logical_not().view({B, 1, 1, S}),
                    -std::numeric_limits<double>::infinity());
  return {bias, lengths.contiguous(), is_self_attention};
}

HeadsOutput attend_by_head(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                           const Padding& padding, bool causal, bool want_weights,
                           const DrawnDropout& dropout) {
  if (in_search(q)) {
    const auto [y, alpha] = attend_heads(q, k, v, padding.lengths, want_weights, causal);
    return {y, want_weights ? mean_over_heads(alpha) : alpha, alpha};
  }
  const auto alpha = scaled_dot_product_weights(q, k, padding.bias, causal);  // [B, H, T, S]
  const auto y = kernels::dropout(alpha, dropout).matmul(v);                  // [B, H, T, d]
  const auto side_by_side = y.transpose(1, 2).reshape({q.size(0), q.size(2), -1});
  if (!want_weights) return {side_by_side};
  return {side_by_side, alpha.mean(1), alpha};
}

HeadsOutput multi_head_attention(const torch::Tensor& q, const torch::Tensor& keys_and_values,
                                 std::int64_t heads, const Padding& padding, bool causal,
                                 bool want_weights, const DrawnDropout& dropout) {
  const auto by_head = [&] {
    const auto parts = keys_and_values.chunk(2, -1);  // keys and values, each [B, S, D]
    return attend_by_head(split_heads(q, heads), split_heads(parts[0], heads),
                          split_heads(parts[1], heads), padding, causal, want_weights, dropout);
  };
  // In a search, all steps of a decoder at once must have the bits of single steps.
  const bool is_encoder = padding.is_self_attention && !causal;
  const bool is_fused = in_search(q) ? is_encoder : !want_weights && dropout.p == 0;
  if (!is_fused) return by_head();
  const auto y =
      scaled_dot_product(q, keys_and_values, heads, padding.bias, padding.lengths, causal);
  if (!want_weights) return {y};
  auto attended = by_head();
  attended.y = y;  // the bits of an encoder whose weights are not wanted
  return attended;
}

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
