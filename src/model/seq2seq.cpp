#include "model/seq2seq.h"

#include <algorithm>
#include <stdexcept>

#include "kernels/device.h"

namespace regard {
namespace {

torch::Tensor select_rows(const torch::Tensor& tensor, const torch::Tensor& rows) {
  if (!tensor.defined()) return tensor;
  if (tensor.is_cpu() || !tensor.requires_grad() || tensor.dim() < 2) {
    return tensor.index_select(0, rows);
  }
  // On a GPU, the gradient of index_select() adds equal rows in any order, and differs from run to
  // run. That of embedding() adds them in a fixed order.
  auto sizes = tensor.sizes().vec();
  sizes[0] = rows.size(0);
  return torch::embedding(tensor.flatten(1), rows).view(sizes);
}

template <typename Part, typename Rows>
Part select_rows(const Part& part, const Rows& rows) {
  return part.select(rows);
}

template <typename Part, typename Rows>
std::vector<Part> select_rows(const std::vector<Part>& parts, const Rows& rows) {
  std::vector<Part> selected;
  for (const auto& part : parts) selected.push_back(select_rows(part, rows));
  return selected;
}

// Returns x with the sizes of dimensions 1, 2, …, at least its own; new elements are 0.
torch::Tensor grown(const torch::Tensor& x, const std::vector<std::int64_t>& sizes) {
  auto shape = x.sizes().vec();
  std::copy(sizes.begin() + 1, sizes.end(), shape.begin() + 1);
  if (x.sizes() == shape) return x;
  auto larger = x.new_zeros(shape);
  auto part = larger;
  for (std::int64_t d = 1; d < x.dim(); ++d) part = part.narrow(d, 0, x.size(d));
  part.copy_(x);
  return larger;
}

void append_rows(torch::Tensor& tensor, const torch::Tensor& other) {
  if (tensor.defined() != other.defined()) {
    throw std::logic_error("batches of different models cannot be joined");
  }
  if (!tensor.defined()) return;
  auto sizes = tensor.sizes().vec();
  for (std::size_t d = 1; d < sizes.size(); ++d) {
    sizes[d] = std::max(sizes[d], other.size(static_cast<std::int64_t>(d)));
  }
  tensor = torch::cat({grown(tensor, sizes), grown(other, sizes)});
}

template <typename Part>
void append_rows(Part& part, const Part& other) {
  part.append(other);
}

template <typename Part>
void append_rows(std::vector<Part>& parts, const std::vector<Part>& others) {
  if (parts.size() != others.size()) {
    throw std::logic_error("batches of different models cannot be joined");
  }
  for (std::size_t i = 0; i < parts.size(); ++i) append_rows(parts[i], others[i]);
}

std::int64_t row_count(const DecoderState& state) {
  if (!state.members.empty()) return row_count(state.members[0]);
  if (state.past_rows.defined()) return state.past_rows.size(0);
  if (!state.pasts.empty()) return state.pasts[0].size(0);
  return state.layers.empty() ? 0 : state.layers[0].size(0);
}

// Returns the position of each row.
torch::Tensor all_positions(const DecoderState& state) {
  if (state.positions.defined()) return state.positions;
  return torch::full({row_count(state)}, state.position, torch::kInt64);
}

// Sets the positions of a state's rows.
void set_positions(DecoderState& state, const torch::Tensor& positions) {
  state.position = positions.max().item<std::int64_t>();
  const bool are_equal = positions.min().item<std::int64_t>() == state.position;
  state.positions = are_equal ? torch::Tensor() : positions;
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

void DecoderContext::append(const DecoderContext& other) {
  for (auto& [owner, stored] : tensors_) append_rows(stored, other.at(owner));
}

void EncoderOutput::set_lengths(const torch::Tensor& of_sentences, std::int64_t S,
                                torch::Device device) {
  lengths = of_sentences;
  lengths_on_device = to_device(lengths, device);
  mask = torch::arange(S, lengths_on_device.options()) < lengths_on_device.unsqueeze(1);
  padding = mask.logical_not().unsqueeze(1);
  bias = torch::Tensor();
}

void EncoderOutput::set_bias(const torch::Tensor& like) {
  if (!like.is_cpu() && !bias.defined()) bias = kernels::make_padding(mask, lengths, like).bias;
}

kernels::Padding EncoderOutput::attention_padding(const torch::Tensor& like,
                                                  bool is_self_attention) const {
  if (!bias.defined()) return kernels::make_padding(mask, lengths, like, is_self_attention);
  return {bias, lengths, is_self_attention};
}

EncoderOutput EncoderOutput::select(const RowIndices& rows) const {
  EncoderOutput selected = {.states = select_rows(states, rows.on_device),
                            .mask = select_rows(mask, rows.on_device),
                            .lengths = select_rows(lengths, rows.on_cpu),
                            .lengths_on_device = select_rows(lengths_on_device, rows.on_device),
                            .padding = select_rows(padding, rows.on_device),
                            .bias = {},
                            .summary = select_rows(summary, rows.on_device),
                            .last_states = select_rows(last_states, rows.on_device),
                            .context = context.select(rows.on_device),
                            .members = select_rows(members, rows),
                            .shortlist = shortlist,
                            .sentences = select_rows(sentences, rows.on_cpu)};
  if (bias.defined()) selected.set_bias(bias);
  return selected;
}

void EncoderOutput::append(const EncoderOutput& other) {
  if (shortlist || other.shortlist) {
    throw std::logic_error("batches with shortlists cannot be joined");
  }
  append_rows(states, other.states);
  append_rows(summary, other.summary);
  append_rows(last_states, other.last_states);
  append_rows(context, other.context);
  append_rows(members, other.members);
  const auto S = std::max(mask.size(1), other.mask.size(1));
  set_lengths(torch::cat({lengths, other.lengths}), S, mask.device());
  if (states.defined()) set_bias(states);
}

DecoderState DecoderState::select(const RowIndices& rows) const {
  DecoderState selected = {.layers = select_rows(layers, rows.on_device),
                           .pasts = pasts,
                           .past_rows = past_rows.defined()
                                            ? past_rows.index_select(0, rows.on_device)
                                        : pasts.empty() ? past_rows
                                                        : rows.on_device,
                           .readout = select_rows(readout, rows.on_device),
                           .attention = select_rows(attention, rows.on_device),
                           .position = position,
                           .members = select_rows(members, rows)};
  if (positions.defined() && rows.on_cpu.numel() > 0) {
    set_positions(selected, positions.index_select(0, rows.on_cpu));
  }
  return selected;
}

void DecoderState::append(const DecoderState& other) {
  if (position != other.position) {
    set_positions(*this, torch::cat({all_positions(*this), all_positions(other)}));
  } else if (positions.defined() || other.positions.defined()) {
    positions = torch::cat({all_positions(*this), all_positions(other)});
  }
  if (!pasts.empty()) {
    // New hypotheses have no past to copy, and continue no row.
    if (other.position > 0) throw std::logic_error("only new hypotheses can join a Transformer");
    const auto options = torch::TensorOptions(torch::kInt64).device(pasts[0].device());
    const auto own = past_rows.defined() ? past_rows : torch::arange(row_count(*this), options);
    past_rows = torch::cat({own, torch::zeros({row_count(other)}, options)});
  }
  append_rows(layers, other.layers);
  append_rows(readout, other.readout);
  append_rows(attention, other.attention);
  append_rows(members, other.members);
}

void DecoderState::set_position_after(const DecoderState& last) {
  position = last.position + 1;
  if (last.positions.defined()) positions = last.positions + 1;
}

std::vector<std::pair<std::string, torch::Tensor>> parameters_of(const Seq2Seq& model) {
  std::vector<std::pair<std::string, torch::Tensor>> parameters;
  for (const auto& item : model.named_parameters()) {
    parameters.emplace_back(item.key(), item.value());
  }
  return parameters;
}

}  // namespace regard
