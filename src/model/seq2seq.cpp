#include "model/seq2seq.h"

#include "kernels/fused.h"
#include "kernels/packed_matrix.h"

namespace regard {
namespace {

torch::Tensor select_rows(const torch::Tensor& tensor, const torch::Tensor& rows) {
  return tensor.defined() ? tensor.index_select(0, rows) : tensor;
}

std::vector<torch::Tensor> select_rows(const std::vector<torch::Tensor>& tensors,
                                       const torch::Tensor& rows) {
  std::vector<torch::Tensor> selected;
  for (const auto& tensor : tensors) selected.push_back(select_rows(tensor, rows));
  return selected;
}

}  // namespace

Logits Seq2Seq::logits() {
  const auto [weight, bias] = output_layer();
  if (!kernels::is_fused_on(weight)) {
    return [weight = weight, bias = bias](const torch::Tensor& readout) {
      return torch::linear(readout, weight, bias);
    };
  }
  return [packed = kernels::PackedMatrix(weight.detach().t()),
          bias = bias.detach()](const torch::Tensor& readout) {
    const auto logits = bias.repeat({readout.size(0), 1});  // never the bias itself
    packed.multiply(readout.contiguous(), logits, /*add=*/true);
    return logits;
  };
}

Memory Memory::select(const torch::Tensor& rows) const {
  return {.values = select_rows(values, rows),
          .mask = select_rows(mask, rows),
          .lengths = select_rows(lengths, rows.cpu()),
          .summary = select_rows(summary, rows),
          .context = select_rows(context, rows),
          .keys = select_rows(keys, rows),
          .gate_values = select_rows(gate_values, rows),
          .readout_values = select_rows(readout_values, rows),
          .layers = select_rows(layers, rows)};
}

DecoderState DecoderState::select(const torch::Tensor& rows) const {
  return {.layers = select_rows(layers, rows),
          .readout = select_rows(readout, rows),
          .attention = select_rows(attention, rows),
          .position = position};
}

std::vector<std::pair<std::string, torch::Tensor>> parameters_of(const Seq2Seq& model) {
  std::vector<std::pair<std::string, torch::Tensor>> parameters;
  for (const auto& item : model.named_parameters()) {
    parameters.emplace_back(item.key(), item.value());
  }
  return parameters;
}

}  // namespace regard
