#include "metrics/suspicions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "base/counted.h"

namespace regard {

namespace {

using Lines = std::vector<std::string>;

// What only programs write.
struct Mark {
  std::string_view what;  // of the lines
  std::string_view text;  // the text, in a word
  bool (*in)(std::string_view line);
};

bool has(std::string_view line, std::string_view part) {
  return line.find(part) != line.npos;
}

constexpr std::array<Mark, 5> marks{{
    {"end in \" .\"", "tokenised", [](std::string_view line) { return line.ends_with(" ."); }},
    {"have &apos;, &quot; or @-@", "tokenised (by Moses' tokenizer)",
     [](std::string_view line) {
       return has(line, "&apos;") || has(line, "&quot;") || has(line, "@-@");
     }},
    {"have @@", "split into pieces of words",
     [](std::string_view line) { return has(line, "@@ ") || line.ends_with("@@"); }},
    {"have ▁", "split into pieces of words", [](std::string_view line) { return has(line, "▁"); }},
    {"have <unk>", "a system's output", [](std::string_view line) { return has(line, "<unk>"); }},
}};

// As many as sacreBLEU asks for, or in a short text half of the lines.
bool many(std::size_t count, std::size_t lines) {
  return count >= 100 || (count >= 5 && 2 * count >= lines);
}

std::size_t count_marked(const Lines& lines, const Mark& mark) {
  return static_cast<std::size_t>(std::ranges::count_if(lines, mark.in));
}

std::size_t count_equal(const Lines& lines, const Lines& source) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    count += !lines[i].empty() && lines[i] == source[i] ? 1 : 0;
  }
  return count;
}

std::string found(const NamedLines& text, std::size_t count, std::string_view what) {
  return fmt::format("{}: {} of {} {}", text.name, count, counted(text.lines.size(), "line"), what);
}

void look_for(const Mark& mark, const NamedLines& hypotheses, const NamedLines& reference,
              std::vector<std::string>& suspicions) {
  const auto there = count_marked(hypotheses.lines, mark);
  const auto wanted = count_marked(reference.lines, mark);
  if (many(there, hypotheses.lines.size()) && mark.text != marks.back().text) {
    suspicions.push_back(fmt::format(
        "{}: the hypotheses look {}{}; score plain text, as people write it",
        found(hypotheses, there, mark.what), mark.text,
        10 * wanted < there ? ""
                            : ", and so do the references: such scores compare with no others"));
  } else if (many(wanted, reference.lines.size()) && 10 * there < wanted) {
    suspicions.push_back(
        fmt::format("{}, of {} {}: the references look {}; are hypotheses and references swapped?",
                    found(reference, wanted, mark.what), hypotheses.name, there, mark.text));
  }
}

void compare_with_source(const NamedLines& text, const NamedLines& source, std::string_view role,
                         std::vector<std::string>& suspicions) {
  const auto equal = count_equal(text.lines, source.lines);
  if (equal < 5 || 2 * equal < text.lines.size()) return;
  suspicions.push_back(fmt::format("{} those of {}: is it the source that was given as {}?",
                                   found(text, equal, "are"), source.name, role));
}

}  // namespace

std::vector<std::string> suspicions(const NamedLines& hypotheses, const NamedLines& reference,
                                    const NamedLines& source) {
  std::vector<std::string> suspicions;
  for (const auto& mark : marks) look_for(mark, hypotheses, reference, suspicions);
  if (source.lines.size() != reference.lines.size()) return suspicions;
  compare_with_source(hypotheses, source, "hypotheses", suspicions);
  compare_with_source(reference, source, "references", suspicions);
  return suspicions;
}

}  // namespace regard
