// How fast a product with a packed matrix is beside LibTorch's and oneDNN's, at the shapes of
// training and search: one thread, in turn in the same minute. oneDNN's has W packed, and in bf16 x
// converted, before. Prints Markdown and, as its last line, one JSON object. scripts/bench.sh
// product runs it.
#include <torch/utils.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "kernels/packed_weights.h"
#include "report/table.h"
#include "tests/bench/floor.h"
#include "tests/bench/timing.h"

namespace regard {
namespace {

struct Case {
  std::string of;
  std::int64_t M, K, N;
  bool transposed_x = false;
  bool transposed_W = false;
};

// A worker's share of the bench model's batch is 40 sentences, 560 target tokens; of the Multi30k
// recipe's 28 sentences.
const std::vector<Case> cases = {
    {"bench, recurrence", 40, 512, 1536},
    {"its gradient", 40, 1536, 512, false, true},
    {"Multi30k, recurrence", 28, 256, 1024},
    {"its gradient", 28, 1024, 256, false, true},
    {"bench, output layer", 560, 512, 8000, false, true},
    {"its gradient for the rows", 560, 8000, 512},
    {"its gradient for the weights", 8000, 560, 512, true},
    {"the last hypotheses of a search", 5, 512, 8000, false, true},
};

torch::Tensor matrix(std::int64_t rows, std::int64_t columns, bool transposed) {
  return transposed ? torch::randn({columns, rows}).t() : torch::randn({rows, columns});
}

Json measure(const Case& c, int repeats, Table& table) {
  const auto x = matrix(c.M, c.K, c.transposed_x);
  const auto W = matrix(c.K, c.N, c.transposed_W);
  auto y = torch::empty({c.M, c.N});
  const kernels::PackedMatrix packed(W);
  std::map<kernels::Precision, kernels::PackedMatrix> shorter;
  for (const auto precision : {kernels::Precision::bf16, kernels::Precision::int8}) {
    if (kernels::can_multiply(precision)) shorter.try_emplace(precision, W, precision);
  }
  const std::map<kernels::Precision, std::function<void()>> one_dnn = {
      {kernels::Precision::full, one_dnn_product(x, W)},
      {kernels::Precision::bf16, one_dnn_product(x.to(torch::kBFloat16), W.to(torch::kBFloat16))}};
  const double operations = 2.0 * static_cast<double>(c.M * c.K * c.N);
  const auto times = std::max(1, static_cast<int>(std::lround(1e9 / operations)));
  std::vector<double> torchs, packeds, packings;
  std::map<kernels::Precision, std::vector<double>> times_of_shorter, times_of_one_dnn;
  for (int round = 0; round < repeats; ++round) {
    const auto each = [&](auto&& product) {
      return seconds([&] {
               for (int i = 0; i < times; ++i) product();
             }) /
             times;
    };
    torchs.push_back(each([&] { at::mm_out(y, x, W); }));
    packeds.push_back(each([&] { packed.multiply(x, y); }));
    for (const auto& [precision, matrix] : shorter) {
      times_of_shorter[precision].push_back(each([&] { matrix.multiply(x, y); }));
    }
    for (const auto& [precision, product] : one_dnn) {
      if (product) times_of_one_dnn[precision].push_back(each(product));
    }
    packings.push_back(each([&] { kernels::PackedMatrix unused(W); }));
  }
  const auto gflops = [&](double time) { return operations / time / 1e9; };
  const auto ratio = median_of_pairs(torchs, packeds);
  const auto speed_of = [&](const auto& times_of, kernels::Precision precision) {
    const auto found = times_of.find(precision);
    return found == times_of.end() ? 0.0 : gflops(median(found->second));
  };
  const auto bf16 = speed_of(times_of_shorter, kernels::Precision::bf16);
  const auto int8 = speed_of(times_of_shorter, kernels::Precision::int8);
  const auto one_dnn_full = speed_of(times_of_one_dnn, kernels::Precision::full);
  const auto one_dnn_bf16 = speed_of(times_of_one_dnn, kernels::Precision::bf16);
  const auto text = [](double speed) { return speed > 0 ? fmt::format("{:.0f}", speed) : "–"; };
  table.add({c.of, fmt::format("{} × {} · {} × {}", c.M, c.K, c.K, c.N),
             fmt::format("{:.0f}", gflops(median(torchs))), text(one_dnn_full),
             fmt::format("{:.0f}", gflops(median(packeds))), fmt::format("{:.2f}", ratio),
             text(one_dnn_bf16), text(bf16), text(int8),
             fmt::format("{:.2f}", 1000 * median(packings)),
             fmt::format("{:.2f}", 1000 * median(packeds))});
  return {{"of", c.of},
          {"shape", {c.M, c.K, c.N}},
          {"gflops_libtorch", gflops(median(torchs))},
          {"gflops_onednn", one_dnn_full},
          {"gflops_onednn_bf16", one_dnn_bf16},
          {"gflops_packed", gflops(median(packeds))},
          {"faster_by", ratio},
          {"gflops_bf16", bf16},
          {"gflops_int8", int8},
          {"packing_milliseconds", 1000 * median(packings)}};
}

}  // namespace
}  // namespace regard

int main(int argc, char** argv) {
  using regard::Align;
  CLI::App program("Compares products with a packed matrix with those of LibTorch");
  int repeats = 15;
  program.add_option("--repeats", repeats, "rounds")->check(CLI::Range(1, 1000));
  CLI11_PARSE(program, argc, argv);
  at::set_num_threads(1);

  fmt::print("One thread, medians of {} rounds.\n\n", repeats);
  regard::Table table({{"product"},
                       {"shape", Align::right},
                       {"LibTorch, GFLOP/s", Align::right},
                       {"oneDNN, GFLOP/s", Align::right},
                       {"packed, GFLOP/s", Align::right},
                       {"faster by", Align::right},
                       {"oneDNN in bf16, GFLOP/s", Align::right},
                       {"bf16, GFLOP/s", Align::right},
                       {"int8, GFLOP/s", Align::right},
                       {"packing, ms", Align::right},
                       {"product, ms", Align::right}});
  regard::Json json;
  for (const auto& c : regard::cases) {
    json["products"].push_back(regard::measure(c, repeats, table));
  }
  fmt::print("{}\n", table.markdown());
  json["repeats"] = repeats;
  fmt::print("{}\n", json.dump());
}
