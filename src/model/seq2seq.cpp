#include "model/seq2seq.h"

#include <stdexcept>

#include "kernels/device.h"

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

void DecoderContext::set(const void* module, Tensors tensors) {
  for (auto& [owner, stored] : tensors_) {
    if (owner == module) {
      stored = std::move(tensors);
      return;
    }
  }
  tensors_.emplace_back(module, std::move(tensors));
}

const DecoderContext::Tensors& DecoderContext::at(const void* module) const {
  for (const auto& [owner, stored] : tensors_) {
    if (owner == module) return stored;
  }
  throw std::logic_error("a module reads its decoder context before prepare()");
}

std::vector<torch::Tensor*> DecoderContext::all() {
  std::vector<torch::Tensor*> all;
  for (auto& [owner, stored] : tensors_) {
    for (auto& tensor : stored) all.push_back(&tensor);
  }
  return all;
}

DecoderContext DecoderContext::select(const torch::Tensor& rows) const {
  DecoderContext selected;
  for (const auto& [owner, stored] : tensors_) {
    selected.tensors_.emplace_back(owner, select_rows(stored, rows));
  }
  return selected;
}

void EncoderOutput::set_lengths(const torch::Tensor& of_sentences, std::int64_t S,
                                torch::Device device) {
  lengths = of_sentences;
  lengths_on_device = to_device(lengths, device);
  mask = torch::arange(S, lengths_on_device.options()) < lengths_on_device.unsqueeze(1);
  padding = mask.logical_not().unsqueeze(1);
}

EncoderOutput EncoderOutput::select(const torch::Tensor& rows) const {
  return {.states = select_rows(states, rows),
          .mask = select_rows(mask, rows),
          .lengths = select_rows(lengths, rows.cpu()),
          .lengths_on_device = select_rows(lengths_on_device, rows),
          .padding = select_rows(padding, rows),
          .summary = select_rows(summary, rows),
          .last_states = select_rows(last_states, rows),
          .context = select_rows(context, rows),
          .members = select_rows(members, rows),
          .shortlist = shortlist,
          .sentences = select_rows(sentences, rows.cpu())};
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
