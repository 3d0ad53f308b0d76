#include "commands/explanation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/table.h"

namespace regard {
namespace {

constexpr std::size_t most_numbers = 6;

// "query s_0 = (0.12, -0.53, …), 256 numbers, length 4.21", or nothing for no numbers.
std::string vector_line(std::string_view name, const std::vector<float>& x) {
  if (x.empty()) return "";
  std::string shown;
  double square = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i < most_numbers) shown += fmt::format("{}{:.3f}", i > 0 ? ", " : "", x[i]);
    square += static_cast<double>(x[i]) * x[i];
  }
  return fmt::format("  {} = ({}{}), {} numbers, length {:.3f}\n", name, shown,
                     x.size() > most_numbers ? ", …" : "", x.size(), std::sqrt(square));
}

// Each source token with its score and weight.
std::string weights_table(const std::vector<std::string>& source, const ExplainedStep& step) {
  std::vector<Table::Column> columns = {{"  s", Align::right}, {"x_s", Align::left}};
  if (!step.scores.empty()) columns.push_back({"score e_ts", Align::right});
  columns.push_back({"weight α_ts", Align::right});
  columns.push_back({"", Align::left});
  Table table(columns);
  for (std::size_t s = 0; s < step.weights.size(); ++s) {
    std::vector<std::string> cells = {fmt::format("{}", s + 1), source[s]};
    if (!step.scores.empty()) cells.push_back(fmt::format("{:.3f}", step.scores[s]));
    cells.push_back(fmt::format("{:.3f}", step.weights[s]));
    std::string bar;
    for (int i = 0; i < std::lround(20 * step.weights[s]); ++i) bar += "█";
    cells.push_back(bar);
    table.add(cells);
  }
  return table.text();
}

}  // namespace

std::string explanation_text(std::int64_t line, const std::string& translation,
                             const Explanation& explanation) {
  auto text = fmt::format("line {}: {}\n", line, translation);
  for (std::size_t t = 0; t < explanation.steps.size(); ++t) {
    const auto& step = explanation.steps[t];
    text += fmt::format("\nstep {}: {}  P = {:.3f}\n", t + 1, step.token, step.probability);
    text += vector_line("query", step.query);
    if (!step.weights.empty()) text += weights_table(explanation.source_tokens, step);
    text += vector_line("context", step.context);
  }
  return text + "\n";
}

}  // namespace regard
