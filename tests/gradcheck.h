// Lists of tensors against others, and gradients against central differences, in double precision.
#pragma once

#include <gtest/gtest.h>
#include <torch/nn/module.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace regard {

// Expects the tensors of both lists to be equal up to a tolerance, relative or absolute, or both
// undefined.
inline void expect_all_close(const std::vector<torch::Tensor>& found,
                             const std::vector<torch::Tensor>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].defined(), expected[i].defined()) << i;
    if (!found[i].defined()) continue;
    EXPECT_TRUE(torch::allclose(found[i], expected[i], tolerance, tolerance)) << i;
  }
}

// f gives a scalar from the tensors, which it is to use in place. For each element of each tensor:
// |autograd − (f(x + h) − f(x − h)) / 2h| ≤ tolerance · max(1, |numeric|).
inline void expect_gradients_match(
    const std::function<torch::Tensor()>& f,
    const std::vector<std::pair<std::string, torch::Tensor>>& tensors, double tolerance = 1e-6) {
  constexpr double h = 1e-6;
  for (const auto& [name, tensor] : tensors) {
    ASSERT_EQ(tensor.dtype(), torch::kDouble) << name;
    tensor.mutable_grad() = torch::Tensor();
  }
  f().backward();
  for (const auto& [name, tensor] : tensors) {
    ASSERT_TRUE(tensor.grad().defined()) << name << " has no gradient";
    const auto gradient = tensor.grad().contiguous();
    const torch::NoGradGuard guard;
    auto* x = tensor.data_ptr<double>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
      const double before = x[i];
      x[i] = before + h;
      const double above = f().item<double>();
      x[i] = before - h;
      const double below = f().item<double>();
      x[i] = before;
      const double numeric = (above - below) / (2 * h);
      EXPECT_NEAR(gradient.data_ptr<double>()[i], numeric,
                  tolerance * std::max(1.0, std::abs(numeric)))
          << name << "[" << i << "]";
    }
  }
}

// A module's parameters, for the above; the module must be in double precision and contiguous.
inline std::vector<std::pair<std::string, torch::Tensor>> named_tensors(
    const torch::nn::Module& module) {
  std::vector<std::pair<std::string, torch::Tensor>> tensors;
  for (const auto& item : module.named_parameters()) {
    tensors.emplace_back(item.key(), item.value());
  }
  return tensors;
}

}  // namespace regard
