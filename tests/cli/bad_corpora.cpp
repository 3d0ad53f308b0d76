// The rows of bad_texts().
#include "tests/cli/bad_corpora.h"

#include <cctype>
#include <string_view>
#include <utility>

#include "tests/data/compressed.h"
#include "tests/data/gzipped.h"

namespace regard {
namespace {

using Spoil = std::function<std::string(const std::string&)>;

// Returns the begin and end of the second line.
std::pair<std::size_t, std::size_t> second_line(const std::string& text) {
  const auto begin = text.find('\n') + 1;
  return {begin, text.find('\n', begin)};
}

// Inserts bytes into the second line, after its first word.
Spoil with(std::string bytes) {
  return [bytes = std::move(bytes)](std::string text) {
    const auto [begin, end] = second_line(text);
    const auto space = text.find(' ', begin);
    return text.insert(std::min(space, end), bytes);
  };
}

Spoil second_line_is(std::string line) {
  return [line = std::move(line)](std::string text) {
    const auto [begin, end] = second_line(text);
    return text.replace(begin, end - begin, line);
  };
}

Spoil ten_megabytes_of(const std::string& unit) {
  return [unit](const std::string& text) {
    std::string line;
    while (line.size() < 10'000'000) line += unit;
    return second_line_is(line)(text);
  };
}

std::string with_carriage_returns(const std::string& text) {
  std::string spoilt;
  for (const char c : text) spoilt += c == '\n' ? "\r\n" : std::string(1, c);
  return spoilt;
}

// Converts ASCII text, with or without the byte order mark.
Spoil as_utf16(std::string mark) {
  return [mark = std::move(mark)](const std::string& text) {
    std::string spoilt = mark;
    for (const char c : text) spoilt += {c, '\0'};
    return spoilt;
  };
}

std::string in_three_members(const std::string& text) {
  return gzipped(text.substr(0, 20)) + gzipped("") + gzipped(text.substr(20));
}

std::string cut_short(const std::string& text) {
  const auto packed = gzipped(text);
  return packed.substr(0, packed.size() - 10);
}

std::string unchanged(const std::string& text) {
  return text;
}

const std::string nul(1, '\0');
const auto* const not_utf8 = "{}:2: byte ";
const auto* const too_long = "{}:2: the line has 10000000 bytes, of which only the first 8192 are";

}  // namespace

const std::vector<BadText>& bad_texts() {
  static const std::vector<BadText> texts = {
      {"a byte order mark at the start", [](const auto& text) { return "\uFEFF" + text; }},
      {"lines that end in CR LF", with_carriage_returns},
      {"no line feed at the end", [](const auto& text) { return text.substr(0, text.size() - 1); }},
      {"a lone CR inside a line", with("\r"), Fate::other_line},
      {"a NUL inside a line", with(nul), Fate::other_line},
      {"a line separator (U+2028)", with("\u2028"), Fate::other_line},
      {"a paragraph separator (U+2029)", with("\u2029"), Fate::other_line},
      {"a next line character (U+0085)", with("\u0085"), Fate::other_line},
      {"a form feed or vertical tab", with("\f\v"), Fate::other_line},
      {"combining marks", with("cafe\u0301 "), Fate::other_line},
      {"right-to-left text", with(" \u202Bשלום עולם\u202C مرحبا "), Fate::other_line},
      {"emoji with joiners", with(" 👩\u200D👩\u200D👧 🏳\uFE0F\u200D🌈 "),
       Fate::other_line},
      {"an empty line", second_line_is(""), Fate::empty_line},
      {"a line of spaces and tabs", second_line_is(" \t "), Fate::empty_line},
      {"a line of other white space", second_line_is("\u00A0\u2003\u3000\u2028"), Fate::empty_line},
      {"a line of 10 MB with blanks", ten_megabytes_of("cat "), Fate::long_line, too_long},
      {"a line of 10 MB without blanks", ten_megabytes_of("c"), Fate::long_line, too_long},
      {"invalid UTF-8", with("\xE9"), Fate::refused, not_utf8},
      {"UTF-8 cut short", with("\xE2\x82"), Fate::refused, not_utf8},
      {"overlong UTF-8", with("\xC0\xAF"), Fate::refused, not_utf8},
      {"surrogates in UTF-8", with("\xED\xA0\x80"), Fate::refused, not_utf8},
      {"code points above U+10FFFF", with("\xF4\x90\x80\x80"), Fate::refused, not_utf8},
      {"UTF-16 with its mark", as_utf16("\xFF\xFE"), Fate::refused, "{}:1: byte 1 of the line"},
      {"UTF-16 without a mark", as_utf16(""), Fate::refused, "`iconv -f UTF-16LE -t UTF-8`"},
      {"gzip under any name", gzipped},
      {"gzip of several members", in_three_members, Fate::same, "", "text.gz"},
      {"gzip with zeros behind it",
       [](const auto& text) { return gzipped(text) + std::string(70'000, '\0'); }, Fate::same, "",
       "text.gz"},
      {"gzip with other bytes behind it", [](const auto& text) { return gzipped(text) + "more"; },
       Fate::refused, "{}: the gzip data is followed by other bytes", "text.gz"},
      {"gzip cut short", cut_short, Fate::refused, "{}: the gzip data is cut short", "text.gz"},
      {"xz under any name", [](const auto& text) { return compressed(text, "xz"); }},
      {"bzip2 under any name", [](const auto& text) { return compressed(text, "bzip2"); }},
      {"zstd under any name", [](const auto& text) { return compressed(text, "zstd"); }},
      {"xz cut short",
       [](const auto& text) {
         const auto bytes = compressed(text, "xz");
         return bytes.substr(0, bytes.size() / 2);
       },
       Fate::refused, "{}: the xz data is cut short", "text.xz"},
      {"gzip by its name only", unchanged, Fate::refused, "{}: its name ends in .gz, but its bytes",
       "text.gz"},
  };
  return texts;
}

std::string test_name(const BadText& text) {
  std::string name;
  bool begin = true;
  for (const char c : text.title) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter)) name += static_cast<char>(begin ? std::toupper(letter) : letter);
    begin = c == ' ' || c == '-' || c == '(';
  }
  return name;
}

}  // namespace regard
