#include "model/output/batch_shortlist.h"

#include <torch/utils.h>

#include <algorithm>

#include "kernels/device.h"
#include "kernels/linear.h"
#include "kernels/token_probabilities.h"

namespace regard {
namespace {

// A product with fewer columns would be computed in full precision (PackedMatrix), so that its bits
// would depend on the batch.
constexpr std::size_t min_columns = 16;

}  // namespace

BatchShortlist::BatchShortlist(const std::vector<std::vector<std::int32_t>>& lists,
                               torch::Device device) {
  std::size_t K = 0, size = 0;  // size: above all tokens
  for (const auto& list : lists) {
    TORCH_CHECK(!list.empty(), "the shortlist of a sentence is empty");
    K = std::max(K, list.size());
    size = std::max(size, static_cast<std::size_t>(list.back()) + 1);
  }
  std::vector<std::int64_t> column_of(size, -1);
  for (const auto& list : lists) {
    for (const auto token : list) column_of[static_cast<std::size_t>(token)] = 0;
  }
  std::vector<std::int64_t> all;
  for (std::size_t token = 0; token < size; ++token) {
    if (column_of[token] < 0) continue;
    column_of[token] = static_cast<std::int64_t>(all.size());
    all.push_back(static_cast<std::int64_t>(token));
  }
  const std::vector<std::int64_t> sizes = {static_cast<std::int64_t>(lists.size()),
                                           static_cast<std::int64_t>(K)};
  tokens_ = torch::full(sizes, no_token, torch::kInt64);
  auto columns = torch::full(sizes, -1, torch::kInt64);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    auto* tokens = tokens_.data_ptr<std::int64_t>() + i * K;
    auto* column = columns.data_ptr<std::int64_t>() + i * K;
    for (const auto token : lists[i]) {
      *tokens++ = token;
      *column++ = column_of[static_cast<std::size_t>(token)];
    }
  }
  columns_ = columns.to(device);
  while (all.size() < min_columns) all.push_back(all.front());  // columns of no sentence
  all_ = torch::tensor(all, torch::kInt64).to(device);
}

torch::Tensor BatchShortlist::tokens(const torch::Tensor& sentences) const {
  return tokens_.index_select(0, sentences);
}

torch::Tensor BatchShortlist::logits(const torch::Tensor& x, const torch::Tensor& W,
                                     const torch::Tensor& b, const torch::Tensor& sentences) {
  const auto rows = rows_.try_emplace(W.const_data_ptr(), W, b, all_).first;
  return kernels::select_columns(rows->second.linear(x),
                                 columns_.index_select(0, to_device(sentences, columns_.device())));
}

void set_shortlist(EncoderOutput& encoded, const std::shared_ptr<BatchShortlist>& shortlist) {
  encoded.shortlist = shortlist;
  encoded.sentences = torch::arange(encoded.mask.size(0), torch::kInt64);
  for (auto& member : encoded.members) set_shortlist(member, shortlist);
}

}  // namespace regard
