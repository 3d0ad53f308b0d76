// The time of the processor for launching the time loops of a training step on another device:
//
//   host_cost_bench [--rounds N]
//
// Tensors are on LibTorch's meta device, whose operations compute nothing: what remains is the work
// of LibTorch and of regard for each operation. Sizes are those of configs/multi30k.yaml, with 15
// positions on both sides. Prints one line for each loop: the fifth of the sorted rounds, which
// other programs disturb least.
#include <torch/autograd.h>
#include <torch/utils.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <string>

#include "kernels/recurrence.h"
#include "tests/bench/timing.h"

namespace regard {
namespace {

constexpr std::int64_t T = 15, S = 15, B = 54, D = 256, A = 256;

torch::Tensor weights(at::IntArrayRef size) {
  return torch::empty(size, torch::TensorOptions(torch::kMeta).dtype(torch::kFloat))
      .requires_grad_();
}

// Prints the times of the forward and the backward pass of a loop, and returns their sum, in
// seconds.
double measure(const std::string& name, int rounds, const std::vector<torch::Tensor>& inputs,
               const std::function<torch::Tensor()>& loop) {
  std::vector<double> forward, backward;
  for (int i = 0; i < rounds; ++i) {
    torch::Tensor output;
    forward.push_back(seconds([&] { output = loop(); }));
    const auto d_output = torch::empty_like(output);
    backward.push_back(seconds([&] { torch::autograd::grad({output}, inputs, {d_output}); }));
  }
  const auto fifth = [](std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[std::min<std::size_t>(4, times.size() - 1)];
  };
  std::printf("%s: forward %.0f us, backward %.0f us\n", name.c_str(), 1e6 * fifth(forward),
              1e6 * fifth(backward));
  return fifth(forward) + fifth(backward);
}

void run(int rounds) {
  const auto cells = [](std::int64_t G) {
    return kernels::RecurrentWeights{kernels::CellForm::gru_reset_before, weights({G, D, 3 * D})};
  };
  const auto both = cells(2);
  const auto x_each = weights({2, S, B, 3 * D}), first_each = weights({2, B, D});
  auto sum = measure("encoder, both directions", rounds, {x_each, first_each, both.U}, [&] {
    return kernels::recurrence_each_composite(x_each, first_each, both).outputs;
  });

  kernels::RecurrentWeights cell = cells(1);
  cell.U = weights({D, 3 * D});
  kernels::AttentionScore score;
  score.W = weights({A, D});
  score.v = weights({A});
  score.keys = weights({B, S, A});
  score.padding = torch::empty({B, 1, S}, torch::TensorOptions(torch::kMeta).dtype(torch::kBool));
  const auto mixed = weights({B, S, 3 * D}), x = weights({T, B, 3 * D}), first = weights({B, D});
  sum += measure("decoder with additive attention", rounds,
                 {x, first, cell.U, score.W, score.v, score.keys, mixed}, [&] {
                   return kernels::recurrence_composite(x, first, cell,
                                                        kernels::LoopAttention{score, mixed})
                       .outputs;
                 });
  std::printf("all loops: %.2f ms\n", 1e3 * sum);
}

}  // namespace
}  // namespace regard

int main(int argc, char** argv) {
  CLI::App app("Time of the processor for launching the time loops of a training step");
  int rounds = 300;
  app.add_option("--rounds", rounds)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  at::set_num_threads(1);
  regard::run(rounds);
}
