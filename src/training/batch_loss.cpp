#include "training/batch_loss.h"

#include "loss/reinforce.h"

namespace regard {

Loss batch_loss(Seq2Seq& model, const Batch& batch, double label_smoothing, double mean_log_p) {
  const auto memory = model.encode(batch.source, batch.source_lengths);
  const auto [readout, attention] = model.decode(batch.target_input(), memory);
  const auto [weight, bias] = model.output_layer();
  const auto targets = batch.target_output();
  auto loss = cross_entropy(readout, targets, weight, bias, label_smoothing);
  const auto real = targets.ne(0);  // [B, T]
  if (attention.penalty.defined()) {
    loss.smoothed = loss.smoothed + (attention.penalty * real).sum();
  }
  if (attention.log_choice.defined()) {
    loss.smoothed = loss.smoothed + reinforce(attention.log_choice, loss.nll, real, mean_log_p);
  }
  return loss;
}

}  // namespace regard
