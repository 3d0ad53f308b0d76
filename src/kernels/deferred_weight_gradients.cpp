#include "kernels/deferred_weight_gradients.h"

#include <torch/autograd.h>
#include <torch/custom_class.h>

#include <optional>
#include <utility>
#include <vector>

#include "kernels/device.h"
#include "kernels/gradient_factors.h"
#include "kernels/mode.h"
#include "kernels/packed_weights.h"

namespace regard::kernels {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

namespace {

// The inputs and output gradients of all steps.
struct DeferredSteps : torch::CustomClassHolder {
  std::vector<Tensor> x;    // [M, K] or [B, M, K]
  std::vector<Tensor> d_y;  // [M, N] or [B, M, N]
  // W and its transpose, packed for all steps.
  std::optional<PackedMatrix> W;
  std::optional<PackedMatrix> W_t;
};

using StepsPointer = c10::intrusive_ptr<torch::CustomClassHolder>;

DeferredSteps& steps_of(AutogradContext& context) {
  return static_cast<DeferredSteps&>(*context.saved_data["steps"].toCapsule());
}

Tensor multiply(const Tensor& x, const Tensor& W, std::optional<PackedMatrix>& packed) {
  if (W.dim() > 2) return x.matmul(W);
  if (!packed) packed.emplace(W, training_precision_for(x));
  auto y = torch::empty({x.size(0), W.size(1)}, x.options());
  packed->multiply(x.contiguous(), y);
  return y;
}

// Returns the W that the products of the steps take as input, so that autograd runs backward()
// after those of all steps. They return no gradient of W but store its factors in `steps`;
// backward() multiplies these.
class AfterSteps : public torch::autograd::Function<AfterSteps> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& W, const StepsPointer& steps) {
    context->save_for_backward({W});
    context->saved_data["steps"] = torch::IValue::make_capsule(steps);
    context->set_materialize_grads(false);
    return W.detach();
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& /*none*/) {
    const auto x = std::exchange(steps_of(*context).x, {});
    const auto d_y = std::exchange(steps_of(*context).d_y, {});
    if (x.empty()) return {Tensor(), Tensor()};
    const auto all_x = torch::cat(x, -2);
    const auto all_d_y = torch::cat(d_y, -2);
    const auto W = context->get_saved_variables()[0];
    return {all_x.dim() > 2 ? all_x.transpose(-1, -2).matmul(all_d_y)
                            : weight_gradient(W, all_x, all_d_y),
            Tensor()};
  }
};

class DeferredProduct : public torch::autograd::Function<DeferredProduct> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& W,
                        const StepsPointer& steps) {
    context->save_for_backward({x, W});
    context->saved_data["steps"] = torch::IValue::make_capsule(steps);
    context->set_materialize_grads(false);
    return multiply(x, W, steps_of(*context).W);
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto& d_y = gradients[0];
    tensor_list result(3);
    if (!d_y.defined()) return result;
    const auto saved = context->get_saved_variables();
    auto& steps = steps_of(*context);
    if (context->needs_input_grad(0)) {
      result[0] = multiply(d_y, saved[1].transpose(-1, -2), steps.W_t);
    }
    if (context->needs_input_grad(1)) {
      // Detached: the history of x contains earlier products, which hold `steps`: a cycle.
      steps.x.push_back(saved[0].detach());
      steps.d_y.push_back(d_y);
    }
    return result;
  }
};

bool is_same(const Tensor& a, const Tensor& b) {
  return a.const_data_ptr() == b.const_data_ptr() && a.sizes() == b.sizes() &&
         a.strides() == b.strides();
}

}  // namespace

const DeferredGradients::Factor& DeferredGradients::factor(const Tensor& W) {
  for (const auto& factor : factors_) {
    if (is_same(factor.W, W)) return factor;
  }
  const auto steps = c10::make_intrusive<DeferredSteps>();
  return factors_.emplace_back(Factor{W, AfterSteps::apply(W, steps), steps});
}

bool is_deferred(const Tensor& W) {
  return deferred_gradients() != nullptr && W.requires_grad() && torch::GradMode::is_enabled() &&
         is_fused_on(W);
}

Tensor deferred_product(const Tensor& x, const Tensor& W) {
  if (!is_deferred(W)) return x.matmul(W);
  const auto& factor = deferred_gradients()->factor(W);
  return DeferredProduct::apply(x, factor.deferred, factor.steps);
}

}  // namespace regard::kernels
