#include "tests/bench/growth.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "report/table.h"
#include "tests/bench/timing.h"
#include "tests/bench/training_case.h"

namespace regard {
namespace {

struct Point {
  std::int64_t value;
  ModelOptions options;
  BatchShape shape;
};

Json measure_point(const Point& point, int repeats, ThreadPool& workers) {
  TrainingCase training(point.options, point.shape, workers);
  Timings timings;
  for (int round = -1; round < repeats; ++round) {
    Timings unused;
    auto& t = round < 0 ? unused : timings;
    t.add("floor", training.floor());
    t.add("step", training.step());
    training.time_parts(t);
  }
  const auto part = [&](const std::vector<std::size_t>& indices) {
    double time = 0;
    double floor = 0;
    for (const auto i : indices) {
      const auto& name = TrainingCase::part_names()[i];
      time += median(timings.of(name));
      floor += median(timings.of("floor: " + name));
    }
    return floor / time;
  };
  return {{"value", point.value},
          {"floor_ms", 1000 * median(timings.of("floor"))},
          {"step_ms", 1000 * median(timings.of("step"))},
          {"efficiency", median_of_pairs(timings.of("floor"), timings.of("step"))},
          {"encoder_efficiency", part({0, 4})},
          {"decoder_efficiency", part({1, 3})},
          {"output_efficiency", part({2})},
          {"update_ms", 1000 * median(timings.of("update"))},
          {"target_tokens_per_second",
           static_cast<double>(training.target_tokens()) / median(timings.of("step"))}};
}

// Measures the points of an axis, and adds a row for each to the table.
Json growth_along(const std::string& axis, const std::vector<Point>& points, int repeats,
                  ThreadPool& workers, Table& table) {
  Json rows = Json::array();
  for (const auto& point : points) {
    const auto row = measure_point(point, repeats, workers);
    const auto figure = [&](const char* key, int digits) {
      return fmt::format("{:.{}f}", row[key].get<double>(), digits);
    };
    table.add({axis, std::to_string(point.value), figure("floor_ms", 1), figure("step_ms", 1),
               figure("efficiency", 2), figure("encoder_efficiency", 2),
               figure("decoder_efficiency", 2), figure("output_efficiency", 2),
               figure("update_ms", 1), figure("target_tokens_per_second", 0)});
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

Json growth(int repeats, bool quick, ThreadPool& workers) {
  using Values = std::vector<std::int64_t>;
  const auto points = [&](const Values& all, const auto& set) {
    std::vector<Point> chosen;
    for (const auto value : quick ? Values{all.front(), all[all.size() / 2]} : all) {
      chosen.push_back({value, bench_model(), BatchShape()});
      set(chosen.back());
    }
    return chosen;
  };
  fmt::print(
      "One size of the bench model or its batch changes at a time, {} thread(s), medians of {} "
      "rounds; encoder, decoder, output: floor ÷ time of that part. If the ratio falls as a size "
      "grows, that part grows faster than its matrix products.\n\n",
      workers.count(), repeats);
  Table table({{"size"},
               {"", Align::right},
               {"floor, ms", Align::right},
               {"step, ms", Align::right},
               {"floor ÷ step", Align::right},
               {"encoder", Align::right},
               {"decoder", Align::right},
               {"output", Align::right},
               {"update, ms", Align::right},
               {"target tokens/s", Align::right}});
  Json json;
  const auto along = [&](const std::string& axis, const std::vector<Point>& of_axis) {
    json[axis] = growth_along(axis, of_axis, repeats, workers, table);
  };
  along("sentences", points({20, 80, 320}, [](Point& p) { p.shape.B = p.value; }));
  along("length", points({15, 50, 100}, [](Point& p) { p.shape.S = p.shape.T = p.value; }));
  along("vocabulary", points({8000, 32000, 64000}, [](Point& p) { p.shape.V = p.value; }));
  along("hidden", points({128, 512, 1024}, [](Point& p) {
          auto& o = p.options;
          o.encoder.embedding_dim = o.decoder.embedding_dim = p.value / 2;
          o.encoder.hidden_size = o.decoder.hidden_size = p.value;
          o.decoder.readout_size = o.attention.size = p.value;
        }));
  fmt::print("{}\n", table.markdown());
  return json;
}

}  // namespace regard
