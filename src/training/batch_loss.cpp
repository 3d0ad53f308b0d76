#include "training/batch_loss.h"

#include "loss/reinforce.h"
#include "model/output/output.h"

namespace regard {

Loss batch_loss(Seq2Seq& model, const Batch& batch, double label_smoothing, double mean_log_p) {
  const auto memory = model.encode(batch.source, batch.source_lengths);
  const auto decoded = model.decode(batch.target_input(), memory);
  const auto targets = batch.target_output();
  auto loss = model.output().loss(decoded, memory, targets, label_smoothing);
  const auto real = targets.ne(0);  // [B, T]
  const auto& [penalty, log_choice] = decoded.attention_loss;
  if (penalty.defined()) loss.objective = loss.objective + (penalty * real).sum();
  if (log_choice.defined()) {
    loss.objective = loss.objective + reinforce(log_choice, loss.nll, real, mean_log_p);
  }
  return loss;
}

}  // namespace regard
