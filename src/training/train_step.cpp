#include "training/train_step.h"

#include <cmath>

#include "training/batch_loss.h"

namespace regard {

StepResult train_step(Seq2Seq& model, Optimizer& optimizer, const NamedParameters& parameters,
                      const std::vector<Batch>& batches, double learning_rate,
                      const TrainingOptions& options) {
  StepResult result;
  for (const auto& batch : batches) {
    result.source_tokens += batch.source_tokens;
    result.target_tokens += batch.target_tokens;
  }
  optimizer.zero_grad();
  for (const auto& batch : batches) {
    const auto loss = batch_loss(model, batch, options.label_smoothing);
    (loss.smoothed / static_cast<double>(result.target_tokens)).backward();
    result.nll += loss.nll.item<double>();
  }
  result.gradient_norm = clip_gradients(parameters, options.clip_grad_norm);
  if (std::isfinite(result.nll) && std::isfinite(result.gradient_norm)) {
    optimizer.step(learning_rate);
  }
  return result;
}

}  // namespace regard
