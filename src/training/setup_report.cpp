#include "training/setup_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "report/format.h"
#include "report/table.h"

namespace regard {
namespace {

// "encoder.layer0.W" belongs to "encoder.layer0", "output_bias" to itself, and what lies deeper
// than "encoder.layer0.attention" to that.
std::string part_of(const std::string& parameter) {
  auto part = parameter.substr(0, parameter.rfind('.'));
  while (std::ranges::count(part, '.') > 2) part.resize(part.rfind('.'));
  return part;
}

std::vector<std::string> data_row(const std::string& name, const Corpus& corpus) {
  const auto& r = corpus.report();
  const auto side = [&](const CorpusReport::Side& s) {
    return fmt::format("{} ({:.1f} a line, {:.2f} % unknown)", format_thousands(s.tokens),
                       r.mean_length(s), 100 * r.unknown_rate(s));
  };
  return {name,
          format_thousands(r.read),
          format_thousands(r.kept),
          format_thousands(r.empty),
          format_thousands(r.too_long),
          format_thousands(r.odd_ratio),
          side(r.source),
          side(r.target)};
}

}  // namespace

std::string parameter_table(const Seq2Seq& model) {
  Table table({{"part"}, {"shapes"}, {"parameters", Align::right}});
  std::vector<std::string> order;
  std::map<std::string, std::pair<std::string, std::int64_t>> parts;
  std::int64_t total = 0;
  for (const auto& [name, tensor] : parameters_of(model)) {
    const auto part = part_of(name);
    if (!parts.contains(part)) order.push_back(part);
    auto& [shapes, count] = parts[part];
    shapes += fmt::format("{}[{}]", shapes.empty() ? "" : " ", fmt::join(tensor.sizes(), "×"));
    count += tensor.numel();
    total += tensor.numel();
  }
  for (const auto& part : order) {
    table.add({part, parts[part].first, format_thousands(parts[part].second)});
  }
  table.add_rule();
  table.add({"all", "", format_thousands(total)});
  return table.text();
}

std::string data_table(const Corpus& train, const Corpus* dev) {
  Table table({{"data"},
               {"pairs", Align::right},
               {"kept", Align::right},
               {"empty", Align::right},
               {"too long", Align::right},
               {"odd ratio", Align::right},
               {"source tokens", Align::right},
               {"target tokens", Align::right}});
  table.add(data_row("train", train));
  if (dev != nullptr) table.add(data_row("dev", *dev));
  return table.text();
}

}  // namespace regard
