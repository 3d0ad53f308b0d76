#include "training/train_step.h"

#include <torch/utils.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <iterator>
#include <new>
#include <optional>
#include <utility>

#include "base/process.h"
#include "base/special_tokens.h"
#include "kernels/gradient_factors.h"
#include "kernels/mode.h"
#include "model/random_stream.h"
#include "training/training_loss.h"

namespace regard {
namespace {

// Combined with the seed, so that the model does not use the same random numbers as other code with
// this seed. The value is arbitrary: the letters "dropout!".
constexpr std::uint64_t model_salt = 0x64726f706f757421;
// Multiplied by the number of a part of a shard: an arbitrary odd number.
constexpr std::uint64_t part_salt = 0x9e3779b97f4a7c15;

std::uint64_t model_seed(const TrainingOptions& options) {
  return static_cast<std::uint64_t>(options.random_seed) ^ model_salt;
}

// Returns the stream of random numbers of the first shard of a process in a step of all `shards`.
std::uint64_t first_stream(const StepSettings& settings, std::size_t shards,
                           std::size_t first_shard) {
  return static_cast<std::uint64_t>(settings.step) * shards + first_shard;
}

// Sums over the sentences of this process, doubles on the device.
struct Sums {
  torch::Tensor nll;
  torch::Tensor risk;
};

// The sentences of a step that this process processes: sentences w, w + n, … of each batch, for
// shard w of n, counted over all processes. The sentences of a shard are processed in parts.
class ShardedStep {
 public:
  ShardedStep(TrainedModel& trained, const std::vector<Batch>& batches,
              const StepSettings& settings, const TrainingOptions& options,
              const ProcessGroup& group, std::size_t own_shards)
      : trained_(trained),
        batches_(batches),
        settings_(settings),
        options_(options),
        first_shard_(group.is_alone() ? 0 : group.first_shard()),
        own_shards_(own_shards),
        shards_(group.is_alone() ? own_shards : group.all_shards()),
        device_(trained.weights.flat().device()),
        candidates_(own_shards) {}

  std::size_t own_shards() const { return own_shards_; }

  // Samples the candidates of minimum risk training on all threads.
  void sample(ThreadPool& pool) {
    if (settings_.minimum_risk == nullptr) return;
    const EvaluationMode guard(*trained_.model);
    kernels::PackedWeights packed(device_.is_cpu() && trained_.packed_weights
                                      ? trained_.packed_weights->precision()
                                      : kernels::Precision::full);
    parallel_for(pool, own_shards_, [&](std::size_t own_w) {
      for (std::size_t b = 0; b < batches_.size(); ++b) {
        const auto batch = shard(own_w, b);
        if (!batch) continue;
        auto parts =
            settings_.minimum_risk->sample(*trained_.model, *batch, settings_.step, packed);
        std::ranges::move(parts, std::back_inserter(candidates_[own_w]));
      }
    });
  }

  const StepSettings& settings() const { return settings_; }

  // Returns the number of parts of the shard with the most. Others may have fewer.
  std::size_t parts() const {
    if (settings_.minimum_risk == nullptr) return batches_.size();
    std::size_t most = 0;
    for (const auto& parts : candidates_) most = std::max(most, parts.size());
    return most;
  }

  // Returns the loss of a part of shard own_w of this process, or nullopt if there is none.
  std::optional<StepLoss> loss(std::size_t own_w, std::size_t part) const {
    if (settings_.minimum_risk != nullptr) {
      const auto& parts = candidates_[own_w];
      if (part >= parts.size()) return std::nullopt;
      return settings_.minimum_risk->loss(*trained_.model, parts[part]);
    }
    const auto batch = shard(own_w, part);
    if (!batch) return std::nullopt;
    return StepLoss{training_loss(*trained_.model, *batch, options_, settings_.mean_log_p)};
  }

  // Returns the stream of random numbers of a shard, such as those of dropout.
  std::uint64_t stream(std::size_t own_w) const {
    return first_stream(settings_, shards_, first_shard_) + own_w;
  }

 private:
  // Returns the sentences of a shard of a batch, on the device, or nullopt if there are none.
  std::optional<Batch> shard(std::size_t own_w, std::size_t b) const {
    const auto w = static_cast<std::int64_t>(first_shard_ + own_w);
    const auto& batch = batches_[b];
    if (w >= batch.size()) return std::nullopt;
    const auto n = static_cast<std::int64_t>(shards_);
    return (n == 1 ? batch : batch.shard(w, n)).to(device_);
  }

  TrainedModel& trained_;
  const std::vector<Batch>& batches_;
  const StepSettings& settings_;
  const TrainingOptions& options_;
  std::size_t first_shard_;
  std::size_t own_shards_;
  std::size_t shards_;
  torch::Device device_;
  std::vector<std::vector<CandidateBatch>> candidates_;  // of each shard
};

// Returns the notes of the gradients of weights, one for each shard, or nothing: parts
// of a gradient that go to other processes at once are added up by themselves, and the factors of
// many batches would need much memory.
std::vector<kernels::GradientFactors> factors_for(const TrainedModel& trained,
                                                  const ShardedStep& sharded,
                                                  const ProcessGroup& group) {
  const auto& weights = trained.weights.flat();
  if (!weights.is_cpu() || !group.is_alone() || sharded.parts() > 1) return {};
  return {sharded.own_shards(), kernels::GradientFactors(weights)};
}

// Computes losses and their gradients on all threads, in parts of the shards, and adds them up in
// trained.gradient and `factors`. Returns the sums of each shard.
std::vector<Sums> add_gradients(TrainedModel& trained, const ShardedStep& sharded,
                                std::uint64_t seed, ThreadPool& pool,
                                std::vector<kernels::GradientFactors>& factors) {
  const auto shards = sharded.own_shards();
  std::vector<Sums> of_shards(shards);
  const auto add = [](torch::Tensor& sum, const torch::Tensor& more) {
    if (more.defined()) sum = sum.defined() ? sum + more : more;
  };
  // Each thread begins with a term of its own, and whichever is free computes the next.
  const auto add_term = [&](std::size_t term) {
    const auto part = term / shards, own_w = term % shards;
    const auto mode = kernels::Mode::training(trained.packed_weights.get(),
                                              factors.empty() ? nullptr : &factors[own_w]);
    const RandomStream stream(seed + part * part_salt, sharded.stream(own_w),
                              sharded.settings().dropout_keys);
    const auto computed = sharded.loss(own_w, part);
    if (!computed) {
      trained.gradient.skip(term);
      return;
    }
    trained.gradient.add(term, computed->loss.objective);
    add(of_shards[own_w].nll, computed->loss.nll.sum());
    add(of_shards[own_w].risk, computed->risk);
  };
  std::atomic<std::size_t> next = pool.count();
  pool.run([&](std::size_t thread) {
    try {
      const auto terms = shards * sharded.parts();
      for (auto term = thread; term < terms; term = next++) add_term(term);
    } catch (...) {
      trained.gradient.fail(std::current_exception());
    }
  });
  return of_shards;
}

// Computes the sum of the gradients of all batches in trained.gradient and returns the sums of this
// process. Starts the sums of the gradient over all processes, also if it throws: the others wait
// for them.
Sums forward_backward(TrainedModel& trained, const std::vector<Batch>& batches,
                      const StepSettings& settings, const TrainingOptions& options,
                      ThreadPool& pool, ProcessGroup& group) {
  const auto shards = shards_of(options, pool, trained.weights.flat().device());
  ShardedStep sharded(trained, batches, settings, options, group, shards);
  // 1. Minimum risk training draws its candidates.
  std::exception_ptr sampling_error;
  try {
    sharded.sample(pool);
  } catch (...) {
    sampling_error = std::current_exception();
  }
  // 2. Each finished piece of the gradient goes to the other processes while the rest is computed.
  if (group.is_alone()) {
    trained.gradient.begin();
  } else {
    trained.gradient.begin(shards * sharded.parts(), [&](std::int64_t begin, std::int64_t end) {
      group.start_sum(trained.gradient.flat().narrow(0, begin, end - begin));
    });
  }
  // 3. Forward and backward pass of each shard.
  if (trained.packed_weights) trained.packed_weights->repack_all(pool);
  std::vector<Sums> of_shards;
  if (sampling_error) {
    trained.gradient.fail(sampling_error);
  } else {
    auto factors = factors_for(trained, sharded, group);
    of_shards = add_gradients(trained, sharded, model_seed(options), pool, factors);
    if (!factors.empty()) trained.gradient.add_factors(factors, pool);
  }
  trained.gradient.finish();  // throws the error of a thread
  // 4. The sums of this process.
  const auto zero = torch::zeros(
      {}, torch::TensorOptions(torch::kDouble).device(trained.weights.flat().device()));
  Sums all = {zero, zero};
  for (const auto& sums : of_shards) {
    if (sums.nll.defined()) all.nll = all.nll + sums.nll;
    if (sums.risk.defined()) all.risk = all.risk + sums.risk;
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
  std::function<void(std::int64_t, std::int64_t)> average;
  if (trained.average) {
    average = [&](std::int64_t begin, std::int64_t end) {
      trained.average->update_range(settings.step, begin, end);
    };
  }
  trained.optimizer->update(trained.gradient.flat(), factor, settings.learning_rate, pool, average);
  trained.is_updating = false;
  return gradient_norm;
}

// The step of a padded batch, which a graph can repeat: what changes from step to step is on the
// device. Sets nll and gradient_norm of the result.
void run_padded_step(TrainedModel& trained, const Batch& batch, const StepSettings& settings,
                     const TrainingOptions& options, ThreadPool& pool, ProcessGroup& group,
                     const std::function<void()>& before_waiting, StepResult& result) {
  const bool updates = trained.optimizer->has_update_on_device();
  const std::vector<double> numbers = {
      settings.learning_rate,
      trained.average ? trained.average->weight_of_update(settings.step) : 0};
  const auto all = settings.graphs->run(
      batch, numbers,
      Random(model_seed(options),
             first_stream(settings, shards_of(options, pool, batch.block.device()), 0)),
      [&](const Batch& padded, const torch::Tensor& on_device, const torch::Tensor& keys) {
        const auto& gradient = trained.gradient.flat();
        auto own_settings = settings;
        own_settings.dropout_keys = keys;
        const auto sums = forward_backward(trained, {padded}, own_settings, options, pool, group);
        const auto norm_of_sum = norm(gradient, pool);
        auto results = torch::stack({sums.nll, norm_of_sum});
        if (!updates) return results;
        const torch::NoGradGuard guard;
        const auto tokens = padded.target_output().ne(pad_id).sum();
        const auto limit = options.clip_grad_norm;
        const auto divisor =
            limit > 0 ? torch::maximum(tokens, norm_of_sum / limit) : tokens.to(torch::kDouble);
        const auto skip =
            (norm_of_sum + sums.nll).isfinite().logical_not().to(torch::kFloat).unsqueeze(0);
        trained.is_updating = true;
        trained.optimizer->update_on_device(gradient, {.rate = on_device.narrow(0, 0, 1),
                                                       .divisor = divisor.to(torch::kFloat),
                                                       .skip = skip});
        if (trained.average) trained.average->update_on_device(on_device[1] * (1 - skip));
        trained.is_updating = false;
        return results;
      });
  try {
    if (before_waiting) before_waiting();
  } catch (const std::exception& error) {
    // The step must not be tried again: it is under way, with its update.
    if (!is_out_of_memory(error)) throw;
  }
  const auto read = all.cpu();  // the only time that the step waits for a device
  result.nll = read[0].item<double>();
  const auto norm_of_sum = read[1].item<double>();
  const auto tokens = static_cast<double>(result.target_tokens);
  if (!std::isfinite(result.nll)) return;
  result.gradient_norm = norm_of_sum / tokens;
  if (!updates) {
    result.gradient_norm = update(trained, norm_of_sum, tokens, settings, options, pool);
  } else if (std::isfinite(norm_of_sum)) {
    trained.optimizer->count_update();
  }
}

}  // namespace

std::size_t shards_of(const TrainingOptions& options, const ThreadPool& pool,
                      torch::Device device) {
  const bool is_fixed = options.shards > 0 && device.is_cpu();
  return is_fixed ? static_cast<std::size_t>(options.shards) : pool.count();
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
    packed_weights =
        std::make_unique<kernels::PackedWeights>(kernels::Precision::bf16, weights.flat());
  } else if (weights.flat().is_cpu() && kernels::has_faster_products_than_libtorch()) {
    packed_weights =
        std::make_unique<kernels::PackedWeights>(kernels::Precision::full, weights.flat());
  }
}

StepResult train_step(TrainedModel& trained, const std::vector<Batch>& batches,
                      const StepSettings& settings, const TrainingOptions& options,
                      ThreadPool& pool, ProcessGroup& group,
                      const std::function<void()>& before_waiting) {
  StepResult result;
  for (const auto& batch : batches) {
    result.sentences += batch.size();
    result.source_tokens += batch.source_tokens;
    result.target_tokens += batch.target_tokens;
  }
  trained.model->set_training_step(settings.step);
  const bool is_alone = group.is_alone();
  if (is_alone && batches.size() == 1 && batches[0].block.defined()) {
    run_padded_step(trained, batches[0], settings, options, pool, group, before_waiting, result);
    if (settings.counts) result.counts = settings.counts();
    return result;
  }
  // Forward and backward pass. In a group, the gradient is complete after group.sum() only.
  torch::Tensor numbers;  // nll, risk and, of a process that is alone, the norm of the gradient
  try {
    const auto own = forward_backward(trained, batches, settings, options, pool, group);
    std::vector<torch::Tensor> parts = {own.nll, own.risk};
    if (is_alone) parts.push_back(norm(trained.gradient.flat(), pool));
    numbers = torch::stack(parts);
  } catch (const std::exception& error) {
    // All processes must know before they try again with smaller batches.
    if (is_alone || !is_out_of_memory(error)) throw;
  }
  if (is_alone && before_waiting) before_waiting();
  const bool lacks_memory = !numbers.defined();
  if (lacks_memory) numbers = torch::zeros({2}, torch::kDouble);
  const auto read = numbers.cpu();  // a process that is alone waits for its device only here
  // The sums over all processes.
  auto sums = settings.counts ? settings.counts() : std::vector<double>();
  for (int i = 0; i < 2; ++i) sums.push_back(read[i].item<double>());
  sums.push_back(lacks_memory ? 1 : 0);
  sums = group.sum(std::move(sums));
  if (sums.back() > 0) throw std::bad_alloc();
  result.nll = sums[sums.size() - 3];
  result.risk = sums[sums.size() - 2];
  result.counts.assign(sums.begin(), sums.end() - 3);
  if (!std::isfinite(result.nll)) return result;
  // Clipping and update.
  const auto norm_of_sum =
      is_alone ? read[2].item<double>() : norm(trained.gradient.flat(), pool).item<double>();
  result.gradient_norm = update(trained, norm_of_sum, static_cast<double>(result.target_tokens),
                                settings, options, pool);
  return result;
}

}  // namespace regard
