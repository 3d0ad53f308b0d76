#include "metrics/bleu_tokenizer.h"

#include <array>
#include <cstddef>
#include <utility>

#include "base/error.h"
#include "text/unicode.h"

namespace regard {

namespace {

constexpr std::array<std::pair<BleuTokenizer, std::string_view>, 4> names{
    {{BleuTokenizer::mteval_13a, "13a"},
     {BleuTokenizer::intl, "intl"},
     {BleuTokenizer::character, "char"},
     {BleuTokenizer::none, "none"}}};

bool is_ascii_digit(char32_t c) {
  return c >= U'0' && c <= U'9';
}
bool is_period_or_comma(char32_t c) {
  return c == U'.' || c == U',';
}

void replace_all(std::u32string& line, std::u32string_view from, std::u32string_view to) {
  for (auto at = line.find(from); at != line.npos; at = line.find(from, at + to.size())) {
    line.replace(at, from.size(), to);
  }
}

// s/(one)/ \1 /g
template <typename One>
std::u32string isolate(std::u32string_view line, One one) {
  std::u32string spaced;
  spaced.reserve(2 * line.size());
  for (char32_t c : line) {
    if (one(c)) {
      spaced += {U' ', c, U' '};
    } else {
      spaced += c;
    }
  }
  return spaced;
}

// s/(first)(second)/ \1 \2/g: as with any regex, what one match took is not looked at again.
template <typename First, typename Second>
std::u32string isolate_first(std::u32string_view line, First first, Second second) {
  std::u32string spaced;
  spaced.reserve(2 * line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (i + 1 < line.size() && first(line[i]) && second(line[i + 1])) {
      spaced += {U' ', line[i], U' ', line[i + 1]};
      ++i;
    } else {
      spaced += line[i];
    }
  }
  return spaced;
}

// s/(first)(second)/\1 \2 /g
template <typename First, typename Second>
std::u32string isolate_second(std::u32string_view line, First first, Second second) {
  std::u32string spaced;
  spaced.reserve(2 * line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (i + 1 < line.size() && first(line[i]) && second(line[i + 1])) {
      spaced += {line[i], U' ', line[i + 1], U' '};
      ++i;
    } else {
      spaced += line[i];
    }
  }
  return spaced;
}

// [\{-\~\[-\` -\&\(-\+\:-\@\/]: ASCII punctuation but for the apostrophe, comma, dash and period.
std::u32string isolate_ascii_punctuation(std::u32string_view line) {
  return isolate(line, [](char32_t c) {
    return (c >= U'{' && c <= U'~') || (c >= U'[' && c <= U'`') || (c >= U' ' && c <= U'&') ||
           (c >= U'(' && c <= U'+') || (c >= U':' && c <= U'@') || c == U'/';
  });
}

// ([^0-9])([\.,])
std::u32string isolate_period_after_non_digit(std::u32string_view line) {
  return isolate_second(
      line, [](char32_t c) { return !is_ascii_digit(c); }, is_period_or_comma);
}

// ([\.,])([^0-9])
std::u32string isolate_period_before_non_digit(std::u32string_view line) {
  return isolate_first(line, is_period_or_comma, [](char32_t c) { return !is_ascii_digit(c); });
}

// ([0-9])(-)
std::u32string isolate_dash_after_digit(std::u32string_view line) {
  return isolate_second(line, is_ascii_digit, [](char32_t c) { return c == U'-'; });
}

std::u32string tokenize_13a(std::u32string_view line) {
  std::u32string text(line);
  replace_all(text, U"<skipped>", U"");
  replace_all(text, U"-\n", U"");
  replace_all(text, U"\n", U" ");
  replace_all(text, U"&quot;", U"\"");
  replace_all(text, U"&amp;", U"&");
  replace_all(text, U"&lt;", U"<");
  replace_all(text, U"&gt;", U">");
  text = isolate_ascii_punctuation(U" " + text + U" ");
  text = isolate_period_after_non_digit(text);
  text = isolate_period_before_non_digit(text);
  return isolate_dash_after_digit(text);
}

// (\P{N})(\p{P})
std::u32string isolate_punctuation_after_non_number(std::u32string_view line) {
  return isolate_second(
      line, [](char32_t c) { return !is_number(c); }, is_punctuation);
}

// (\p{P})(\P{N})
std::u32string isolate_punctuation_before_non_number(std::u32string_view line) {
  return isolate_first(line, is_punctuation, [](char32_t c) { return !is_number(c); });
}

// (\p{S})
std::u32string isolate_symbols(std::u32string_view line) {
  return isolate(line, is_symbol);
}

// A period that ends the line after a number stays with it, as in mteval-v14.pl.
std::u32string tokenize_intl(std::u32string_view line) {
  std::u32string text = isolate_punctuation_after_non_number(line);
  text = isolate_punctuation_before_non_number(text);
  return isolate_symbols(text);
}

}  // namespace

std::string_view name_of(BleuTokenizer tokenizer) {
  for (const auto& [value, name] : names) {
    if (value == tokenizer) return name;
  }
  throw ConfigError("a BLEU tokenizer without a name: {}", static_cast<int>(tokenizer));
}

BleuTokenizer bleu_tokenizer_named(std::string_view name) {
  for (const auto& [value, known] : names) {
    if (known == name) return value;
  }
  throw ConfigError("unknown BLEU tokenizer '{}': give 13a, intl, char or none", name);
}

std::u32string tokenize_for_bleu(std::u32string_view line, BleuTokenizer tokenizer) {
  switch (tokenizer) {
    case BleuTokenizer::mteval_13a:
      return tokenize_13a(line);
    case BleuTokenizer::intl:
      return tokenize_intl(line);
    case BleuTokenizer::character:
      return isolate(line, [](char32_t) { return true; });
    case BleuTokenizer::none:
      break;
  }
  return std::u32string(line);
}

}  // namespace regard
