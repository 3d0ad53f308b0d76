#include "optim/parameter_buffer.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>

namespace regard {
namespace {

constexpr std::int64_t buffer_alignment = 64;  // bytes: a cache line, and a vector of AVX-512
// Elements: the ranges of weights, gradient and two moments fill 1 MiB in single precision.
constexpr std::int64_t range_size = 1 << 16;

// Returns the number of elements that a part takes, including the gap behind it.
std::int64_t aligned_elements(std::int64_t elements, std::int64_t element_size) {
  const auto unit = buffer_alignment / element_size;
  return (elements + unit - 1) / unit * unit;
}

// Returns the size of a range of the buffer, in elements.
std::int64_t range_size_of(const torch::Tensor& buffer) {
  return buffer.is_cpu() ? range_size : std::max<std::int64_t>(1, buffer.numel());
}

}  // namespace

ParameterBuffer ParameterBuffer::adopt(const NamedParameters& parameters) {
  const torch::NoGradGuard guard;
  ParameterBuffer buffer;
  std::int64_t size = 0;
  for (const auto& [name, parameter] : parameters) {
    size += aligned_elements(parameter.numel(), parameter.element_size());
  }
  const auto options = parameters.empty() ? torch::TensorOptions() : parameters[0].second.options();
  buffer.flat_ = torch::zeros({size}, options.requires_grad(false));
  std::int64_t begin = 0;
  for (auto [name, parameter] : parameters) {
    auto part = buffer.flat_.narrow(0, begin, parameter.numel()).view(parameter.sizes());
    part.copy_(parameter);
    parameter.set_data(part);
    begin += aligned_elements(parameter.numel(), parameter.element_size());
    buffer.views_.emplace_back(name, parameter);
  }
  return buffer;
}

ParameterBuffer ParameterBuffer::zeros_like() const {
  const torch::NoGradGuard guard;
  ParameterBuffer buffer;
  buffer.flat_ = torch::zeros_like(flat_);
  std::int64_t begin = 0;
  for (const auto& [name, view] : views_) {
    buffer.views_.emplace_back(name,
                               buffer.flat_.narrow(0, begin, view.numel()).view(view.sizes()));
    begin += aligned_elements(view.numel(), view.element_size());
  }
  return buffer;
}

std::size_t range_count(const torch::Tensor& buffer) {
  const auto size = range_size_of(buffer);
  return static_cast<std::size_t>((buffer.numel() + size - 1) / size);
}

void for_each_range(const torch::Tensor& buffer, ThreadPool& pool,
                    const std::function<void(std::size_t, std::int64_t, std::int64_t)>& f) {
  const auto size = range_size_of(buffer);
  const auto count = range_count(buffer);
  const auto threads = pool.count();
  pool.run([&](std::size_t thread) {
    const torch::NoGradGuard guard;
    for (auto i = thread * count / threads; i < (thread + 1) * count / threads; ++i) {
      const auto begin = static_cast<std::int64_t>(i) * size;
      f(i, begin, std::min(buffer.numel(), begin + size));
    }
  });
}

torch::Tensor norm(const torch::Tensor& buffer, ThreadPool& pool) {
  const torch::NoGradGuard guard;
  std::vector<torch::Tensor> norms(range_count(buffer));
  for_each_range(buffer, pool, [&](std::size_t i, std::int64_t begin, std::int64_t end) {
    norms[i] = buffer.slice(0, begin, end).norm();
  });
  if (norms.empty()) return torch::zeros({}, torch::kDouble);
  const auto all = torch::stack(norms).to(torch::kDouble);
  return all.numel() == 1 ? all[0] : all.norm();
}

bool is_finite(const torch::Tensor& buffer) {
  const torch::NoGradGuard guard;
  return buffer.numel() == 0 || std::isfinite(buffer.abs().max().item<double>());
}

torch::Tensor swap_scratch(const torch::Tensor& buffer) {
  return torch::empty({std::min(range_size_of(buffer), buffer.numel())}, buffer.options());
}

void swap_contents(const torch::Tensor& a, const torch::Tensor& b, const torch::Tensor& scratch) {
  const torch::NoGradGuard guard;
  const auto size = scratch.numel();
  for (std::int64_t begin = 0; begin < a.numel(); begin += size) {
    const auto end = std::min(a.numel(), begin + size);
    const auto saved = scratch.narrow(0, 0, end - begin);
    const auto part_of_a = a.slice(0, begin, end);
    const auto part_of_b = b.slice(0, begin, end);
    saved.copy_(part_of_a);
    part_of_a.copy_(part_of_b);
    part_of_b.copy_(saved);
  }
}

}  // namespace regard
