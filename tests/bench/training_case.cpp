#include "tests/bench/training_case.h"

#include <torch/autograd.h>
#include <torch/utils.h>

#include <algorithm>

#include "base/random.h"
#include "kernels/device.h"
#include "kernels/loops/products.h"
#include "kernels/mode.h"
#include "model/build_model.h"
#include "model/output/output_layer.h"
#include "tests/bench/timing.h"
#include "training/train_step.h"

namespace regard {
namespace {

constexpr double learning_rate = 1e-4;
constexpr std::int32_t first_token = 4;  // behind the special ones

std::vector<Example> random_examples(const BatchShape& shape) {
  Random random(1);
  const auto draw = [&](std::int64_t length) {
    std::vector<std::int32_t> tokens;
    while (static_cast<std::int64_t>(tokens.size()) + 1 < length) {  // </s> is added to them
      const auto regular = static_cast<std::uint64_t>(shape.V - first_token);
      tokens.push_back(first_token + static_cast<std::int32_t>(random.below(regular)));
    }
    return tokens;
  };
  std::vector<Example> examples(static_cast<std::size_t>(shape.B));
  for (auto& example : examples) {
    example.source = draw(shape.S);
    example.target = draw(shape.T);
  }
  return examples;
}

BatchShape share_of(BatchShape shape, std::size_t workers) {
  const auto n = static_cast<std::int64_t>(workers);
  shape.B = (shape.B + n - 1) / n;
  return shape;
}

// While it lives, LibTorch's operations are split over so many threads.
class TorchThreads {
 public:
  explicit TorchThreads(std::size_t count) { at::set_num_threads(static_cast<int>(count)); }
  ~TorchThreads() { at::set_num_threads(1); }
  TorchThreads(const TorchThreads&) = delete;
  TorchThreads& operator=(const TorchThreads&) = delete;
};

class Composites {
 public:
  Composites() { kernels::use_reference(true); }
  ~Composites() { kernels::use_reference(false); }
  Composites(const Composites&) = delete;
  Composites& operator=(const Composites&) = delete;
};

TrainingOptions options_with(TrainingPrecision precision) {
  TrainingOptions options;
  options.precision = precision;
  return options;
}

kernels::Precision product_precision(TrainingPrecision precision) {
  return precision == TrainingPrecision::bf16 ? kernels::Precision::bf16 : kernels::Precision::full;
}

// Cuts the graph here, so that either side of the cut can be timed by itself.
torch::Tensor leaf(const torch::Tensor& tensor) {
  return tensor.detach().requires_grad_();
}

}  // namespace

ModelOptions bench_model() {
  ModelOptions options;
  options.encoder.embedding_dim = options.decoder.embedding_dim = 256;
  options.encoder.hidden_size = options.decoder.hidden_size = 512;
  options.decoder.readout_size = options.attention.size = 512;
  options.dropout.embeddings = options.dropout.states = options.dropout.readout = 0.2;
  return options;
}

void Timings::add(const std::string& name, double seconds) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  const auto i = static_cast<std::size_t>(found - names_.begin());
  if (found == names_.end()) {
    names_.push_back(name);
    values_.emplace_back();
  }
  values_[i].push_back(seconds);
}

const std::vector<double>& Timings::of(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  return values_.at(static_cast<std::size_t>(found - names_.begin()));
}

TrainingCase::TrainingCase(const ModelOptions& options, const BatchShape& shape,
                           ThreadPool& workers, TrainingPrecision precision)
    : pool_(workers),
      training_(options_with(precision)),
      examples_(random_examples(shape)),
      batch_(make_batch(examples_)),
      share_floor_(options, share_of(shape, workers.count()), product_precision(precision)) {
  torch::manual_seed(1);
  model_ = build_model(shape.V, shape.V, options);
  model_->train();
  trained_.emplace(model_, training_);
  for (std::size_t w = 0; w < workers.count(); ++w) {
    floors_.emplace_back(options, shape, product_precision(precision));
  }
}

double TrainingCase::floor() {
  const auto all = seconds([&] { pool_.run([&](std::size_t w) { floors_[w].run(); }); });
  return all / static_cast<double>(pool_.count());
}

double TrainingCase::timed_step(ThreadPool& workers) {
  return seconds([&] {
    train_step(*trained_, {batch_}, {++steps_, learning_rate}, training_, workers, group_);
  });
}

double TrainingCase::step() {
  return timed_step(pool_);
}

double TrainingCase::plain_step() {
  const Composites composites;
  return timed_step(pool_);
}

double TrainingCase::plain_step_all_threads() {
  const Composites composites;
  const TorchThreads threads(pool_.count());
  return timed_step(alone_);
}

double TrainingCase::plain_loop() {
  const Composites composites;
  const TorchThreads threads(pool_.count());
  return seconds([&] {
    const auto encoded = model_->encode(batch_.source);
    auto state = model_->initial_state(encoded);
    std::vector<torch::Tensor> readouts;
    for (const auto& tokens : batch_.target_input().unbind(1)) {
      auto next = model_->step(tokens, state, encoded);
      readouts.push_back(next.readout);
      state = std::move(next.state);
    }
    const auto loss =
        model_->output_layer().loss({.readout = torch::stack(readouts, 1)}, encoded,
                                    batch_.target_output(), training_.label_smoothing);
    trained_->gradient.begin();
    trained_->gradient.add(0, loss.objective);
    trained_->gradient.finish();
    update(static_cast<double>(batch_.target_tokens), alone_);
  });
}

void TrainingCase::update(double target_tokens, ThreadPool& workers) {
  const auto& gradient = trained_->gradient.flat();
  const auto norm_of_sum = norm(gradient, workers).item<double>();
  const auto factor = 1 / std::max(target_tokens, norm_of_sum / training_.clip_grad_norm);
  trained_->optimizer->update(gradient, factor, learning_rate, workers);
}

std::vector<TrainingPrecision> measured_precisions() {
  std::vector<TrainingPrecision> precisions = {TrainingPrecision::fp32};
  if (kernels::can_multiply(kernels::Precision::bf16)) {
    precisions.push_back(TrainingPrecision::bf16);
  }
  return precisions;
}

const std::vector<std::string>& TrainingCase::part_names() {
  static const std::vector<std::string> names = {"encoder, forward", "decoder, forward",
                                                 "output and loss, with gradient",
                                                 "decoder, backward", "encoder, backward"};
  return names;
}

void TrainingCase::time_parts(Timings& timings) {
  time_model(timings);
  time_floor(timings);
  trained_->gradient.flat().fill_(1e-3);
  timings.add("update", seconds([&] { update(2, pool_); }));
  timings.add("data", seconds([&] { make_batch(examples_); }));
}

void TrainingCase::time_model(Timings& timings) {
  if (trained_->packed_weights) trained_->packed_weights->repack_all(alone_);
  const auto mode = kernels::Mode::training(trained_->packed_weights.get());
  const auto n = static_cast<std::int64_t>(pool_.count());
  const auto batch = n == 1 ? batch_ : batch_.shard(0, n);
  const auto& names = part_names();
  EncoderOutput encoded;
  torch::Tensor readout;
  timings.add(names[0], seconds([&] { encoded = model_->encode(batch.source); }));
  EncoderOutput cut = encoded;
  const auto tensors_of = [](EncoderOutput& output) {
    auto tensors = output.context.all();
    tensors.push_back(&output.states);
    tensors.push_back(&output.summary);
    return tensors;
  };
  const auto whole = tensors_of(encoded);
  const auto leaves = tensors_of(cut);
  for (auto* tensor : leaves) {
    if (tensor->defined() && tensor->is_floating_point()) *tensor = leaf(*tensor);
  }
  timings.add(names[1],
              seconds([&] { readout = model_->decode(batch.target_input(), cut).readout; }));
  const auto cut_readout = leaf(readout);
  timings.add(names[2], seconds([&] {
                model_->output_layer()
                    .loss({.readout = cut_readout}, cut, batch.target_output(),
                          training_.label_smoothing)
                    .objective.backward();
              }));
  timings.add(names[3], seconds([&] { readout.backward(cut_readout.grad()); }));
  std::vector<torch::Tensor> outputs;
  std::vector<torch::Tensor> gradients;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!leaves[i]->defined() || !leaves[i]->grad().defined()) continue;  // not used
    outputs.push_back(*whole[i]);
    gradients.push_back(leaves[i]->grad());
  }
  timings.add(names[4], seconds([&] { torch::autograd::backward(outputs, gradients); }));
  for (auto& parameter : model_->parameters()) parameter.mutable_grad() = torch::Tensor();
}

void TrainingCase::time_floor(Timings& timings) {
  const auto& names = part_names();
  const auto add = [&](std::size_t i, const std::function<void()>& f) {
    timings.add("floor: " + names[i], seconds(f));
  };
  add(0, [&] { share_floor_.run_forward(StepPart::encoder); });
  add(1, [&] { share_floor_.run_forward(StepPart::decoder); });
  add(2, [&] {
    share_floor_.run_forward(StepPart::output);
    share_floor_.run_backward(StepPart::output);
  });
  add(3, [&] { share_floor_.run_backward(StepPart::decoder); });
  add(4, [&] { share_floor_.run_backward(StepPart::encoder); });
}

ArchitectureCase::ArchitectureCase(const ModelOptions& options, const BatchShape& shape,
                                   ThreadPool& workers, TrainingPrecision precision)
    : pool_(workers),
      training_(options_with(precision)),
      batch_(make_batch(random_examples(shape))) {
  torch::manual_seed(1);
  model_ = build_model(shape.V, shape.V, options);
  model_->train();
  trained_.emplace(model_, training_);
  // A step on the share of one thread: its products are those of each thread.
  const auto n = static_cast<std::int64_t>(workers.count());
  const auto share = n == 1 ? batch_ : batch_.shard(0, n);
  ThreadPool alone(1);
  const auto products = record_products([&] {
    train_step(*trained_, {share}, {++steps_, learning_rate}, training_, alone, group_);
  });
  for (std::int64_t w = 0; w < n; ++w) {
    floors_.emplace_back(products, product_precision(precision));
  }
}

double ArchitectureCase::floor() {
  return seconds([&] { pool_.run([&](std::size_t w) { floors_[w].run(); }); });
}

double ArchitectureCase::step() {
  return seconds([&] {
    train_step(*trained_, {batch_}, {++steps_, learning_rate}, training_, pool_, group_);
  });
}

std::int64_t ArchitectureCase::parameters() const {
  std::int64_t count = 0;
  for (const auto& parameter : model_->parameters()) count += parameter.numel();
  return count;
}

}  // namespace regard
