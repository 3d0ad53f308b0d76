#include "decoding/search_graphs.h"

#include <torch/utils.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/process.h"
#include "base/special_tokens.h"
#include "decoding/logits_processor.h"
#include "kernels/device.h"

namespace regard {
namespace {

using torch::Tensor;

constexpr std::int64_t smallest_slot = 8;   // sentences; others are twice as large, and so on
constexpr std::int64_t position_steps = 8;  // numbers of source positions
constexpr std::int64_t room_steps = 32;     // numbers of target positions of a Transformer
constexpr std::int64_t largest_room = 512;  // their encodings are stored (transformer/positions)
constexpr std::size_t max_slots = 64;
constexpr std::size_t max_slot_bytes = std::size_t{2} << 30;

std::int64_t rounded_up(std::int64_t n, std::int64_t step) {
  return (n + step - 1) / step * step;
}

std::int64_t sentences_of_slot(std::int64_t sentences) {
  auto size = smallest_slot;
  while (size < sentences) size *= 2;
  return size;
}

void append_defined(std::vector<Tensor*>& all, std::initializer_list<Tensor*> tensors) {
  for (auto* tensor : tensors) {
    if (tensor->defined()) all.push_back(tensor);
  }
}

// The tensors on the device.
std::vector<Tensor*> device_tensors(EncoderOutput& encoded) {
  std::vector<Tensor*> all;
  append_defined(all, {&encoded.states, &encoded.mask, &encoded.lengths_on_device, &encoded.padding,
                       &encoded.bias, &encoded.summary});
  for (auto& tensor : encoded.last_states) append_defined(all, {&tensor});
  for (auto* tensor : encoded.context.all()) append_defined(all, {tensor});
  for (auto& member : encoded.members) {
    for (auto* tensor : device_tensors(member)) all.push_back(tensor);
  }
  return all;
}

std::vector<Tensor*> device_tensors(DecoderState& state) {
  std::vector<Tensor*> all;
  for (auto* list : {&state.layers, &state.pasts, &state.attention}) {
    for (auto& tensor : *list) append_defined(all, {&tensor});
  }
  append_defined(all, {&state.readout});
  for (auto& member : state.members) {
    for (auto* tensor : device_tensors(member)) all.push_back(tensor);
  }
  return all;
}

void copy_into(const std::vector<Tensor*>& to, const std::vector<Tensor*>& from) {
  const auto have_equal_sizes = [](const Tensor* a, const Tensor* b) {
    return a->sizes() == b->sizes();
  };
  TORCH_CHECK(std::ranges::equal(to, from, have_equal_sizes),
              "a step changes the sizes of its state");
  for (std::size_t i = 0; i < to.size(); ++i) to[i]->copy_(*from[i]);
}

// Numbers on the CPU would be frozen in a graph.
void keep_on_device(EncoderOutput& encoded) {
  encoded.lengths = encoded.lengths_on_device;
  encoded.bias = Tensor();
  if (encoded.states.defined()) encoded.set_bias(encoded.states);
  for (auto& member : encoded.members) keep_on_device(member);
}

// Sets the positions of all rows, on the CPU or on the device, of which `bound` is the largest or
// above it.
void place_rows(DecoderState& state, const Tensor& positions, std::int64_t bound) {
  state.positions = positions;
  state.position = bound;
  for (auto& member : state.members) place_rows(member, positions, bound);
}

// Returns the number of target positions for which the pasts have room; 0 without a Transformer.
std::int64_t room_of(const DecoderState& state) {
  auto room = state.pasts.empty() ? 0 : state.pasts[0].size(1);
  for (const auto& member : state.members) room = std::max(room, room_of(member));
  return room;
}

// Copies the pasts that a selection of rows leaves where they are, with this room.
void gather_pasts(DecoderState& state, std::int64_t room) {
  for (auto& past : state.pasts) {
    if (state.past_rows.defined()) past = past.index_select(0, state.past_rows);
    const auto length = past.size(1);
    past = length < room ? torch::constant_pad_nd(past, {0, 0, 0, room - length})
                         : past.narrow(1, 0, room);
  }
  state.past_rows = Tensor();
  for (auto& member : state.members) gather_pasts(member, room);
}

// Returns the position of each row of a state with N rows.
std::vector<std::int64_t> positions_of(const DecoderState& state, std::int64_t N) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(N), state.position);
  if (state.positions.defined()) {
    const auto* each = state.positions.const_data_ptr<std::int64_t>();
    std::copy_n(each, N, positions.begin());
  }
  return positions;
}

RowIndices rows_on(torch::Device device, const std::vector<std::int64_t>& rows) {
  const auto on_cpu = torch::tensor(rows, torch::kInt64);
  return {on_cpu, to_device(on_cpu, device)};
}

}  // namespace

struct SearchGraphs::Slot {
  std::vector<std::int64_t> shape;  // the sizes of all tensors, and k
  EncoderOutput encoded;
  DecoderState state;  // without positions
  Tensor inputs;       // [3, R] int64: parents, tokens, positions
  std::int64_t k = 0;
  torch::ScalarType type = torch::kFloat;  // of the logits
  std::int64_t room = 0;                   // target positions; 0: any number
  bool is_taken = false;
  bool was_computed = false;
  std::unique_ptr<DeviceGraph> graph;
  Tensor result;
  std::int64_t last_use = 0;

  std::vector<Tensor*> tensors() {
    auto all = device_tensors(encoded);
    for (auto* tensor : device_tensors(state)) all.push_back(tensor);
    return all;
  }
};

SearchGraphs::SearchGraphs(Seq2Seq& model, torch::Device device)
    : model_(model), capture_(device), is_enabled_(!device.is_cpu() && capture_.is_possible()) {}
SearchGraphs::~SearchGraphs() = default;

void SearchGraphs::disable(const std::exception& error) {
  const std::string_view text = error.what();
  log::info("the steps of searches are launched operation by operation: {}",
            is_out_of_memory(error) ? "a graph does not fit into the memory of the device"
                                    : text.substr(0, text.find('\n')));
  is_enabled_ = false;
  slots_.remove_if([](const Slot& slot) { return !slot.is_taken; });
}

void SearchGraphs::give_back(Slot& slot) {
  slot.is_taken = false;
  if (!is_enabled_) slots_.remove_if([&](const Slot& other) { return &other == &slot; });
}

bool SearchGraphs::can_take(const DecoderState& state) {
  return state.position + 2 <= largest_room;
}

SourceBatch SearchGraphs::padded(const SourceBatch& source) const {
  if (!is_enabled_ || std::holds_alternative<SourceVectors>(source.values)) return source;
  const auto limit = model_.source_limit();
  const auto S = source.positions();
  const auto wanted = rounded_up(S, position_steps);
  const auto more = (limit ? std::min(wanted, limit->max_tokens) : wanted) - S;
  if (more <= 0) return source;
  return source.map([&](const Tensor& ids) {
    return torch::constant_pad_nd(ids, {0, more}, pad_id);
  });
}

// Makes room for another slot.
void SearchGraphs::release_oldest() {
  const auto is_full = [&] {
    std::size_t bytes = 0;
    for (auto& slot : slots_) {
      for (const auto* tensor : slot.tensors()) bytes += tensor->nbytes();
    }
    return slots_.size() >= max_slots || bytes > max_slot_bytes;
  };
  while (is_full()) {
    const auto oldest = std::ranges::min_element(
        slots_, {}, [](const Slot& slot) { return std::pair(slot.is_taken, slot.last_use); });
    if (oldest->is_taken) return;
    slots_.erase(oldest);
  }
}

SearchGraphs::Slot& SearchGraphs::slot_for(EncoderOutput encoded, DecoderState state,
                                           std::int64_t k) {
  std::vector<std::int64_t> shape = {k};
  auto tensors = device_tensors(encoded);
  for (auto* tensor : device_tensors(state)) tensors.push_back(tensor);
  for (const auto* tensor : tensors) {
    shape.push_back(-1);
    shape.insert(shape.end(), tensor->sizes().begin(), tensor->sizes().end());
  }
  for (auto& slot : slots_) {
    if (slot.is_taken || slot.shape != shape) continue;
    copy_into(slot.tensors(), tensors);
    return slot;
  }
  release_oldest();
  auto& slot = slots_.emplace_back();
  slot.shape = std::move(shape);
  slot.k = k;
  slot.room = room_of(state);
  slot.encoded = std::move(encoded);
  slot.state = std::move(state);
  for (auto* tensor : slot.tensors()) *tensor = tensor->clone(at::MemoryFormat::Contiguous);
  keep_on_device(slot.encoded);
  return slot;
}

Tensor SearchGraphs::compute(Slot& slot) {
  const auto parents = slot.inputs[0], tokens = slot.inputs[1], positions = slot.inputs[2];
  auto state = slot.state;
  state = state.select(RowIndices{{}, parents});
  place_rows(state, positions, std::max<std::int64_t>(slot.room - 1, 0));
  auto step = model_.step(tokens, state, slot.encoded, /*want_weights=*/false);
  const auto logits = next_logits(model_, step, slot.encoded).values;
  slot.k = std::min(slot.k, logits.size(1));
  slot.type = logits.scalar_type();
  auto best = kernels::top_log_probabilities_block(logits, slot.k);
  copy_into(device_tensors(slot.state), device_tensors(step.state));
  return best;
}

Tensor SearchGraphs::run(Slot& slot) {
  slot.last_use = ++uses_;
  if (!slot.was_computed) {
    auto best = compute(slot);
    slot.was_computed = true;
    return best;
  }
  if (!slot.graph) {
    const DeviceGraph* memory_owner = nullptr;
    for (const auto& other : slots_) {
      if (other.graph) memory_owner = other.graph.get();
    }
    slot.graph = capture_.capture(memory_owner, [&] { slot.result = compute(slot); });
  }
  slot.graph->launch();
  return slot.result;
}

GraphedBatch::GraphedBatch(SearchGraphs& graphs, EncoderOutput encoded, const DecoderState& state,
                           const Tensor& tokens, std::int64_t k)
    : graphs_(graphs), slot_(nullptr), encoded_(std::move(encoded)), k_(k) {
  const auto B = encoded_.mask.size(0), N = tokens.size(0), places = sentences_of_slot(B);
  const auto device = encoded_.mask.device();
  G_ = N / B;
  // The first sentence fills places that are too many.
  std::vector<std::int64_t> sentences(static_cast<std::size_t>(places), 0), rows;
  std::iota(sentences.begin(), sentences.begin() + B, 0);
  for (const auto sentence : sentences) {
    for (std::int64_t g = 0; g < G_; ++g) rows.push_back(sentence * G_ + g);
  }
  const auto positions = positions_of(state, N);
  const auto last = from_device(tokens);
  for (const auto row : rows) tokens_.push_back(last.const_data_ptr<std::int64_t>()[row]);
  for (const auto sentence : sentences) {
    started_.push_back(positions[static_cast<std::size_t>(sentence * G_)]);
  }
  parents_.resize(rows.size());
  std::iota(parents_.begin(), parents_.end(), 0);
  places_.resize(static_cast<std::size_t>(B));
  std::iota(places_.begin(), places_.end(), 0);

  auto padded = encoded_.select(rows_on(device, sentences));
  keep_on_device(padded);
  auto moved = state;
  place_rows(moved, {}, 0);
  moved = moved.select(rows_on(device, rows));
  const auto longest = *std::ranges::max_element(positions);
  auto room = rounded_up(longest + 2, room_steps);
  if (const auto limit = graphs_.model_.target_limit()) {
    room = std::max(longest + 1, std::min(room, limit->max_tokens));
  }
  gather_pasts(moved, room);
  slot_ = &graphs_.slot_for(std::move(padded), std::move(moved), k);
  slot_->is_taken = true;
}

GraphedBatch::~GraphedBatch() {
  graphs_.give_back(*slot_);
}

std::vector<std::int64_t> GraphedBatch::live_rows() const {
  std::vector<std::int64_t> rows;
  for (const auto place : places_) {
    for (std::int64_t g = 0; g < G_; ++g) rows.push_back(place * G_ + g);
  }
  return rows;
}

void GraphedBatch::step() {
  const auto R = static_cast<std::int64_t>(parents_.size());
  auto numbers = torch::empty({3, R}, torch::kInt64);
  auto* number = numbers.mutable_data_ptr<std::int64_t>();
  number = std::copy(parents_.begin(), parents_.end(), number);
  number = std::copy(tokens_.begin(), tokens_.end(), number);
  for (const auto start : started_) {
    const auto position = start + steps_;  // beyond the room only in places that have ended
    const auto room = slot_->room;
    number = std::fill_n(number, G_, room > 0 ? std::min(position, room - 1) : position);
  }
  if (!slot_->inputs.defined()) {
    slot_->inputs =
        torch::empty_like(numbers, numbers.options().device(slot_->encoded.mask.device()));
  }
  copy_to_device(numbers, slot_->inputs);
  best_ = graphs_.run(*slot_);
  std::iota(parents_.begin(), parents_.end(), 0);
  ++steps_;
}

kernels::TopK GraphedBatch::best() const {
  const auto live = torch::tensor(live_rows(), torch::kInt64);
  const auto R = std::ssize(parents_);
  const auto top = kernels::top_of_block(from_device(best_), R, slot_->k, slot_->type);
  return {top.log_p.index_select(0, live), top.indices.index_select(0, live)};
}

void GraphedBatch::advance(const std::vector<std::int64_t>& parents,
                           const std::vector<std::int64_t>& tokens,
                           const std::vector<std::int64_t>& sentences) {
  const auto rows = live_rows();
  std::vector<std::int64_t> places;
  places.reserve(sentences.size());
  for (const auto sentence : sentences)
    places.push_back(places_[static_cast<std::size_t>(sentence)]);
  places_ = std::move(places);
  const auto next = live_rows();
  for (std::size_t i = 0; i < next.size(); ++i) {
    const auto row = static_cast<std::size_t>(next[i]);
    parents_[row] = rows[static_cast<std::size_t>(parents[i])];
    tokens_[row] = tokens[i];
  }
}

bool GraphedBatch::should_move(std::int64_t k) const {
  if (k != k_ || sentences_of_slot(std::ssize(places_)) < std::ssize(started_)) return true;
  return slot_->room > 0 && std::ranges::any_of(places_, [&](const auto place) {
           return started_[static_cast<std::size_t>(place)] + steps_ >= slot_->room;
         });
}

EncoderOutput GraphedBatch::encoded() const {
  return encoded_.select(rows_on(encoded_.mask.device(), places_));
}

DecoderState GraphedBatch::state() const {
  auto state = slot_->state;
  std::vector<std::int64_t> positions, rows;
  for (const auto start : started_) positions.insert(positions.end(), G_, start + steps_);
  place_rows(state, torch::tensor(positions, torch::kInt64), 0);
  for (const auto row : live_rows()) rows.push_back(parents_[static_cast<std::size_t>(row)]);
  state = state.select(rows_on(encoded_.mask.device(), rows));
  gather_pasts(state, slot_->room);  // the slot will have others
  return state;
}

Tensor GraphedBatch::tokens() const {
  std::vector<std::int64_t> tokens;
  for (const auto row : live_rows()) tokens.push_back(tokens_[static_cast<std::size_t>(row)]);
  return rows_on(encoded_.mask.device(), tokens).on_device;
}

}  // namespace regard
