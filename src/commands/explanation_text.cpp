#include "commands/explanation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/counted.h"
#include "report/format.h"
#include "report/table.h"

namespace regard {
namespace {

constexpr std::size_t most_numbers = 6;

// "0.123", "(0.123, 0.456)", or of many the first: "(0.123, …)".
std::string numbers_text(const std::vector<float>& x) {
  if (x.size() == 1) return format_fixed(x[0], 3);
  std::string shown;
  for (std::size_t i = 0; i < std::min(x.size(), most_numbers); ++i) {
    shown += (i > 0 ? ", " : "") + format_fixed(x[i], 3);
  }
  return fmt::format("({}{})", shown, x.size() > most_numbers ? ", …" : "");
}

// "query = (0.123, -0.534, …), 256 numbers, length 4.21", or nothing for no numbers.
std::string vector_line(std::string_view name, const std::vector<float>& x) {
  if (x.empty()) return "";
  double square = 0;
  for (const double number : x) square += number * number;
  return fmt::format("  {} = {}, {}, length {}\n", name, numbers_text(x),
                     counted(x.size(), "number"), format_fixed(std::sqrt(square), 3));
}

// "p_t = 3.214, …", or nothing.
std::string numbers_line(const ExplainedStep& step) {
  std::string line;
  const auto add = [&](std::string_view name, const std::vector<float>& numbers) {
    line += fmt::format("{}{} = {}", line.empty() ? "  " : ", ", name, numbers_text(numbers));
  };
  for (const auto& [name, numbers] : step.numbers) add(name, numbers);
  if (step.generates) add("p_gen", {static_cast<float>(*step.generates)});
  return line.empty() ? "" : line + "\n";
}

// Each source token with its score, each head's weight and the weight, or with what else it has,
// the last as a bar too.
std::string positions_table(const std::vector<std::string>& source, const ExplainedStep& step) {
  std::vector<Table::Column> columns = {{"  s", Align::right}, {"x_s", Align::left}};
  std::vector<const std::vector<float>*> shown;
  const auto show = [&](std::string_view name, const std::vector<float>& numbers) {
    if (numbers.empty()) return;
    columns.push_back({std::string(name), Align::right});
    shown.push_back(&numbers);
  };
  show("score e_ts", step.scores);
  if (step.heads.size() == 1) {  // of one layer, there is room
    for (std::size_t h = 0; h < step.heads[0].size(); ++h) {
      show(fmt::format("head {}", h + 1), step.heads[0][h]);
    }
  }
  show("weight α_ts", step.weights);
  show("P(y_t = s)", step.pointer);
  if (shown.empty()) return "";
  columns.push_back({"", Align::left});
  Table table(columns);
  for (std::size_t s = 0; s < source.size(); ++s) {
    std::vector<std::string> cells = {fmt::format("{}", s + 1), source[s]};
    for (const auto* numbers : shown) cells.push_back(format_fixed(numbers->at(s), 3));
    std::string bar;
    for (int i = 0; i < std::lround(20 * shown.back()->at(s)); ++i) bar += "█";
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
    text += numbers_line(step);
    text += positions_table(explanation.source_tokens, step);
    text += vector_line("context", step.context);
  }
  return text + "\n";
}

}  // namespace regard
