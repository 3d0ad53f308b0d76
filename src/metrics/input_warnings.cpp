#include "metrics/input_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/strings.h"
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

constexpr std::array<Mark, 5> marks{{
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
  const bool is_unk = &mark == &marks.back();  // hypotheses may have <unk>
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
  for (const auto& mark : marks) check_mark(mark, hypotheses, reference, warnings);
  if (source.lines.size() != reference.lines.size()) return warnings;
  compare_with_source(hypotheses, source, "hypotheses", warnings);
  compare_with_source(reference, source, "references", warnings);
  return warnings;
}

namespace {

using Range = std::pair<char32_t, char32_t>;

constexpr std::array<Range, 6> ideographs{{{0x3400, 0x4DBF},
                                           {0x4E00, 0x9FFF},
                                           {0xF900, 0xFAFF},
                                           {0x20000, 0x2FA1F},
                                           {0x30000, 0x323AF},
                                           {0x3005, 0x3007}}};
constexpr std::array<Range, 3> kana{{{0x3041, 0x30FF}, {0x31F0, 0x31FF}, {0xFF66, 0xFF9F}}};
// Thai, Lao, Burmese, Khmer.
constexpr std::array<Range, 3> south_east_asian{
    {{0x0E00, 0x0EFF}, {0x1000, 0x109F}, {0x1780, 0x17FF}}};

constexpr char32_t first_unspaced = 0x0E00;  // the start of the first range above

template <std::size_t n>
bool is_in(const std::array<Range, n>& ranges, char32_t c) {
  return std::ranges::any_of(
      ranges, [c](const auto& range) { return c >= range.first && c <= range.second; });
}

struct Letters {
  std::size_t all = 0;
  std::size_t ideographs = 0;
  std::size_t kana = 0;
  std::size_t south_east_asian = 0;
  std::size_t words = 0;  // words with a letter of these scripts, separated by spaces

  std::size_t unspaced() const { return ideographs + kana + south_east_asian; }

  void add_word(std::u32string_view word) {
    const auto before = unspaced();
    for (const auto c : word) {
      if (!is_letter(c)) continue;
      ++all;
      if (c < first_unspaced) continue;
      ideographs += is_in(regard::ideographs, c) ? 1 : 0;
      kana += is_in(regard::kana, c) ? 1 : 0;
      south_east_asian += is_in(regard::south_east_asian, c) ? 1 : 0;
    }
    words += unspaced() > before ? 1 : 0;
  }
};

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

std::string_view language_name(UnspacedScript script) {
  switch (script) {
    case UnspacedScript::chinese:
      return "Chinese";
    case UnspacedScript::japanese:
      return "Japanese";
    case UnspacedScript::south_east_asian:
      break;
  }
  return "Thai, Lao, Burmese or Khmer";
}

std::optional<UnspacedScript> unspaced_script(const std::vector<std::string>& lines) {
  constexpr std::size_t max_letters_per_segmented_word = 6;
  Letters letters;
  for (const auto& line : lines) {
    const auto text = decode_utf8(line);
    for (const auto word : split_words(text)) letters.add_word(word);
  }
  const auto unspaced = letters.unspaced();
  if (2 * unspaced <= letters.all || unspaced <= max_letters_per_segmented_word * letters.words) {
    return std::nullopt;
  }
  if (2 * letters.south_east_asian > unspaced) return UnspacedScript::south_east_asian;
  // Chinese has no kana; a tenth allows for quotations.
  return 10 * letters.kana > unspaced ? UnspacedScript::japanese : UnspacedScript::chinese;
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
                    name_of(options.bleu.tokenizer),
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
