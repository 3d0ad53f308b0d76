#include "tests/bench/training_case.h"

#include <torch/autograd.h>
#include <torch/utils.h>

#include <algorithm>
#include <array>

#include "base/random.h"
#include "kernels/fused.h"
#include "model/build_model.h"
#include "model/output/output.h"
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
  Composites() { kernels::use_composites(true); }
  ~Composites() { kernels::use_composites(false); }
  Composites(const Composites&) = delete;
  Composites& operator=(const Composites&) = delete;
};

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

TrainingCase::TrainingCase(const ModelOptions& options, const BatchShape& shape, Workers& workers)
    : workers_(workers),
      examples_(random_examples(shape)),
      batch_(make_batch(examples_)),
      share_floor_(options, share_of(shape, workers.count())) {
  torch::manual_seed(1);
  model_ = build_model(shape.V, shape.V, options);
  model_->train();
  parameters_ = parameters_of(*model_);
  optimizer_ = make_optimizer(training_, parameters_);
  for (std::size_t w = 0; w < workers.count(); ++w) floors_.emplace_back(options, shape);
}

double TrainingCase::floor() {
  const auto all = seconds([&] { workers_.run([&](std::size_t w) { floors_[w].run(); }); });
  return all / static_cast<double>(workers_.count());
}

double TrainingCase::floor_all_threads() {
  const TorchThreads threads(workers_.count());
  return seconds([&] { floors_[0].run(); });
}

double TrainingCase::timed_step(Workers& workers) {
  return seconds([&] {
    train_step(*model_, *optimizer_, tensors_of(parameters_), {batch_}, {++steps_, learning_rate},
               training_, workers);
  });
}

double TrainingCase::step() {
  return timed_step(workers_);
}

double TrainingCase::plain_step() {
  const Composites composites;
  return timed_step(workers_);
}

double TrainingCase::plain_step_all_threads() {
  const Composites composites;
  const TorchThreads threads(workers_.count());
  return timed_step(alone_);
}

double TrainingCase::plain_loop() {
  const Composites composites;
  const TorchThreads threads(workers_.count());
  return seconds([&] {
    const auto memory = model_->encode(batch_.source, batch_.source_lengths);
    auto state = model_->start(memory);
    std::vector<torch::Tensor> readouts;
    for (const auto& tokens : batch_.target_input().unbind(1)) {
      auto next = model_->step(tokens, state, memory);
      readouts.push_back(next.readout);
      state = std::move(next.state);
    }
    const auto loss = model_->output().loss({.readout = torch::stack(readouts, 1)}, memory,
                                            batch_.target_output(), training_.label_smoothing);
    (loss.objective / batch_.target_tokens).backward();
    Tensors gradient;
    for (auto& [name, parameter] : parameters_) {
      gradient.push_back(parameter.grad().contiguous());
      parameter.mutable_grad() = torch::Tensor();
    }
    optimizer_->step({gradient}, 1, learning_rate, training_.clip_grad_norm, alone_);
  });
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
  Tensors gradient;
  for (const auto& [name, tensor] : parameters_) gradient.push_back(torch::full_like(tensor, 1e-3));
  std::vector<Tensors> gradients;
  for (std::size_t w = 0; w < workers_.count(); ++w) {
    gradients.emplace_back();
    for (const auto& g : gradient) gradients.back().push_back(g.clone());
  }
  timings.add("update", seconds([&] {
                optimizer_->step(gradients, 0.5, learning_rate, training_.clip_grad_norm, workers_);
              }));
  timings.add("data", seconds([&] { make_batch(examples_); }));
}

void TrainingCase::time_model(Timings& timings) {
  const auto n = static_cast<std::int64_t>(workers_.count());
  const auto batch = n == 1 ? batch_ : batch_.share(0, n);
  const auto& names = part_names();
  Memory memory;
  torch::Tensor readout;
  timings.add(names[0],
              seconds([&] { memory = model_->encode(batch.source, batch.source_lengths); }));
  Memory cut = memory;
  constexpr std::array differentiable = {&Memory::values, &Memory::summary, &Memory::keys,
                                         &Memory::gate_values, &Memory::readout_values};
  for (const auto field : differentiable) cut.*field = leaf(memory.*field);
  timings.add(names[1],
              seconds([&] { readout = model_->decode(batch.target_input(), cut).readout; }));
  const auto cut_readout = leaf(readout);
  timings.add(names[2], seconds([&] {
                model_->output()
                    .loss({.readout = cut_readout}, cut, batch.target_output(),
                          training_.label_smoothing)
                    .objective.backward();
              }));
  timings.add(names[3], seconds([&] { readout.backward(cut_readout.grad()); }));
  Tensors outputs;
  Tensors gradients;
  for (const auto field : differentiable) {
    if (!(cut.*field).grad().defined()) continue;  // the decoder does not look at it
    outputs.push_back(memory.*field);
    gradients.push_back((cut.*field).grad());
  }
  timings.add(names[4], seconds([&] { torch::autograd::backward(outputs, gradients); }));
  for (auto& parameter : model_->parameters()) parameter.mutable_grad() = torch::Tensor();
}

void TrainingCase::time_floor(Timings& timings) {
  const auto& names = part_names();
  const auto add = [&](std::size_t i, const std::function<void()>& f) {
    timings.add("floor: " + names[i], seconds(f));
  };
  add(0, [&] { share_floor_.run_forward(Part::encoder); });
  add(1, [&] { share_floor_.run_forward(Part::decoder); });
  add(2, [&] {
    share_floor_.run_forward(Part::output);
    share_floor_.run_backward(Part::output);
  });
  add(3, [&] { share_floor_.run_backward(Part::decoder); });
  add(4, [&] { share_floor_.run_backward(Part::encoder); });
}

}  // namespace regard
