#include "training/train_step.h"

#include <torch/utils.h>

#include <cmath>
#include <new>
#include <utility>

#include "base/process.h"
#include "base/special_tokens.h"
#include "model/output/output_layer.h"
#include "model/random_stream.h"

namespace regard {
namespace {

// Combined with the seed, so that the model does not use the same random numbers as other code with
// this seed. The value is arbitrary: the letters "dropout!".
constexpr std::uint64_t model_salt = 0x64726f706f757421;

// Computes the sum of the gradients of all batches in trained.gradient and returns the sum of
// −log P of this process, a double on the device. Thread w of n, counted over all processes,
// processes the sentences w, w + n, … of each batch. Starts the sums of the gradient over all
// processes, also if it throws.
torch::Tensor forward_backward(TrainedModel& trained, const std::vector<Batch>& batches,
                               const StepSettings& settings, const TrainingOptions& options,
                               ThreadPool& pool, ProcessGroup& group) {
  const auto device = trained.weights.flat().device();
  const auto own = pool.count();
  const auto n = group.is_alone() ? own : group.all_threads();
  std::vector<torch::Tensor> nll(own);  // of each thread
  if (group.is_alone()) {
    trained.gradient.begin();
  } else {
    trained.gradient.begin(own * batches.size(), [&](std::int64_t begin, std::int64_t end) {
      group.start_sum(trained.gradient.flat().narrow(0, begin, end - begin));
    });
  }
  if (trained.packed_weights) trained.packed_weights->repack_all(pool);
  pool.run([&](std::size_t own_w) {
    const auto w = group.first_thread() + own_w;
    try {
      const kernels::WithTrainingWeights with(trained.packed_weights.get());
      const auto seed = static_cast<std::uint64_t>(options.random_seed) ^ model_salt;
      const RandomStream stream(seed, static_cast<std::uint64_t>(settings.step) * n + w);
      for (std::size_t b = 0; b < batches.size(); ++b) {
        const auto term = b * own + own_w;
        const auto& batch = batches[b];
        if (static_cast<std::int64_t>(w) >= batch.size()) {
          trained.gradient.skip(term);
          continue;
        }
        const auto shard =
            n == 1 ? batch
                   : batch.shard(static_cast<std::int64_t>(w), static_cast<std::int64_t>(n));
        const auto loss =
            training_loss(*trained.model, shard.to(device), options, settings.mean_log_p);
        trained.gradient.add(term, loss.objective);
        const auto sum = loss.nll.sum();
        nll[own_w] = nll[own_w].defined() ? nll[own_w] + sum : sum;
      }
    } catch (...) {
      trained.gradient.fail(std::current_exception());
    }
  });
  trained.gradient.finish();
  auto all = torch::zeros({}, torch::TensorOptions(torch::kDouble).device(device));
  for (const auto& sum : nll) {
    if (sum.defined()) all = all + sum;
  }
  return all;
}

// Updates weights and averages with trained.gradient, a sum over target_tokens whose norm is
// `norm_of_sum`. Returns the norm before clipping. Updates nothing if it is not finite.
double update(TrainedModel& trained, double norm_of_sum, double target_tokens,
              const StepSettings& settings, const TrainingOptions& options, ThreadPool& pool) {
  auto factor = 1 / target_tokens;  // of the gradient, in the update
  const auto gradient_norm = factor * norm_of_sum;
  if (!std::isfinite(gradient_norm)) return gradient_norm;

  const auto limit = options.clip_grad_norm;  // Pascanu, Mikolov, Bengio 2013; 0: no limit
  if (limit > 0 && gradient_norm > limit) factor *= limit / gradient_norm;

  trained.is_updating = true;
  trained.optimizer->update(trained.gradient.flat(), factor, settings.learning_rate, pool);
  if (trained.average) trained.average->update(settings.step, pool);
  trained.is_updating = false;
  return gradient_norm;
}

// Returns the batch with every sentence twice, one copy after the other, so that it is still sorted
// by length. The first half of the target positions are those of the first copies, in the order of
// the second half.
Batch repeat_twice(const Batch& batch) {
  Batch twice = batch;
  twice.source = batch.source.repeat_interleave(2, 0);
  twice.source_lengths = batch.source_lengths.repeat_interleave(2, 0);
  twice.target = batch.target.repeat_interleave(2, 0);
  if (batch.masked.defined()) twice.masked = batch.masked.repeat_interleave(2, 0);
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
  const auto encoded = model.encode(batch.source, batch.source_lengths);
  const auto decoded = model.decode(batch.target_input(), encoded);
  const auto tokens = batch.target_output();
  const auto targets =
      batch.target_positions.defined() ? Targets(tokens, batch.target_positions) : Targets(tokens);
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

bool halve_batches(std::vector<Batch>& batches) {
  std::vector<Batch> halves;
  for (auto& batch : batches) {
    if (batch.size() < 2) {
      halves.push_back(std::move(batch));
    } else {
      halves.push_back(batch.shard(0, 2));
      halves.push_back(batch.shard(1, 2));
    }
  }
  const bool was_split = halves.size() > batches.size();
  batches = std::move(halves);
  return was_split;
}

namespace {

// Excludes the parameters with a factor of 0 from the backward pass.
ParameterBuffer without_frozen_gradients(ParameterBuffer weights,
                                         const std::vector<double>& factors) {
  for (std::size_t i = 0; i < factors.size(); ++i) {
    auto parameter = weights.views()[i].second;
    if (factors[i] == 0) parameter.set_requires_grad(false);
  }
  return weights;
}

}  // namespace

TrainedModel::TrainedModel(std::shared_ptr<Seq2Seq> model_to_train, const TrainingOptions& options)
    : model(std::move(model_to_train)),
      weights(without_frozen_gradients(ParameterBuffer::adopt(parameters_of(*model)),
                                       learning_rate_factors(options, parameters_of(*model)))),
      gradient(weights),
      optimizer(make_optimizer(options, weights)) {
  optimizer->set_rate_factors(learning_rate_factors(options, weights.views()));
  if (options.moving_average > 0) average.emplace(options.moving_average, weights);
  if (options.precision == TrainingPrecision::bf16) {
    packed_weights = std::make_unique<kernels::PackedWeights>(kernels::Precision::bf16);
  } else if (weights.flat().is_cpu() && kernels::has_faster_products_than_libtorch()) {
    packed_weights = std::make_unique<kernels::PackedWeights>();
  }
}

double apply_gradient(TrainedModel& trained, double target_tokens, const StepSettings& settings,
                      const TrainingOptions& options, ThreadPool& pool) {
  const auto norm_of_sum = norm(trained.gradient.flat(), pool).item<double>();
  return update(trained, norm_of_sum, target_tokens, settings, options, pool);
}

StepResult train_step(TrainedModel& trained, const std::vector<Batch>& batches,
                      const StepSettings& settings, const TrainingOptions& options,
                      ThreadPool& pool, ProcessGroup& group,
                      const std::function<void()>& before_waiting) {
  StepResult result;
  for (const auto& batch : batches) {
    result.source_tokens += batch.source_tokens;
    result.target_tokens += batch.target_tokens;
  }
  trained.model->set_training_step(settings.step);
  const auto tokens = static_cast<double>(result.target_tokens);
  if (group.is_alone()) {
    const auto nll = forward_backward(trained, batches, settings, options, pool, group);
    const auto both = torch::stack({nll, norm(trained.gradient.flat(), pool)});
    if (before_waiting) before_waiting();
    const auto read = both.cpu();  // the only time that the step waits for a device
    result.nll = read[0].item<double>();
    const auto norm_of_sum = read[1].item<double>();
    if (!std::isfinite(result.nll)) return result;
    result.gradient_norm = update(trained, norm_of_sum, tokens, settings, options, pool);
    return result;
  }
  double lacks_memory = 0;
  try {
    result.nll = forward_backward(trained, batches, settings, options, pool, group).item<double>();
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
    lacks_memory = 1;  // all processes must know before they try again with smaller batches
  }
  auto sums = settings.counts;
  sums.insert(sums.end(), {result.nll, lacks_memory});
  sums = group.sum(std::move(sums));  // also waits for the gradient
  if (sums.back() > 0) throw std::bad_alloc();
  result.nll = sums[sums.size() - 2];
  result.counts.assign(sums.begin(), sums.end() - 2);
  if (!std::isfinite(result.nll)) return result;
  result.gradient_norm = apply_gradient(trained, tokens, settings, options, pool);
  return result;
}

}  // namespace regard
