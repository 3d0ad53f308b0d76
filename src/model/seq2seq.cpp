#include "model/seq2seq.h"

namespace regard {
namespace {

torch::Tensor select_rows(const torch::Tensor& tensor, const torch::Tensor& rows) {
  return tensor.defined() ? tensor.index_select(0, rows) : tensor;
}

template <typename Part>
Part select_rows(const Part& part, const torch::Tensor& rows) {
  return part.select(rows);
}

template <typename Part>
std::vector<Part> select_rows(const std::vector<Part>& parts, const torch::Tensor& rows) {
  std::vector<Part> selected;
  for (const auto& part : parts) selected.push_back(select_rows(part, rows));
  return selected;
}

}  // namespace

Memory Memory::select(const torch::Tensor& rows) const {
  return {.values = select_rows(values, rows),
          .mask = select_rows(mask, rows),
          .lengths = select_rows(lengths, rows.cpu()),
          .summary = select_rows(summary, rows),
          .context = select_rows(context, rows),
          .keys = select_rows(keys, rows),
          .head_values = select_rows(head_values, rows),
          .gate_values = select_rows(gate_values, rows),
          .readout_values = select_rows(readout_values, rows),
          .layers = select_rows(layers, rows),
          .elements = select_rows(elements, rows),
          .copy_ids = select_rows(copy_ids, rows),
          .output_keys = select_rows(output_keys, rows),
          .members = select_rows(members, rows)};
}

DecoderState DecoderState::select(const torch::Tensor& rows) const {
  return {.layers = select_rows(layers, rows),
          .readout = select_rows(readout, rows),
          .attention = select_rows(attention, rows),
          .position = position,
          .members = select_rows(members, rows)};
}

std::vector<std::pair<std::string, torch::Tensor>> parameters_of(const Seq2Seq& model) {
  std::vector<std::pair<std::string, torch::Tensor>> parameters;
  for (const auto& item : model.named_parameters()) {
    parameters.emplace_back(item.key(), item.value());
  }
  return parameters;
}

}  // namespace regard
