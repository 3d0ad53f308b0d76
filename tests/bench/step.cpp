// How long a training step of the bench model takes, in its parts, beside its floor and beside the
// plain path, all measured in turn in the same minutes; or how step and floor grow with the sizes.
// Prints Markdown and, as its last line, one JSON object. scripts/bench.sh step and growth run it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
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

Json report_step(const Timings& timings, const TrainingCase& training, std::size_t n, bool plain) {
  Json json;
  const auto tokens = static_cast<double>(training.target_tokens());
  Table table({{""},
               {"ms", Align::right},
               {"floor, ms", Align::right},
               {"floor ÷ time", Align::right},
               {"target tokens/s", Align::right}});
  const auto time = [&](const std::string& name) {
    const auto seconds = median(timings.of(name));
    json["milliseconds"][name] = 1000 * seconds;
    return seconds;
  };
  const auto whole = [&](const std::string& title, const std::string& name) {
    const auto t = time(name);
    table.add({title, milliseconds(t), milliseconds(median(timings.of("floor"))),
               ratio(median_of_pairs(timings.of("floor"), timings.of(name))),
               fmt::format("{:.0f}", tokens / t)});
  };
  whole("floor: matrix products alone, one thread in each", "floor");
  whole("**step**", "step");
  if (plain) {
    whole(fmt::format("plain path, {} thread(s)", n), "plain");
    whole("plain path, all threads in each operation", "plain, all threads");
    whole("plain loop, token by token", "plain loop");
  }
  for (const auto& name : TrainingCase::part_names()) {
    const auto floor = "floor: " + name;
    table.add({"· " + name, milliseconds(time(name)), milliseconds(time(floor)),
               ratio(median_of_pairs(timings.of(floor), timings.of(name)))});
  }
  table.add({"· norm, clipping, optimizer", milliseconds(time("update"))});
  table.add({"· making the batch", milliseconds(time("data"))});
  fmt::print("{}\n", table.markdown());

  json["efficiency"] = median_of_pairs(timings.of("floor"), timings.of("step"));
  json["target_tokens_per_second"] = tokens / median(timings.of("step"));
  json["floor_gflops"] = training.operations() / median(timings.of("floor")) / 1e9;
  if (!plain) return json;
  json["over_plain"] = median_of_pairs(timings.of("plain"), timings.of("step"));
  json["over_plain_all_threads"] =
      median_of_pairs(timings.of("plain, all threads"), timings.of("step"));
  json["over_plain_loop"] = median_of_pairs(timings.of("plain loop"), timings.of("step"));
  return json;
}

Json bench_precision(int repeats, ThreadPool& workers, TrainingPrecision precision) {
  const auto n = workers.count();
  const BatchShape shape;
  const bool is_fp32 = precision == TrainingPrecision::fp32;
  TrainingCase training(bench_model(), shape, workers, precision);
  const auto name = enum_name(precision);
  fmt::print("**{}.**\n\n", name);
  auto json = report_step(measure_step(training, repeats, is_fp32), training, n, is_fp32);
  const auto peak = peak_gflops(is_fp32 ? kernels::Precision::full : kernels::Precision::bf16);
  const auto speed = json["floor_gflops"].get<double>() * json["efficiency"].get<double>();
  json["peak_gflops"] = peak;
  fmt::print(
      "Efficiency in {} (floor ÷ step, median of pairs): **{:.2f}**. The products of the floor run "
      "at {:.0f} GFLOP/s ({}), those of the step at {:.0f} over its whole time; a product in the "
      "caches runs at {:.0f} GFLOP/s in each thread.",
      name, json["efficiency"].get<double>(), json["floor_gflops"].get<double>(),
      libraries_text(training.whole_floor()), speed, peak);
  if (is_fp32) {
    fmt::print(
        " The step is faster than the plain path by {:.2f} (shards) and {:.2f} (all threads in "
        "each operation), than the plain loop by {:.2f}.",
        json["over_plain"].get<double>(), json["over_plain_all_threads"].get<double>(),
        json["over_plain_loop"].get<double>());
  }
  fmt::print("\n\n");
  return json;
}

Json bench_step(int repeats, ThreadPool& workers) {
  const BatchShape shape;
  fmt::print(
      "The bench model, a batch of {} × {} tokens, {} thread(s), medians of {} rounds. The parts "
      "marked ·, down to the encoder's backward, are those of one thread alone with its shard.\n\n",
      shape.B, shape.T, workers.count(), repeats);
  auto json = bench_precision(repeats, workers, TrainingPrecision::fp32);
  if (kernels::can_multiply(kernels::Precision::bf16)) {
    json["bf16"] = bench_precision(repeats, workers, TrainingPrecision::bf16);
  } else {
    fmt::print("This processor has no products in bf16.\n\n");
  }
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
