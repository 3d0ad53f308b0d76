#include "training/train_step.h"

#include <torch/autograd.h>

#include <cmath>

#include "model/random_stream.h"
#include "training/batch_loss.h"

namespace regard {
namespace {

// Keeps the random numbers of the model apart from those of the other users of the seed.
constexpr std::uint64_t model_salt = 0x64726f706f757421;

// One worker's part of each batch: its share of the gradient of the loss, a sum over target tokens,
// and of −log P.
struct Share {
  Tensors gradient;  // empty where there was no sentence for it
  double nll = 0;
};

Share share_of_step(Seq2Seq& model, const Tensors& parameters, const std::vector<Batch>& batches,
                    std::int64_t w, std::int64_t n, double label_smoothing, double mean_log_p) {
  Share share;
  for (const auto& batch : batches) {
    if (w >= batch.size()) continue;
    const auto loss =
        batch_loss(model, n == 1 ? batch : batch.share(w, n), label_smoothing, mean_log_p);
    auto gradient = torch::autograd::grad({loss.objective}, parameters, /*grad_outputs=*/{},
                                          /*retain_graph=*/{}, /*create_graph=*/false,
                                          /*allow_unused=*/true);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      auto& g = gradient[i];
      g = g.defined() ? g.contiguous() : torch::zeros_like(parameters[i]);
      if (!share.gradient.empty()) g.add_(share.gradient[i]);
    }
    share.gradient = std::move(gradient);
    share.nll += loss.nll.sum().item<double>();
  }
  return share;
}

}  // namespace

StepResult train_step(Seq2Seq& model, Optimizer& optimizer, const Tensors& parameters,
                      const std::vector<Batch>& batches, const StepSettings& now,
                      const TrainingOptions& options, Workers& workers) {
  StepResult result;
  for (const auto& batch : batches) {
    result.source_tokens += batch.source_tokens;
    result.target_tokens += batch.target_tokens;
  }
  model.at_step(now.step);
  const auto n = workers.count();
  std::vector<Share> shares(n);
  workers.run([&](std::size_t w) {
    const auto seed = static_cast<std::uint64_t>(options.random_seed) ^ model_salt;
    const RandomStream stream(seed, static_cast<std::uint64_t>(now.step) * n + w);
    shares[w] =
        share_of_step(model, parameters, batches, static_cast<std::int64_t>(w),
                      static_cast<std::int64_t>(n), options.label_smoothing, now.mean_log_p);
  });
  std::vector<Tensors> gradients;
  for (auto& share : shares) {
    result.nll += share.nll;
    if (!share.gradient.empty()) gradients.push_back(std::move(share.gradient));
  }
  if (!std::isfinite(result.nll)) return result;
  result.gradient_norm = optimizer.step(gradients, 1 / static_cast<double>(result.target_tokens),
                                        now.learning_rate, options.clip_grad_norm, workers);
  return result;
}

}  // namespace regard
