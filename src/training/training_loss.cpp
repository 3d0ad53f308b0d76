#include "training/training_loss.h"

#include <torch/utils.h>

#include "base/special_tokens.h"
#include "model/output/output_layer.h"

namespace regard {
namespace {

// Returns the batch with every sentence twice, one copy after the other, so that it is still sorted
// by length. The first half of the target positions are those of the first copies, in the order of
// the second half.
Batch repeat_twice(const Batch& batch) {
  Batch twice = batch;
  const auto repeated = [](const torch::Tensor& x) { return x.repeat_interleave(2, 0); };
  twice.source = batch.source.map(repeated);
  twice.source.lengths = repeated(batch.source.lengths);
  twice.target = repeated(batch.target);
  if (batch.masked.defined()) twice.masked = repeated(batch.masked);
  const auto T = batch.target.size(1) - 1;
  const auto positions = batch.target_positions.defined()
                             ? batch.target_positions
                             : batch.target_output().flatten().nonzero().squeeze(1);
  const auto first = positions + positions.floor_divide(T) * T;
  twice.target_positions = torch::cat({first, first + T});
  return twice;
}

// R-Drop (Liang et al. 2021): the mean loss of two passes with different dropout, and the
// divergence of their distributions,
//
//   ½ (L_1 + L_2) + α/4 Σ (KL(P_1‖P_2) + KL(P_2‖P_1))
//
// which is half of the paper's loss, the sum of both passes.
Loss loss_of_two_passes(Seq2Seq& model, const Batch& batch, double label_smoothing, double alpha,
                        double mean_log_p) {
  auto loss = batch_loss(model, repeat_twice(batch), {label_smoothing, alpha / 2}, mean_log_p);
  const auto T = loss.nll.size(1);
  return {0.5 * loss.objective, loss.nll.view({-1, 2, T}).mean(1)};
}

}  // namespace

Loss batch_loss(Seq2Seq& model, const Batch& batch, const LossOptions& options, double mean_log_p) {
  return encoded_loss(model, batch, model.encode(batch.source), options, mean_log_p);
}

Loss encoded_loss(Seq2Seq& model, const Batch& batch, const EncoderOutput& encoded,
                  const LossOptions& options, double mean_log_p) {
  const auto decoded = model.decode(batch.target_input(), encoded);
  const auto tokens = batch.target_output();
  const auto targets = batch.block.defined()              ? Targets::with_padding(tokens)
                       : batch.target_positions.defined() ? Targets(tokens, batch.target_positions)
                                                          : Targets(tokens);
  auto loss = model.output_layer().loss(decoded, encoded, targets, options);
  const auto& [penalty, sampled_log_p] = decoded.attention_loss;
  if (!penalty.defined() && !sampled_log_p.defined()) return loss;
  const auto real = tokens.ne(pad_id);  // [B, T] true at tokens, false at padding
  if (penalty.defined()) loss.objective = loss.objective + (penalty * real).sum();
  if (sampled_log_p.defined()) {
    loss.objective = loss.objective + reinforce(sampled_log_p, loss.nll, real, mean_log_p);
  }
  return loss;
}

Loss training_loss(Seq2Seq& model, const Batch& batch, const TrainingOptions& options,
                   double mean_log_p) {
  const auto smoothing = options.label_smoothing;
  return options.r_drop > 0
             ? loss_of_two_passes(model, batch, smoothing, options.r_drop, mean_log_p)
             : batch_loss(model, batch, smoothing, mean_log_p);
}

}  // namespace regard
