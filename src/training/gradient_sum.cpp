#include "training/gradient_sum.h"

#include <torch/autograd.h>

#include <optional>
#include <stdexcept>
#include <utility>

namespace regard {
namespace {

// Parts have at least this many numbers (4 MB): smaller messages cost more for each number.
constexpr std::int64_t part_size = std::int64_t{1} << 20;

std::int64_t tensor_bytes(const torch::Tensor& tensor) {
  return tensor.defined() ? tensor.numel() * tensor.element_size() : 0;
}

// Sets a variable to a value and back to null.
template <typename T>
class SetScope {
 public:
  SetScope(T*& variable, T& value) : variable_(variable) { variable_ = &value; }
  ~SetScope() { variable_ = nullptr; }
  SetScope(const SetScope&) = delete;
  SetScope& operator=(const SetScope&) = delete;

 private:
  T*& variable_;
};

}  // namespace

// A term whose backward pass runs.
struct GradientSum::RunningTerm {
  GradientSum* sum;
  std::size_t term;
  std::vector<bool> delivered;  // by parameter: the hook has passed the gradient to `sum`

  static thread_local RunningTerm* of_thread;
};
thread_local GradientSum::RunningTerm* GradientSum::RunningTerm::of_thread = nullptr;

GradientSum::GradientSum(const ParameterBuffer& weights)
    : gradient_(weights.zeros_like()),
      max_buffered_bytes_(2 * weights.flat().numel() * weights.flat().element_size()),
      entries_(weights.views().size()) {
  for (const auto& [name, parameter] : weights.views()) {
    const auto i = parameters_.size();
    parameters_.push_back(parameter);
    if (!parameter.requires_grad()) continue;
    trained_.push_back(parameter);
    trained_index_.push_back(i);
    hooks_.push_back(
        parameter.register_hook([this, i](const torch::Tensor& g) { return hook(i, g); }));
  }
  part_of_.resize(parameters_.size());
  std::int64_t end = weights.flat().numel();
  for (auto i = parameters_.size(); i-- > 0;) {
    if (parts_.empty() || parts_.back().end - parts_.back().begin >= part_size) {
      parts_.push_back({.begin = end, .end = end});
    }
    end = i == 0 ? 0 : weights.views()[i].second.storage_offset();
    parts_.back().begin = end;
    ++parts_.back().parameters;
    part_of_[i] = parts_.size() - 1;
  }
}

GradientSum::~GradientSum() {
  for (std::size_t i = 0; i < hooks_.size(); ++i) trained_[i].remove_hook(hooks_[i]);
}

void GradientSum::begin(std::size_t terms, OnPart on_part) {
  for (auto& entry : entries_) entry = {};
  buffered_bytes_ = 0;
  error_ = nullptr;
  terms_ = terms;
  on_part_ = std::move(on_part);
  next_part_ = 0;
  for (auto& part : parts_) part.incomplete = part.parameters;
}

// Adds the gradient to the sum while autograd still computes others. Returns zeros in its place
// that use no memory (one number, expanded), so that autograd does not store a gradient for each
// thread.
torch::Tensor GradientSum::hook(std::size_t parameter, const torch::Tensor& gradient) {
  // On a GPU, autograd calls the hooks on a thread of its own; regard uses a single thread there.
  auto* running = on_device_ != nullptr ? on_device_ : RunningTerm::of_thread;
  if (running == nullptr || running->sum != this) return gradient;
  if (!gradient.defined()) return gradient;  // noted as factors
  add_in_order(parameter, running->term, gradient);
  running->delivered[parameter] = true;
  return torch::zeros({}, gradient.options()).expand_as(gradient);
}

void GradientSum::add(std::size_t term, const torch::Tensor& objective) {
  const bool is_cpu = gradient_.flat().is_cpu();
  const bool all_at_once = !is_cpu && !on_part_;  // the hooks leave the gradients to autograd
  RunningTerm now{this, term, std::vector<bool>(parameters_.size(), false)};
  torch::autograd::variable_list gradients(parameters_.size());
  {
    std::optional<SetScope<RunningTerm>> scope;
    if (!all_at_once) scope.emplace(is_cpu ? RunningTerm::of_thread : on_device_, now);
    auto trained = torch::autograd::grad({objective}, trained_, /*grad_outputs=*/{},
                                         /*retain_graph=*/{}, /*create_graph=*/false,
                                         /*allow_unused=*/true);
    for (std::size_t i = 0; i < trained.size(); ++i) {
      gradients[trained_index_[i]] = std::move(trained[i]);
    }
  }
  if (all_at_once) return accumulate_all(gradients);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!now.delivered[i]) add_in_order(i, term, std::exchange(gradients[i], {}));
  }
}

void GradientSum::skip(std::size_t term) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) add_in_order(i, term, {});
}

void GradientSum::add_in_order(std::size_t parameter, std::size_t term, torch::Tensor gradient) {
  std::unique_lock lock(mutex_);
  auto& entry = entries_[parameter];
  const auto is_turn = [&] { return error_ || entry.next == term; };
  if (!is_turn()) {
    if (buffered_bytes_ + tensor_bytes(gradient) <= max_buffered_bytes_) {
      buffered_bytes_ += tensor_bytes(gradient);
      entry.waiting.emplace(term, std::move(gradient));
      return;
    }
    turn_changed_.wait(lock, is_turn);
  }
  if (error_) throw std::runtime_error("another thread failed");
  // Only the thread with the next term adds to this parameter, so the lock can be released.
  for (;;) {
    lock.unlock();
    if (gradient.defined()) accumulate(parameter, gradient);
    lock.lock();
    entry.has_value = entry.has_value || gradient.defined();
    ++entry.next;
    const auto next = entry.waiting.find(entry.next);
    if (next == entry.waiting.end()) break;
    gradient = std::move(next->second);
    buffered_bytes_ -= tensor_bytes(gradient);
    entry.waiting.erase(next);
  }
  if (on_part_ && entry.next == terms_) complete(parameter);
  turn_changed_.notify_all();
}

void GradientSum::accumulate(std::size_t parameter, const torch::Tensor& gradient) {
  const torch::NoGradGuard guard;
  const auto& sum = gradient_.views()[parameter].second;
  if (entries_[parameter].has_value) {
    sum.add_(gradient);
  } else {
    sum.copy_(gradient);
  }
}

void GradientSum::accumulate_all(const std::vector<torch::Tensor>& gradients) {
  const torch::NoGradGuard guard;
  std::vector<torch::Tensor> from_first, first, from_later, later;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const auto& sum = gradient_.views()[i].second;
    const bool has_value = std::exchange(entries_[i].has_value, true);
    (has_value ? later : first).push_back(sum);
    (has_value ? from_later : from_first).push_back(gradients[i]);
  }
  if (!first.empty()) at::_foreach_copy_(first, from_first);
  if (!later.empty()) at::_foreach_add_(later, from_later);
}

void GradientSum::complete(std::size_t parameter) {
  if (!entries_[parameter].has_value) {
    const torch::NoGradGuard guard;
    gradient_.views()[parameter].second.zero_();
    entries_[parameter].has_value = true;
  }
  --parts_[part_of_[parameter]].incomplete;
  while (next_part_ < parts_.size() && parts_[next_part_].incomplete == 0) hand_on_next_part();
}

void GradientSum::hand_on_next_part() {
  const auto& part = parts_[next_part_++];
  on_part_(part.begin, part.end);
}

void GradientSum::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  turn_changed_.notify_all();
}

void GradientSum::add_factors(std::span<kernels::GradientFactors> of_shards, ThreadPool& pool) {
  if (error_) return;
  std::vector<kernels::GradientPart> parts;
  parts.reserve(parameters_.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parts.push_back({.begin = gradient_.views()[i].second.storage_offset(),
                     .size = parameters_[i].numel(),
                     .is_wanted = parameters_[i].requires_grad(),
                     .has_value = entries_[i].has_value});
  }
  kernels::add_up(of_shards, gradient_.flat(), parts, pool);
  for (std::size_t i = 0; i < parts.size(); ++i) entries_[i].has_value = parts[i].has_value;
}

void GradientSum::finish() {
  if (error_) {
    for (auto& entry : entries_) entry.waiting.clear();
  } else {
    const torch::NoGradGuard guard;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!entries_[i].has_value) gradient_.views()[i].second.zero_();
    }
  }
  try {
    while (on_part_ && next_part_ < parts_.size()) hand_on_next_part();
  } catch (...) {
    if (!error_) throw;
  }
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace regard
