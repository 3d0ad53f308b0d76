#include "report/learning_curves.h"

#include <algorithm>
#include <string>
#include <utility>

namespace regard {
namespace {

constexpr std::size_t max_points = 1000;

using Points = std::vector<std::pair<double, double>>;

// The x of a group is that of its last point.
Points downsample(const Points& points) {
  const auto group = (points.size() + max_points - 1) / max_points;
  if (group <= 1) return points;
  Points means;
  for (std::size_t begin = 0; begin < points.size(); begin += group) {
    const auto end = std::min(begin + group, points.size());
    double sum = 0;
    for (auto i = begin; i < end; ++i) sum += points[i].second;
    means.emplace_back(points[end - 1].first, sum / static_cast<double>(end - begin));
  }
  return means;
}

Series training_series(const std::string& name, const RunLogs& run, const char* key) {
  Points points;
  for (const auto& line : run.train_log) {
    const auto step = line.find("step");
    const auto value = line.find(key);
    if (step == line.end() || value == line.end()) continue;
    if (step->is_number() && value->is_number())
      points.emplace_back(step->get<double>(), value->get<double>());
  }
  return {name, downsample(points)};
}

Series validation_series(const std::string& name, const RunLogs& run, const char* column) {
  const auto steps = run.validations.numbers("step");
  const auto values = run.validations.numbers(column);
  Points points;
  for (std::size_t i = 0; i < std::min(steps.size(), values.size()); ++i)
    points.emplace_back(steps[i], values[i]);
  return {name, points};
}

class Charts {
 public:
  // Adds a chart of the series that have points, if there are any.
  void add(const std::string& title, std::vector<Series> series, bool log_y = false) {
    std::erase_if(series, [](const Series& one) { return one.points.empty(); });
    if (series.empty()) return;
    LineChart chart;
    chart.title = title;
    chart.x_label = "step";
    chart.log_y = log_y;
    chart.series = std::move(series);
    chart.width = 380;
    chart.height = 200;
    charts_.push_back(std::move(chart));
  }

  std::vector<LineChart> take() { return std::move(charts_); }

 private:
  std::vector<LineChart> charts_;
};

}  // namespace

std::vector<LineChart> learning_curves(const RunLogs& run) {
  Charts charts;
  charts.add(
      "Loss per target token",
      {training_series("training", run, "loss"), validation_series("validation", run, "loss")},
      /*log_y=*/true);
  charts.add("Expected risk of a sentence", {training_series("", run, "risk")});
  charts.add("BLEU and chrF, validation",
             {validation_series("BLEU", run, "bleu"), validation_series("chrF", run, "chrf")});
  charts.add("Error rates and exact match, validation",
             {validation_series("WER", run, "wer"), validation_series("CER", run, "cer"),
              validation_series("exact", run, "exact")});
  charts.add("Learning rate", {training_series("", run, "learning_rate")});
  charts.add("Gradient norm", {training_series("", run, "gradient_norm")});
  charts.add("Speed, target tokens per second",
             {training_series("", run, "target_tokens_per_second")});
  charts.add("Perplexity, validation", {validation_series("", run, "perplexity")}, /*log_y=*/true);
  return charts.take();
}

std::vector<LineChart> compared_curves(const std::vector<RunLogs>& runs) {
  Charts charts;
  const auto add = [&](const std::string& title, auto series, const char* key, bool log_y = false) {
    std::vector<Series> all;
    for (const auto& run : runs) all.push_back(series(run.name, run, key));
    charts.add(title, std::move(all), log_y);
  };
  add("Loss per target token, training", training_series, "loss", /*log_y=*/true);
  add("Loss per target token, validation", validation_series, "loss", /*log_y=*/true);
  add("BLEU, validation", validation_series, "bleu");
  add("chrF, validation", validation_series, "chrf");
  add("WER, validation", validation_series, "wer");
  add("CER, validation", validation_series, "cer");
  add("Exact match, validation", validation_series, "exact");
  add("Learning rate", training_series, "learning_rate");
  add("Speed, target tokens per second", training_series, "target_tokens_per_second");
  return charts.take();
}

}  // namespace regard
