#include "kernels/attention.h"

#include <torch/autograd.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "kernels/deferred_weight_gradients.h"
#include "kernels/device.h"
#include "kernels/linear.h"
#include "kernels/maybe.h"
#include "kernels/mode.h"

namespace regard::kernels {

namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// Returns the weights or the scores [N, S] of queries q [N, A], by weigh() or score() of
// loops/attention.h. All tensors are contiguous.
Tensor weigh_or_score_rows(const AttentionScore& score, const Tensor& q, bool want_weights) {
  auto rows = torch::empty({q.size(0), score.keys.size(1)}, q.options());
  AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "attention_rows", [&] {
    const auto compute = want_weights ? weigh<scalar_t> : kernels::score<scalar_t>;
    compute(score.buffers<scalar_t>(), q.size(0) / score.keys.size(0),
            {q.const_data_ptr<scalar_t>(), q.size(1)}, rows.mutable_data_ptr<scalar_t>());
  });
  return rows;
}

// q [N, A], keys [B, S, A], v [A] or none, lengths [B], windows [N, 2] or none -> α or e [N, S]
class WeighFunction : public torch::autograd::Function<WeighFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& q, const Tensor& keys,
                        const Maybe& v, const Tensor& lengths, const Maybe& windows,
                        std::int64_t form, double scale, bool want_weights) {
    const auto rows = weigh_or_score_rows(
        score_of(keys, v.value_or(Tensor()), lengths, windows.value_or(Tensor()), form, scale), q,
        want_weights);
    context->save_for_backward({q, keys, v.value_or(Tensor()), lengths, windows.value_or(Tensor()),
                                want_weights ? rows : Tensor()});
    context->saved_data["form"] = form;
    context->saved_data["scale"] = scale;
    return rows;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto& [q, keys, v, weights] = std::tie(saved[0], saved[1], saved[2], saved[5]);
    const auto score = score_of(keys, v, saved[3], saved[4], context->saved_data["form"].toInt(),
                                context->saved_data["scale"].toDouble());
    const auto d_rows = gradients[0].contiguous();
    auto d_q = torch::empty_like(q);
    auto d_keys = torch::zeros_like(keys);
    auto d_v = v.defined() ? torch::zeros({keys.size(0), keys.size(2)}, q.options()) : Tensor();
    AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "weigh_backward", [&] {
      weigh_backward<scalar_t>(score.buffers<scalar_t>(), q.size(0) / keys.size(0),
                               {q.const_data_ptr<scalar_t>(), q.size(1)},
                               weights.defined() ? weights.const_data_ptr<scalar_t>() : nullptr,
                               d_rows.const_data_ptr<scalar_t>(),
                               {d_q.mutable_data_ptr<scalar_t>(), q.size(1)},
                               d_keys.mutable_data_ptr<scalar_t>(),
                               d_v.defined() ? d_v.mutable_data_ptr<scalar_t>() : nullptr);
    });
    const Tensor none;
    return {d_q, d_keys, d_v.defined() ? d_v.sum(0) : none, none, none, none, none, none};
  }

 private:
  static AttentionScore score_of(const Tensor& keys, const Tensor& v, const Tensor& lengths,
                                 const Tensor& windows, std::int64_t form, double scale) {
    AttentionScore score;
    score.form = static_cast<ScoreForm>(form);
    score.v = v;
    score.scale = scale;
    score.keys = keys;
    score.lengths = lengths;
    score.windows = windows;
    return score;
  }
};

// Returns the softmax of e [B, G, S], and 0 where `outside` [B, G or 1, S] is true.
Tensor softmax_but(const Tensor& scores, const Tensor& outside) {
  return scores.masked_fill(outside, -std::numeric_limits<double>::infinity()).softmax(-1);
}

// Returns [B, 1, S] bool, true at padding.
Tensor padding_of(const Tensor& lengths, std::int64_t S, torch::Device device) {
  const auto ends = lengths.to(device).view({-1, 1, 1});
  return torch::arange(S, ends.options()) >= ends;
}

// Returns the queries q [N, A] of the decoder states [N, D].
Tensor queries_of(const AttentionScore& score, const Tensor& states) {
  return (score.W.defined() ? kernels::linear(states, score.W) : states).contiguous();
}

// Returns the weights or the scores [N, S], in a search without gradient.
Tensor weigh_or_score(const AttentionScore& score, const Tensor& states, bool want_weights) {
  auto contiguous = score;
  for (auto* x : {&contiguous.keys, &contiguous.v, &contiguous.lengths, &contiguous.windows,
                  &contiguous.coverage, &contiguous.coverage_weight}) {
    if (x->defined()) *x = x->contiguous();
  }
  const auto q = queries_of(score, states);
  if (in_search(states)) return weigh_or_score_rows(contiguous, q, want_weights);
  return WeighFunction::apply(q, contiguous.keys, maybe(contiguous.v), contiguous.lengths,
                              maybe(contiguous.windows), static_cast<std::int64_t>(score.form),
                              score.scale, want_weights);
}

// Returns the scores [B, G, S] by LibTorch's operations.
Tensor scores_reference(const AttentionScore& score, const Tensor& states) {
  const auto& keys = score.keys;  // [B, S, A]
  if (score.form == ScoreForm::additive) {
    const auto q = torch::linear(states, score.W).unsqueeze(2);  // [B, G, 1, A]
    return (keys.unsqueeze(1) + q).tanh().matmul(score.v);
  }
  if (score.form == ScoreForm::position) return torch::linear(states, score.W);
  const auto q = score.form == ScoreForm::cosine
                     ? states / states.norm(2, -1, /*keepdim=*/true).clamp_min(smallest_norm)
                     : states;
  return q.matmul(keys.transpose(1, 2)) * score.scale;  // [B, G, S]
}

}  // namespace

AttentionScore position_score(const torch::Tensor& W, std::int64_t S) {
  // A search packs W once for each number of rows. Multiples of 64 limit the number of packed
  // matrices.
  const auto rows = in_search(W) ? std::min(W.size(0), (S + 63) / 64 * 64) : S;
  return {.form = ScoreForm::position, .W = W.narrow(0, 0, rows)};
}

AttentionScore repeat_for_queries(AttentionScore score, std::int64_t N) {
  const auto G = N / score.keys.size(0);
  if (G == 1) return score;
  score.keys = score.keys.repeat_interleave(G, 0);
  score.lengths = score.lengths.repeat_interleave(G);
  score.padding = score.padding.repeat_interleave(G, 0);
  return score;
}

AttentionScore with_coverage(AttentionScore score, const torch::Tensor& coverage,
                             const torch::Tensor& w) {
  if (in_search(coverage)) {  // weigh() adds w C_s
    score.coverage = coverage;
    score.coverage_weight = w;
    return score;
  }
  // Elsewhere there would be no gradient of the coverage. So it becomes a part of the keys, which
  // differ for each query then.
  score = repeat_for_queries(std::move(score), coverage.size(0));
  score.keys = torch::addcmul(score.keys, coverage.unsqueeze(-1), w);  // [N, S, A]
  return score;
}

torch::Tensor attention_weights(const AttentionScore& score, const torch::Tensor& states) {
  if (!is_fused_on(states)) return attention_weights_reference(score, states);
  return weigh_or_score(score, states, /*want_weights=*/true);
}

torch::Tensor attention_weights_reference(const AttentionScore& score,
                                          const torch::Tensor& states) {
  const auto e = scores_reference(score, states.view({score.keys.size(0), -1, states.size(1)}));
  return masked_softmax(e, score.lengths, score.windows, padding_of(score))
      .view({states.size(0), -1});
}

torch::Tensor attention_scores(const AttentionScore& score, const torch::Tensor& states) {
  // The other forms are products of matrices.
  const bool is_fused = score.form == ScoreForm::additive && is_fused_on(states);
  if (!in_search(states) && !is_fused) return scores_reference(score, states);
  return weigh_or_score(score, states.flatten(0, 1), /*want_weights=*/false)
      .view({states.size(0), states.size(1), -1});
}

torch::Tensor padding_of(const AttentionScore& score) {
  if (score.padding.defined()) return score.padding;
  return padding_of(score.lengths, score.keys.size(1), score.keys.device());
}

torch::Tensor masked_softmax(const torch::Tensor& scores, const torch::Tensor& lengths,
                             const torch::Tensor& windows, const torch::Tensor& padding) {
  if (in_search(scores) && !windows.defined()) {
    auto alpha = scores.clone(at::MemoryFormat::Contiguous);
    const auto ends = lengths.contiguous();
    AT_DISPATCH_FLOATING_TYPES(scores.scalar_type(), "masked_softmax", [&] {
      softmax_within<scalar_t>(scores.size(0), scores.size(1), scores.size(2),
                               ends.const_data_ptr<std::int64_t>(),
                               alpha.mutable_data_ptr<scalar_t>());
    });
    return alpha;
  }
  if (windows.defined()) {
    const auto sides = windows.view({scores.size(0), scores.size(1), 2});
    const auto s = torch::arange(scores.size(2), sides.options());
    return softmax_but(scores, (s < sides.narrow(2, 0, 1)).logical_or(s >= sides.narrow(2, 1, 1)));
  }
  if (padding.defined()) return softmax_but(scores, padding);
  return softmax_but(scores, padding_of(lengths, scores.size(2), scores.device()));
}

torch::Tensor mix(const torch::Tensor& weights, const torch::Tensor& values,
                  const torch::Tensor& lengths) {
  const auto [B, S, M] = std::tuple(values.size(0), values.size(1), values.size(2));
  const auto N = weights.size(0);
  if (!in_search(weights)) {
    return deferred_product(weights.view({B, -1, S}), values).view({N, -1});
  }
  const auto alpha = weights.contiguous();
  const auto rows = values.contiguous();
  const auto ends = lengths.contiguous();
  auto mixed = torch::empty({N, M}, weights.options());
  AT_DISPATCH_FLOATING_TYPES(weights.scalar_type(), "mix", [&] {
    mix<scalar_t>(B, N / B, S, M, ends.const_data_ptr<std::int64_t>(),
                  alpha.const_data_ptr<scalar_t>(), rows.const_data_ptr<scalar_t>(),
                  mixed.mutable_data_ptr<scalar_t>());
  });
  return mixed;
}

torch::Tensor masked_mean(const torch::Tensor& values, const torch::Tensor& mask) {
  const auto real = mask.to(values.dtype());  // [B, S]
  const auto n = real.sum(1, /*keepdim=*/true);
  if (in_search(values)) return mix(real, values, mask.sum(1)) / n;
  return (values * real.unsqueeze(-1)).sum(1) / n;
}

}  // namespace regard::kernels
