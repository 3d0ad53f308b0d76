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

Series training_series(const std::string& name, const std::vector<Json>& train_log,
                       const char* key) {
  Points points;
  for (const auto& line : train_log) {
    const auto step = line.find("step");
    const auto value = line.find(key);
    if (step == line.end() || value == line.end()) continue;
    if (step->is_number() && value->is_number())
      points.emplace_back(step->get<double>(), value->get<double>());
  }
  return {name, downsample(points)};
}

Series validation_series(const std::string& name, const ValidationTable& validations,
                         const char* column) {
  const auto steps = validations.numbers("step");
  const auto values = validations.numbers(column);
  Points points;
  for (std::size_t i = 0; i < std::min(steps.size(), values.size()); ++i)
    points.emplace_back(steps[i], values[i]);
  return {name, points};
}

}  // namespace

std::vector<LineChart> learning_curves(const std::vector<Json>& train_log,
                                       const ValidationTable& validations) {
  std::vector<LineChart> charts;
  const auto add = [&](const std::string& title, std::vector<Series> series, bool log_y = false) {
    std::erase_if(series, [](const Series& one) { return one.points.empty(); });
    if (series.empty()) return;
    LineChart chart;
    chart.title = title;
    chart.x_label = "step";
    chart.log_y = log_y;
    chart.series = std::move(series);
    chart.width = 380;
    chart.height = 200;
    charts.push_back(std::move(chart));
  };
  add("Loss per target token",
      {training_series("training", train_log, "loss"),
       validation_series("validation", validations, "loss")},
      /*log_y=*/true);
  add("Expected risk of a sentence", {training_series("", train_log, "risk")});
  add("BLEU and chrF, validation", {validation_series("BLEU", validations, "bleu"),
                                    validation_series("chrF", validations, "chrf")});
  add("Error rates and exact match, validation",
      {validation_series("WER", validations, "wer"), validation_series("CER", validations, "cer"),
       validation_series("exact", validations, "exact")});
  add("Learning rate", {training_series("", train_log, "learning_rate")});
  add("Gradient norm", {training_series("", train_log, "gradient_norm")});
  add("Speed, target tokens per second",
      {training_series("", train_log, "target_tokens_per_second")});
  add("Perplexity, validation", {validation_series("", validations, "perplexity")},
      /*log_y=*/true);
  return charts;
}

}  // namespace regard
