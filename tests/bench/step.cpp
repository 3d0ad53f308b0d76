// How long a training step of the bench model takes, in its parts, beside its floor and beside the
// plain path, all measured in turn in the same minutes; or how step and floor grow with the sizes.
// Prints Markdown and, as its last line, one JSON object. scripts/bench.sh step and growth run it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/process.h"
#include "kernels/device.h"
#include "kernels/packed_weights.h"
#include "report/table.h"
#include "tests/bench/architectures.h"
#include "tests/bench/growth.h"
#include "tests/bench/timing.h"
#include "tests/bench/training_case.h"

namespace regard {
namespace {

std::string milliseconds(double seconds) {
  return fmt::format("{:.1f}", 1000 * seconds);
}

std::string ratio(double value) {
  return fmt::format("{:.2f}", value);
}

// `plain`: also the plain path and loop, which are in single precision.
Timings measure_step(TrainingCase& training, int repeats, bool plain) {
  Timings timings;
  for (int round = -1; round < repeats; ++round) {  // the first warms up
    Timings unused;
    auto& t = round < 0 ? unused : timings;
    t.add("floor", training.floor());
    t.add("step", training.step());
    if (plain) {
      t.add("plain", training.plain_step());
      t.add("plain, all threads", training.plain_step_all_threads());
      t.add("plain loop", training.plain_loop());
    }
    training.time_parts(t);
  }
  return timings;
}

// The speed of a product in the processor's caches, GFLOP/s of one thread: close to the peak.
double peak_gflops(kernels::Precision precision) {
  constexpr std::int64_t rows = 192, length = 256, columns = 256;
  const auto x = torch::randn({rows, length});
  const auto y = torch::empty({rows, columns});
  const kernels::PackedMatrix packed(torch::randn({length, columns}), precision);
  double best = 0;
  for (int round = 0; round < 20; ++round) {
    constexpr int times = 50;
    const auto time = seconds([&] {
      for (int i = 0; i < times; ++i) packed.multiply(x, y);
    });
    best = std::max(best, 2.0 * rows * length * columns * times / time / 1e9);
  }
  return best;
}

std::string libraries_text(const Floor& floor) {
  std::string text;
  for (const auto& [library, operations] : floor.operations_by_library()) {
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", library,
                        100 * operations / floor.operations());
  }
  return text;
}

// One precision: its figures, and for each row of the table milliseconds, those of the floor, and
// floor ÷ time.
struct Measured {
  Json json;
  std::vector<std::vector<std::string>> cells;
};

constexpr std::size_t figures_in_a_row = 3;

// The rows of the table, and their names in Timings.
std::vector<std::pair<std::string, std::string>> rows_of_table(std::size_t threads) {
  std::vector<std::pair<std::string, std::string>> rows = {
      {"floor: matrix products alone, one thread in each", "floor"},
      {"**step**", "step"},
      {fmt::format("plain path, {} thread(s)", threads), "plain"},
      {"plain path, all threads in each operation", "plain, all threads"},
      {"plain loop, token by token", "plain loop"}};
  for (const auto& name : TrainingCase::part_names()) rows.emplace_back("· " + name, name);
  rows.emplace_back("· norm, clipping, optimizer", "update");
  rows.emplace_back("· making the batch", "data");
  return rows;
}

Measured bench_precision(int repeats, ThreadPool& workers, TrainingPrecision precision) {
  const bool is_fp32 = precision == TrainingPrecision::fp32;
  TrainingCase training(bench_model(), BatchShape(), workers, precision);
  const auto timings = measure_step(training, repeats, is_fp32);
  Measured measured;
  auto& json = measured.json;
  const auto& parts = TrainingCase::part_names();
  for (const auto& [title, name] : rows_of_table(workers.count())) {
    auto& cells = measured.cells.emplace_back();
    if (!is_fp32 && name.starts_with("plain")) continue;
    const auto time = median(timings.of(name));
    json["milliseconds"][name] = 1000 * time;
    cells.push_back(milliseconds(time));
    if (name == "update" || name == "data") continue;
    const bool is_part = std::ranges::count(parts, name) > 0;
    const auto floor = is_part ? "floor: " + name : std::string("floor");
    json["milliseconds"][floor] = 1000 * median(timings.of(floor));
    cells.push_back(milliseconds(median(timings.of(floor))));
    cells.push_back(ratio(median_of_pairs(timings.of(floor), timings.of(name))));
  }
  for (auto& cells : measured.cells) cells.resize(figures_in_a_row);
  json["efficiency"] = median_of_pairs(timings.of("floor"), timings.of("step"));
  json["target_tokens_per_second"] =
      static_cast<double>(training.target_tokens()) / median(timings.of("step"));
  json["floor_gflops"] = training.operations() / median(timings.of("floor")) / 1e9;
  json["libraries"] = libraries_text(training.whole_floor());
  json["peak_gflops"] = peak_gflops(is_fp32 ? kernels::Precision::full : kernels::Precision::bf16);
  if (!is_fp32) return measured;
  json["over_plain"] = median_of_pairs(timings.of("plain"), timings.of("step"));
  json["over_plain_all_threads"] =
      median_of_pairs(timings.of("plain, all threads"), timings.of("step"));
  json["over_plain_loop"] = median_of_pairs(timings.of("plain loop"), timings.of("step"));
  return measured;
}

std::string efficiency_text(TrainingPrecision precision, const Json& json) {
  const auto floor_speed = json["floor_gflops"].get<double>();
  const auto efficiency = json["efficiency"].get<double>();
  return fmt::format(
      "Efficiency in {}: **{:.2f}**, {:.0f} target tokens/s. The products of the floor run at "
      "{:.0f} GFLOP/s ({}), those of the step at {:.0f} over its whole time; a product in the "
      "caches runs at {:.0f} GFLOP/s in each thread.\n\n",
      enum_name(precision), efficiency, json["target_tokens_per_second"].get<double>(), floor_speed,
      json["libraries"].get<std::string>(), floor_speed * efficiency,
      json["peak_gflops"].get<double>());
}

Json bench_step(int repeats, ThreadPool& workers) {
  const auto precisions = measured_precisions();
  std::vector<Table::Column> columns = {{""}};
  std::vector<Measured> measured;
  for (const auto precision : precisions) {
    for (const auto* figure : {"ms", "floor, ms", "floor ÷ time"}) {
      columns.push_back({fmt::format("{}: {}", enum_name(precision), figure), Align::right});
    }
    measured.push_back(bench_precision(repeats, workers, precision));
  }
  Table table(columns);
  const auto rows = rows_of_table(workers.count());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::vector<std::string> cells = {rows[row].first};
    for (const auto& each : measured) {
      cells.insert(cells.end(), each.cells[row].begin(), each.cells[row].end());
    }
    table.add(cells);
  }
  const BatchShape shape;
  fmt::print(
      "The bench model, a batch of {} × {} tokens, {} thread(s), medians of {} rounds. The parts "
      "marked ·, down to the encoder's backward, are those of one thread alone with its "
      "shard.\n\n{}\n",
      shape.B, shape.T, workers.count(), repeats, table.markdown());
  for (std::size_t i = 0; i < precisions.size(); ++i) {
    fmt::print("{}", efficiency_text(precisions[i], measured[i].json));
  }
  auto json = measured[0].json;
  fmt::print(
      "In fp32, the step is faster than the plain path by {:.2f} (shards) and {:.2f} (all threads "
      "in each operation), than the plain loop by {:.2f}.\n\n",
      json["over_plain"].get<double>(), json["over_plain_all_threads"].get<double>(),
      json["over_plain_loop"].get<double>());
  if (measured.size() > 1) json["bf16"] = measured[1].json;
  return json;
}

}  // namespace
}  // namespace regard

int main(int argc, char** argv) {
  CLI::App program("Times training steps of the bench model");
  int repeats = 9;
  std::int64_t threads = 0;
  bool growth = false;
  bool quick = false;
  bool architectures = false;
  bool decoding_steps = false;
  std::string only;
  program.add_option("--repeats", repeats, "rounds after one warm-up round")
      ->check(CLI::Range(1, 1000));
  program.add_option("--threads", threads, "threads; 0 is one for each core")
      ->check(CLI::Range(0, 1024));
  program.add_flag("--growth", growth, "step and floor as the sizes grow");
  program.add_flag("--quick", quick, "only two values of each size");
  program.add_flag("--architectures", architectures, "every architecture beside its floor");
  program.add_flag("--decoding-steps", decoding_steps, "steps of a search by source length");
  program.add_option("--only", only, "of the architectures: those whose name contains this");
  CLI11_PARSE(program, argc, argv);

  regard::keep_freed_memory();  // as regard-torch does
  const auto workers = regard::make_thread_pool(threads, torch::kCPU);
  auto json = architectures    ? regard::architectures(repeats, only, *workers)
              : decoding_steps ? regard::decoding_steps(repeats, only)
              : growth         ? regard::growth(repeats, quick, *workers)
                               : regard::bench_step(repeats, *workers);
  json["workers"] = workers->count();
  json["repeats"] = repeats;
  fmt::print("{}\n", json.dump());
}
