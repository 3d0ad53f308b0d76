#include "data/corpus_pairs.h"

#include <algorithm>

namespace regard {
namespace {

Json to_json(const CorpusReport::Side& side) {
  return Json::array({side.tokens, side.unknown, side.max_length});
}

CorpusReport::Side side_from(const Json& json) {
  return {json.at(0), json.at(1), json.at(2)};
}

// Appends list i of `from`, unless there are no lists.
template <typename T>
void append_list(FlatLists<T>& to, const FlatLists<T>& from, std::size_t i) {
  if (from.size() > 0) to.add(from[i]);
}

}  // namespace

double CorpusReport::unknown_rate(const Side& side) const {
  return side.tokens == 0 ? 0
                          : static_cast<double>(side.unknown) / static_cast<double>(side.tokens);
}

double CorpusReport::mean_length(const Side& side) const {
  return kept == 0 ? 0 : static_cast<double>(side.tokens) / static_cast<double>(kept);
}

void CorpusReport::add(const CorpusReport& other) {
  const auto add_side = [](Side& side, const Side& more) {
    side.tokens += more.tokens;
    side.unknown += more.unknown;
    side.max_length = std::max(side.max_length, more.max_length);
  };
  read += other.read;
  kept += other.kept;
  empty += other.empty;
  too_long += other.too_long;
  high_ratio += other.high_ratio;
  duplicates += other.duplicates;
  add_side(source, other.source);
  add_side(target, other.target);
}

void CorpusPairs::append(const CorpusPairs& other) {
  source.append(other.source);
  target.append(other.target);
  numbers.append(other.numbers);
  extended_ids.append(other.extended_ids);
  source_text.append(other.source_text);
  target_text.append(other.target_text);
  lines.insert(lines.end(), other.lines.begin(), other.lines.end());
  report.add(other.report);
}

void CorpusPairs::append_pair(const CorpusPairs& other, std::size_t i) {
  source.add(other.source[i]);
  target.add(other.target[i]);
  append_list(numbers, other.numbers, i);
  append_list(extended_ids, other.extended_ids, i);
  append_list(source_text, other.source_text, i);
  append_list(target_text, other.target_text, i);
  lines.push_back(other.lines[i]);
}

Json to_json(const CorpusReport& report) {
  return {{"read", report.read},
          {"kept", report.kept},
          {"empty", report.empty},
          {"too_long", report.too_long},
          {"high_ratio", report.high_ratio},
          {"duplicates", report.duplicates},
          {"source", to_json(report.source)},
          {"target", to_json(report.target)}};
}

CorpusReport corpus_report_from(const Json& json) {
  return {json.at("read"),
          json.at("kept"),
          json.at("empty"),
          json.at("too_long"),
          json.at("high_ratio"),
          json.value("duplicates", std::int64_t{0}),
          side_from(json.at("source")),
          side_from(json.at("target"))};
}

}  // namespace regard
