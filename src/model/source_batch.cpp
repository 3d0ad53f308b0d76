#include "model/source_batch.h"

namespace regard {

const torch::Tensor& SourceBatch::elements() const {
  if (const auto* x = std::get_if<CopyIds>(&values)) return x->ids;
  if (const auto* x = std::get_if<SourceVectors>(&values)) return x->values;
  return std::get<SourceIds>(values).ids;
}

std::vector<torch::Tensor> SourceBatch::tensors() const {
  std::vector<torch::Tensor> all;
  map([&](const torch::Tensor& x) { return all.emplace_back(x); });
  return all;
}

SourceBatch SourceBatch::map(const std::function<torch::Tensor(const torch::Tensor&)>& f) const {
  auto mapped = *this;
  if (auto* copies = std::get_if<CopyIds>(&mapped.values)) {
    copies->ids = f(copies->ids);
    copies->extended_ids = f(copies->extended_ids);
  } else if (auto* vectors = std::get_if<SourceVectors>(&mapped.values)) {
    vectors->values = f(vectors->values);
  } else {
    auto& ids = std::get<SourceIds>(mapped.values).ids;
    ids = f(ids);
  }
  return mapped;
}

}  // namespace regard
