#include "training/gradient_sum.h"

#include <torch/autograd.h>

#include <optional>
#include <stdexcept>
#include <utility>

namespace regard {
namespace {

// The term whose backward pass runs on this thread.
struct RunningTerm {
  GradientSum* sum;
  std::size_t term;
  std::vector<bool> delivered;  // by parameter: the hook has passed the gradient to `sum`
};
thread_local RunningTerm* running = nullptr;

class RunningScope {
 public:
  explicit RunningScope(RunningTerm& term) { running = &term; }
  ~RunningScope() { running = nullptr; }
  RunningScope(const RunningScope&) = delete;
  RunningScope& operator=(const RunningScope&) = delete;
};

std::int64_t bytes_of(const torch::Tensor& tensor) {
  return tensor.defined() ? tensor.numel() * tensor.element_size() : 0;
}

}  // namespace

GradientSum::GradientSum(const ParameterBuffer& weights)
    : gradient_(weights.zeros_like()),
      max_buffered_bytes_(2 * weights.flat().numel() * weights.flat().element_size()),
      entries_(weights.views().size()) {
  for (const auto& [name, parameter] : weights.views()) {
    const auto i = parameters_.size();
    parameters_.push_back(parameter);
    hooks_.push_back(
        parameter.register_hook([this, i](const torch::Tensor& g) { return hook(i, g); }));
  }
}

GradientSum::~GradientSum() {
  for (std::size_t i = 0; i < hooks_.size(); ++i) parameters_[i].remove_hook(hooks_[i]);
}

void GradientSum::begin() {
  for (auto& entry : entries_) entry = {};
  buffered_bytes_ = 0;
  error_ = nullptr;
}

// Adds the gradient to the sum while autograd still computes others. Returns zeros in its place
// that use no memory (one number, expanded), so that autograd does not store a gradient for each
// thread.
torch::Tensor GradientSum::hook(std::size_t parameter, const torch::Tensor& gradient) {
  if (running == nullptr || running->sum != this) return gradient;
  add_in_order(parameter, running->term, gradient);
  running->delivered[parameter] = true;
  return torch::zeros({}, gradient.options()).expand_as(gradient);
}

void GradientSum::add(std::size_t term, const torch::Tensor& objective) {
  // On a GPU, autograd calls the hooks on a thread of its own, where `running` is null. regard uses
  // a single thread with a GPU, so the gradients can be added after the backward pass.
  const bool is_cpu = gradient_.flat().is_cpu();
  RunningTerm now{this, term, std::vector<bool>(parameters_.size(), false)};
  torch::autograd::variable_list gradients;
  {
    std::optional<RunningScope> scope;
    if (is_cpu) scope.emplace(now);
    gradients = torch::autograd::grad({objective}, parameters_, /*grad_outputs=*/{},
                                      /*retain_graph=*/{}, /*create_graph=*/false,
                                      /*allow_unused=*/true);
  }
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
    if (buffered_bytes_ + bytes_of(gradient) <= max_buffered_bytes_) {
      buffered_bytes_ += bytes_of(gradient);
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
    buffered_bytes_ -= bytes_of(gradient);
    entry.waiting.erase(next);
  }
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

void GradientSum::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  turn_changed_.notify_all();
}

void GradientSum::finish() {
  if (error_) {
    for (auto& entry : entries_) entry.waiting.clear();
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
  const torch::NoGradGuard guard;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].has_value) gradient_.views()[i].second.zero_();
  }
}

}  // namespace regard
