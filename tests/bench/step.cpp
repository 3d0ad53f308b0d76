// How long a training step of the bench model takes, in its parts, beside its floor: both measured
// in turn in the same minute. scripts/bench.sh step runs it.
//     step_bench [REPEATS=9] [THREADS=all]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "base/random.h"
#include "data/batch.h"
#include "loss/cross_entropy.h"
#include "model/build_model.h"
#include "model/dropout.h"
#include "tests/bench/floor.h"
#include "training/train_step.h"
#include "translation/device.h"

namespace regard {
namespace {

using Clock = std::chrono::steady_clock;

double seconds(const std::function<void()>& f) {
  const auto start = Clock::now();
  f();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Batch random_batch(const BatchShape& shape) {
  Random random(1);
  std::vector<Example> examples(static_cast<std::size_t>(shape.B));
  const auto draw = [&](std::vector<std::int32_t>& tokens, std::int64_t length) {
    for (std::int64_t i = 0; i + 1 < length; ++i) {
      tokens.push_back(
          static_cast<std::int32_t>(4 + random.below(static_cast<std::uint64_t>(shape.V - 4))));
    }
  };
  for (auto& example : examples) {
    draw(example.source, shape.S);
    draw(example.target, shape.T);
  }
  return make_batch(examples);
}

// The parts of one worker's step, timed one after the other; their names in their order.
struct Parts {
  std::vector<std::pair<std::string, double>> times;

  void time(const std::string& name, const std::function<void()>& f) {
    times.emplace_back(name, seconds(f));
  }
};

torch::Tensor leaf(const torch::Tensor& tensor) {
  return tensor.defined() && tensor.is_floating_point() ? tensor.detach().requires_grad_() : tensor;
}

Parts time_parts(Seq2Seq& model, const Batch& batch) {
  Parts parts;
  Memory memory;
  Memory cut;
  torch::Tensor readout;
  torch::Tensor cut_readout;
  Loss loss;
  parts.time("encoder, forward", [&] {
    memory = model.encode(batch.source, batch.source_lengths);
    cut = {leaf(memory.keys), leaf(memory.values), memory.mask, leaf(memory.summary)};
  });
  parts.time("decoder, forward", [&] {
    readout = model.decode(batch.target_input(), cut);
    cut_readout = leaf(readout);
  });
  parts.time("output and loss, with gradient", [&] {
    const auto [weight, bias] = model.output_layer();
    loss = cross_entropy(cut_readout, batch.target_output(), weight, bias, 0);
    loss.smoothed.backward();
  });
  parts.time("decoder, backward", [&] { readout.backward(cut_readout.grad()); });
  parts.time("encoder, backward", [&] {
    torch::autograd::backward({memory.keys, memory.values, memory.summary},
                              {cut.keys.grad(), cut.values.grad(), cut.summary.grad()});
  });
  for (auto& parameter : model.parameters()) parameter.mutable_grad() = torch::Tensor();
  return parts;
}

}  // namespace

void bench(int repeats, std::int64_t threads) {
  const BatchShape shape;
  ModelOptions options;  // the defaults are the bench model's sizes
  const auto workers = make_workers(threads, torch::kCPU);
  const auto n = workers->count();
  torch::manual_seed(1);
  const auto model = build_model(shape.V, shape.V, options);
  const auto parameters = parameters_of(*model);
  const TrainingOptions training;
  const auto optimizer = make_optimizer(training, parameters);
  const auto batch = random_batch(shape);
  std::vector<Floor> floors(n, Floor(options, shape));
  const auto tokens = static_cast<double>(batch.target_tokens);

  std::vector<double> floor;
  std::vector<double> step;
  std::vector<double> update;
  std::vector<std::vector<double>> parts;
  std::vector<std::string> names;
  for (int i = -1; i < repeats; ++i) {  // the first round warms up
    model->train();
    const auto f = seconds([&] { workers->run([&](std::size_t w) { floors[w].run(); }); });
    const auto s = seconds([&] {
      train_step(*model, *optimizer, tensors_of(parameters), {batch}, i + 2, 1e-4, training,
                 *workers);
    });
    std::vector<Parts> of_workers(n);
    workers->run([&](std::size_t w) {
      if (w == 0)
        of_workers[w] =
            time_parts(*model, n == 1 ? batch : batch.share(0, static_cast<std::int64_t>(n)));
    });
    Tensors gradient;
    for (const auto& [name, tensor] : parameters)
      gradient.push_back(torch::full_like(tensor, 1e-3));
    std::vector<Tensors> gradients(n, gradient);
    const auto u = seconds([&] { optimizer->step(gradients, 1e-4, 1, *workers); });
    if (i < 0) continue;
    floor.push_back(f / static_cast<double>(n));
    step.push_back(s);
    update.push_back(u);
    names.clear();
    parts.resize(of_workers[0].times.size());
    for (std::size_t k = 0; k < parts.size(); ++k) {
      names.push_back(of_workers[0].times[k].first);
      parts[k].push_back(of_workers[0].times[k].second);
    }
  }

  Json json = {{"workers", n}, {"repeats", repeats}};
  const auto row = [&](const std::string& name, double time) {
    fmt::print("| {} | {:.1f} | {:.0f} |\n", name, 1000 * time, tokens / time);
    json["milliseconds"][name] = 1000 * time;
  };
  fmt::print("| {} worker(s), batch of {} × {} tokens | ms | target tokens/s |\n|---|---|---|\n", n,
             shape.B, shape.T);
  row("floor: the products alone, one thread a core", median(floor));
  row("step", median(step));
  for (std::size_t k = 0; k < parts.size(); ++k)
    row("· of one worker alone: " + names[k], median(parts[k]));
  row("· adding up, clipping, optimizer", median(update));
  std::vector<double> ratios;
  for (std::size_t i = 0; i < step.size(); ++i) ratios.push_back(floor[i] / step[i]);
  json["efficiency"] = median(ratios);
  json["target_tokens_per_second"] = tokens / median(step);
  json["gflops_of_the_floor"] = floors[0].operations() / median(floor) / 1e9;
  fmt::print(
      "\nefficiency (floor ÷ step, median of pairs): {:.2f}; the products run at {:.0f} "
      "GFLOP/s\n\n{}\n",
      median(ratios), floors[0].operations() / median(floor) / 1e9, json.dump());
}

}  // namespace regard

int main(int argc, char** argv) {
  regard::bench(argc > 1 ? std::stoi(argv[1]) : 9, argc > 2 ? std::stoi(argv[2]) : 0);
}
