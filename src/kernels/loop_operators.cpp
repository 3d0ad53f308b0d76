#include "kernels/loop_operators.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "kernels/loop_kernels.h"
#include "kernels/maybe.h"

namespace regard::kernels::loop_operators {

using torch::Tensor;

TORCH_LIBRARY_FRAGMENT(regard, library) {
  library.def(
      "cell_forward(int part, Tensor(a!) gates, Tensor u, Tensor? b_U, Tensor s, "
      "Tensor(b!)? product, Tensor? c, Tensor(c!)? next_c, Tensor(d!)? next) -> ()");
  library.def(
      "cell_backward(int part, Tensor d, Tensor gates, Tensor s, Tensor? product, Tensor? c, "
      "Tensor? next_c, Tensor? next, Tensor(a!) rows, Tensor(b!) d_s, Tensor(c!)? d_c) -> ()");
  library.def(
      "attend(int form, float scale, Tensor q, Tensor keys, Tensor? v, Tensor mixed, "
      "Tensor padding, Tensor(a!) x, Tensor(b!) weights) -> ()");
  library.def(
      "attend_backward(int form, float scale, Tensor q, Tensor keys, Tensor? v, Tensor mixed, "
      "Tensor weights, Tensor? d_weights, Tensor d_mixture, Tensor(a!) d_e, Tensor(b!) d_q, "
      "bool adds_d_q, Tensor(c!)? d_keys, Tensor(d!)? d_v) -> ()");
}

namespace {

// Finds the operator of this name, which takes the arguments of a function F.
template <typename F>
auto find(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").template typed<F>();
}

using Any = LoopOperators<void>;  // for the types of its functions

}  // namespace

void cell_forward(CellPart part, const CellStep& step, const Tensor& u) {
  static const auto run = find<decltype(Any::cell_forward)>("regard::cell_forward");
  run.call(static_cast<std::int64_t>(part), step.gates, u, maybe(step.b_U), step.s,
           maybe(step.product), maybe(step.c), maybe(step.next_c), maybe(step.next));
}

void cell_backward(CellPart part, const CellStep& step, const Tensor& d, const Tensor& rows,
                   const Tensor& d_s, const Tensor& d_c) {
  static const auto run = find<decltype(Any::cell_backward)>("regard::cell_backward");
  run.call(static_cast<std::int64_t>(part), d, step.gates, step.s, maybe(step.product),
           maybe(step.c), maybe(step.next_c), maybe(step.next), rows, d_s, maybe(d_c));
}

void attend(const AttentionStep& step, const Tensor& padding, const Tensor& x,
            const Tensor& weights) {
  static const auto run = find<decltype(Any::attend)>("regard::attend");
  run.call(static_cast<std::int64_t>(step.form), step.scale, step.q, step.keys, maybe(step.v),
           step.mixed, padding, x, weights);
}

void attend_backward(const AttentionStep& step, const Tensor& weights, const Tensor& d_weights,
                     const Tensor& d_mixture, const AttentionGradients& d) {
  static const auto run = find<decltype(Any::attend_backward)>("regard::attend_backward");
  run.call(static_cast<std::int64_t>(step.form), step.scale, step.q, step.keys, maybe(step.v),
           step.mixed, weights, maybe(d_weights), d_mixture, d.d_e, d.d_q, d.adds_d_q,
           maybe(d.d_keys), maybe(d.d_v));
}

}  // namespace regard::kernels::loop_operators
