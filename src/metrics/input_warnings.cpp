#include "metrics/input_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/choice.h"
#include "base/strings.h"
#include "metrics/bleu.h"
#include "text/unicode.h"

namespace regard {
namespace {

using Lines = std::vector<std::string>;

// A pattern that only programs write.
struct Mark {
  std::string_view lines;  // completes "7 of 9 lines …"
  std::string_view text;   // completes "the hypotheses look …"
  bool (*matches)(std::string_view line);
};

bool has(std::string_view line, std::string_view part) {
  return line.find(part) != line.npos;
}

constexpr std::array<Mark, 5> checked_marks{{
    {"end in \" .\"", "tokenised", [](std::string_view line) { return line.ends_with(" ."); }},
    {"have &apos;, &quot; or @-@", "tokenised (by Moses' tokenizer)",
     [](std::string_view line) {
       return has(line, "&apos;") || has(line, "&quot;") || has(line, "@-@");
     }},
    {"have @@", "split into sub-words",
     [](std::string_view line) { return has(line, "@@ ") || line.ends_with("@@"); }},
    {"have ▁", "split into sub-words", [](std::string_view line) { return has(line, "▁"); }},
    {"have <unk>", "a system's output", [](std::string_view line) { return has(line, "<unk>"); }},
}};

// True for 100 lines, from which sacreBLEU warns too, and for half of a shorter text.
bool many(std::size_t count, std::size_t lines) {
  return count >= 100 || (count >= 5 && 2 * count >= lines);
}

std::size_t count_marked(const Lines& lines, const Mark& mark) {
  return static_cast<std::size_t>(std::ranges::count_if(lines, mark.matches));
}

std::size_t count_equal(const Lines& lines, const Lines& source) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    count += !lines[i].empty() && lines[i] == source[i] ? 1 : 0;
  }
  return count;
}

std::string describe(const NamedText& text, std::size_t count, std::string_view lines) {
  return fmt::format("{}: {} of {} {}", text.name, count, counted(text.lines.size(), "line"),
                     lines);
}

void check_mark(const Mark& mark, const NamedText& hypotheses, const NamedText& reference,
                std::vector<std::string>& warnings) {
  const auto in_hypotheses = count_marked(hypotheses.lines, mark);
  const auto in_reference = count_marked(reference.lines, mark);
  const bool is_unk = &mark == &checked_marks.back();  // hypotheses may have <unk>
  if (many(in_hypotheses, hypotheses.lines.size()) && !is_unk) {
    warnings.push_back(
        fmt::format("{}: the hypotheses look {}{}; score plain, detokenised text",
                    describe(hypotheses, in_hypotheses, mark.lines), mark.text,
                    10 * in_reference < in_hypotheses
                        ? ""
                        : ", and so do the references: such scores are comparable with no others"));
  } else if (many(in_reference, reference.lines.size()) && 10 * in_hypotheses < in_reference) {
    warnings.push_back(fmt::format(
        "{}, of {} {}: the references look {}; are hypotheses and references swapped?",
        describe(reference, in_reference, mark.lines), hypotheses.name, in_hypotheses, mark.text));
  }
}

void compare_with_source(const NamedText& text, const NamedText& source, std::string_view role,
                         std::vector<std::string>& warnings) {
  const auto equal = count_equal(text.lines, source.lines);
  if (equal < 5 || 2 * equal < text.lines.size()) return;
  warnings.push_back(fmt::format("{} those of {}: was the source given as {}?",
                                 describe(text, equal, "are"), source.name, role));
}

}  // namespace

std::vector<std::string> input_warnings(const NamedText& hypotheses, const NamedText& reference,
                                        const NamedText& source) {
  std::vector<std::string> warnings;
  for (const auto& mark : checked_marks) check_mark(mark, hypotheses, reference, warnings);
  if (source.lines.size() != reference.lines.size()) return warnings;
  compare_with_source(hypotheses, source, "hypotheses", warnings);
  compare_with_source(reference, source, "references", warnings);
  return warnings;
}

namespace {

// True if the tokenizer splits clauses of this script.
bool separates(BleuTokenizer tokenizer, UnspacedScript script) {
  return tokenizer == BleuTokenizer::character || tokenizer == BleuTokenizer::sentencepiece ||
         (tokenizer == BleuTokenizer::chinese && script == UnspacedScript::chinese);
}

// True if TER makes each ideograph a token. It never does so for kana
// (metrics/metric_tokenizers.h).
bool separates(const TerOptions& ter, UnspacedScript script) {
  return ter.normalized && ter.asian_support && script != UnspacedScript::south_east_asian;
}

}  // namespace

std::optional<std::string> short_lines_warning(const NamedText& text, BleuTokenizer tokenizer) {
  const auto& lines = text.lines;
  if (separates(tokenizer, UnspacedScript::chinese) || unspaced_script(lines)) return std::nullopt;
  const auto long_enough = static_cast<std::size_t>(std::ranges::count_if(
      lines, [](const auto& line) { return split_at_ascii_space(line).size() >= bleu_order; }));
  if (10 * long_enough >= lines.size()) return std::nullopt;
  return fmt::format("{}: only {} of {} {} four words, which BLEU counts together", text.name,
                     long_enough, counted(lines.size(), "line"), long_enough == 1 ? "has" : "have");
}

std::vector<std::string> unspaced_text_warnings(const std::string& name,
                                                const std::vector<std::string>& lines,
                                                const std::vector<std::string>& metrics,
                                                const MetricOptions& options) {
  const auto script = unspaced_script(lines);
  if (!script) return {};
  const auto has = [&](const char* metric) { return std::ranges::count(metrics, metric) > 0; };
  const auto finding =
      fmt::format("{}: found {}, which has no spaces between words", name, language_name(*script));
  std::vector<std::string> warnings;
  if (has("bleu") && !separates(options.bleu.tokenizer, *script)) {
    warnings.push_back(
        fmt::format("{}: BLEU with --tokenize {} treats each clause as a word; use {}", finding,
                    enum_name(options.bleu.tokenizer),
                    *script == UnspacedScript::chinese
                        ? "--tokenize zh, or char"
                        : "--tokenize char, or segment both texts into words first"));
  }
  if (has("ter") && !separates(options.ter, *script)) {
    warnings.push_back(fmt::format("{}: TER treats each clause as a word; {}", finding,
                                   *script == UnspacedScript::south_east_asian
                                       ? "segment both texts into words first"
                                       : "use --ter-normalized --ter-asian-support, or chrF"));
  }
  return warnings;
}

}  // namespace regard
