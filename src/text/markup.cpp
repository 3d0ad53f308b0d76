#include "text/markup.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/strings.h"
#include "text/unicode.h"
#include "text/unspaced_script.h"

namespace regard {
namespace {

bool is_word_byte(char c) {
  return is_letter_byte(c) || is_digit_byte(c) || c == '_';
}
// The functions match_… return the number of bytes that `text` has at its beginning, or 0.

// Returns the end of a run of characters.
template <typename Test>
std::size_t run(std::string_view text, std::size_t from, const Test& test) {
  while (from < text.size() && test(text[from])) ++from;
  return from;
}

// A place that a search from an earlier place of a line found, and that one from here finds again.
// Keeps it as the number of bytes behind it: the texts are the rests of one line.
class FoundAhead {
 public:
  bool is_ahead_of(std::string_view text) const { return left_ < text.size(); }
  // Returns find(text), but calls it only if the place is not ahead.
  template <typename Find>
  std::size_t in(std::string_view text, const Find& find) {
    if (!is_ahead_of(text)) left_ = text.size() - find(text);
    return text.size() - left_;
  }

 private:
  std::size_t left_ = std::string_view::npos;
};

// Makes the time to find all marks linear in the length of the line.
struct Ahead {
  FoundAhead comment_end;
  FoundAhead parenthesis;
  FoundAhead scheme_end;
  FoundAhead number_end;
};

struct FoundTag {
  std::size_t size = 0;
  Mark::Kind kind = Mark::Kind::single;
  std::string_view name = {};
};

constexpr std::array<std::string_view, 14> void_elements = {
    "area",  "base", "br",   "col",   "embed",  "hr",    "img",
    "input", "link", "meta", "param", "source", "track", "wbr"};

// A name follows < or </ without a space. Quoted values of attributes may contain >.
FoundTag match_tag(std::string_view text, Ahead& ahead) {
  if (text.starts_with("<!--")) {
    const auto end = 4 + ahead.comment_end.in(text.substr(4), [](std::string_view rest) {
      return std::min(rest.find("-->"), rest.size());
    });
    return end == text.size() ? FoundTag{} : FoundTag{.size = end + 3};
  }
  const bool closes = text.starts_with("</");
  const std::size_t begin = closes ? 2 : 1;
  if (text.size() <= begin || !is_letter_byte(text[begin])) return {};
  auto at =
      run(text, begin, [](char c) { return is_word_byte(c) || c == '-' || c == ':' || c == '.'; });
  const auto name = text.substr(begin, at - begin);
  if (at < text.size() && !is_space_byte(text[at]) && text[at] != '/' && text[at] != '>') return {};
  while (at < text.size() && text[at] != '>') {
    const char c = text[at];
    if (c == '<') return {};
    ++at;
    if (c != '"' && c != '\'') continue;
    const auto quote = text.find(c, at);
    if (quote == std::string_view::npos) return {};
    at = quote + 1;
  }
  if (at == text.size()) return {};
  const bool is_single =
      !closes && (text[at - 1] == '/' || std::ranges::count(void_elements, lower_ascii(name)) > 0);
  const auto kind = closes ? Mark::Kind::close : is_single ? Mark::Kind::single : Mark::Kind::open;
  return {at + 1, kind, name};
}

// {{…}} with anything, {…} and ${…} with a name, an index or a format.
std::size_t match_braces(std::string_view text) {
  if (text.starts_with("{{")) {
    const auto end = text.find_first_of("{}", 2);
    return end != std::string_view::npos && text.substr(end).starts_with("}}") ? end + 2 : 0;
  }
  const std::size_t begin = text.starts_with("${") ? 2 : text.starts_with("{") ? 1 : 0;
  if (begin == 0) return 0;
  const auto end = run(text, begin, [](char c) {
    return is_word_byte(c) ||
           std::string_view(".,:#!@+-*/%<>=^[]?").find(c) != std::string_view::npos;
  });
  return end < text.size() && text[end] == '}' ? end + 1 : 0;
}

// %s, %5.2f, %1$d, %(name)s, %@, %%.
std::size_t match_percent(std::string_view text, Ahead& ahead) {
  if (text.starts_with("%%")) return 2;
  std::size_t at = 1;
  if (text.substr(1).starts_with('(')) {
    const auto end = ahead.parenthesis.in(
        text, [](std::string_view rest) { return std::min(rest.find(')'), rest.size()); });
    if (end == text.size()) return 0;
    at = end + 1;
  } else if (const auto end = run(text, 1, is_digit_byte); text.substr(end).starts_with('$')) {
    at = end + 1;
  }
  at = run(text, at, [](char c) { return c == '-' || c == '+' || c == '#' || c == '0'; });
  at = run(text, at, is_digit_byte);
  if (text.substr(at).starts_with('.')) at = run(text, at + 1, is_digit_byte);
  at = run(text, at, [](char c) { return c == 'h' || c == 'l' || c == 'z' || c == 'j'; });
  if (at >= text.size() ||
      std::string_view("sdiufFeEgGxXocp@").find(text[at]) == std::string_view::npos) {
    return 0;
  }
  return is_letter(character_at(text, at + 1)) ? 0 : at + 1;
}

std::size_t match_placeholder(std::string_view text, char32_t before, Ahead& ahead) {
  const auto braces = match_braces(text);
  if (braces > 0) return braces;
  if (text[0] == '%') return is_number(before) ? 0 : match_percent(text, ahead);
  if (text[0] != '$' || text.size() < 2 || !is_digit_byte(text[1]) || text[1] == '0') return 0;
  // No amount of money.
  const auto rest = text.substr(2);
  const bool is_amount =
      !rest.empty() && (is_digit_byte(rest[0]) || ((rest[0] == '.' || rest[0] == ',') &&
                                                   rest.size() > 1 && is_digit_byte(rest[1])));
  return is_amount ? 0 : 2;
}

std::size_t match_email(std::string_view text) {
  const auto at = run(text, 0, [](char c) {
    return is_word_byte(c) || std::string_view(".%+-").find(c) != std::string_view::npos;
  });
  if (at == 0 || at >= text.size() || text[at] != '@') return 0;
  auto end = run(text, at + 1, [](char c) { return is_word_byte(c) || c == '.' || c == '-'; });
  while (end > at && !is_word_byte(text[end - 1])) --end;
  const auto domain = text.substr(at + 1, end - at - 1);
  const auto dot = domain.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return 0;
  const auto last = domain.substr(dot + 1);
  return last.size() >= 2 && std::ranges::all_of(last, is_letter_byte) ? end : 0;
}

// A scheme with ://, or www., and what follows but marks of the sentence at its end. The end of a
// scheme begins no URL if a longer scheme with this end began none.
std::size_t match_url(std::string_view text, Ahead& ahead) {
  const bool is_end_of_scheme = ahead.scheme_end.is_ahead_of(text);
  const auto scheme = ahead.scheme_end.in(text, [](std::string_view rest) {
    return run(rest, 0, [](char c) { return is_letter_byte(c) || is_digit_byte(c) || c == '+'; });
  });
  std::size_t begin = 0;
  if (!is_end_of_scheme && scheme > 1 && text.substr(scheme).starts_with("://")) begin = scheme + 3;
  if (lower_ascii(text.substr(0, 4)) == "www.") begin = 4;
  if (begin == 0) return 0;
  auto end = begin;
  while (end < text.size()) {
    const auto c = character_at(text, end);
    const bool is_part = c < 0x80 ? c > ' ' && std::u32string_view(U"<>\"\\^`{}|\x7f").find(c) ==
                                                   std::u32string_view::npos
                                  : is_letter_or_number(c) && !is_unspaced(c);
    if (!is_part) break;
    end += encode_utf8({&c, 1}).size();
  }
  const auto url = text.substr(0, end);
  auto unbalanced = std::ranges::count(url, ')') - std::ranges::count(url, '(');
  for (; end > begin; --end) {
    const char c = text[end - 1];
    if (c == ')' && unbalanced > 0) {
      --unbalanced;
    } else if (std::string_view(".,;:!?'*").find(c) == std::string_view::npos) {
      return end;
    }
  }
  return 0;
}

// Digits, also with marks between them.
std::size_t end_of_digits(std::string_view text) {
  for (std::size_t at = 0;; ++at) {
    at = run(text, at, is_digit_byte);
    const bool goes_on = at + 1 < text.size() &&
                         std::string_view(".,:/'").find(text[at]) != std::string_view::npos &&
                         is_digit_byte(text[at + 1]);
    if (!goes_on) return at;
  }
}

std::size_t match_number(std::string_view text, char32_t before, Ahead& ahead) {
  const std::size_t begin = (text[0] == '-' || text[0] == '+') && is_space(before) ? 1 : 0;
  if (begin >= text.size() || !is_digit_byte(text[begin])) return 0;
  const auto end = begin + ahead.number_end.in(text.substr(begin), end_of_digits);
  const auto after = character_at(text, end);
  return is_letter(after) && !is_unspaced(after) ? 0 : end;
}

std::size_t match_text(std::string_view text, char32_t before, const MarkupKinds& kinds,
                       Ahead& ahead) {
  if (kinds.placeholders) {
    if (const auto size = match_placeholder(text, before, ahead); size > 0) return size;
  }
  const bool begins_word = !is_inside_word(before) && before != '_';
  if (kinds.urls && begins_word) {
    if (const auto size = match_url(text, ahead); size > 0) return size;
    // Not from the middle of an address.
    if (before != '.' && before != '-' && before != '+' && before != '@' && before != '%') {
      if (const auto size = match_email(text); size > 0) return size;
    }
  }
  const bool joins_number = before == '.' || before == ',' || before == '-';
  return kinds.numbers && begins_word && !joins_number ? match_number(text, before, ahead) : 0;
}

}  // namespace

MarkupKinds markup_kinds(bool markup, const std::vector<std::string>& keep) {
  MarkupKinds kinds{.tags = markup, .placeholders = markup};
  for (const auto& name : keep) {
    bool* const kind = name == "urls"           ? &kinds.urls
                       : name == "numbers"      ? &kinds.numbers
                       : name == "placeholders" ? &kinds.placeholders
                                                : nullptr;
    if (kind == nullptr) {
      throw ConfigError("keep: found {}, expected urls, numbers or placeholders", excerpt(name));
    }
    *kind = true;
  }
  return kinds;
}

char32_t character_at(std::string_view text, std::size_t at) {
  return at < text.size() ? decode_utf8(code_point_at(text, at)).front() : U' ';
}
char32_t character_before(std::string_view text, std::size_t at) {
  return at > 0 ? character_at(text, previous_code_point(text, at)) : U' ';
}

bool is_letter_or_number(char32_t c) {
  return is_inside_word(c) || is_unspaced(c);
}
bool is_closing_mark(char32_t c) {
  return std::u32string_view(U".,;:!?)]}»”’…%。，、；：！？）」』").find(c) !=
         std::u32string_view::npos;
}

std::string escape_html(std::string_view text) {
  return replace_all(replace_all(replace_all(text, "&", "&amp;"), "<", "&lt;"), ">", "&gt;");
}

void take_out(std::string_view text, const MarkupKinds& kinds,
              const std::vector<std::string>& symbols, bool is_html, MarkedLineBuilder& line) {
  Ahead ahead;
  std::size_t begin = 0;  // of the text before the next mark
  for (std::size_t at = 0; at < text.size();) {
    const auto rest = text.substr(at);
    const bool is_symbol = std::ranges::any_of(
        symbols, [&](const auto& symbol) { return !symbol.empty() && rest.starts_with(symbol); });
    const auto tag =
        kinds.tags && !is_symbol && rest[0] == '<' ? match_tag(rest, ahead) : FoundTag{};
    const auto size = tag.size > 0 ? tag.size
                      : is_symbol || !begins_code_point(text, at)
                          ? 0
                          : match_text(rest, character_before(text, at), kinds, ahead);
    if (size == 0) {
      ++at;
      continue;
    }
    line.add_text(text.substr(begin, at - begin));
    const auto bytes = rest.substr(0, size);
    if (tag.size > 0) {
      line.add_mark(tag.kind, bytes, tag.name);
    } else {
      line.add_mark(Mark::Kind::text, is_html ? escape_html(bytes) : std::string(bytes));
    }
    begin = at += size;
  }
  line.add_text(text.substr(begin));
}

MarkedLine take_out(std::string_view line, const MarkupKinds& kinds,
                    const std::vector<std::string>& symbols) {
  MarkedLineBuilder builder;
  take_out(line, kinds, symbols, /*is_html=*/false, builder);
  return builder.finish();
}

void MarkedLineBuilder::add_mark(Mark::Kind kind, std::string_view bytes, std::string_view name) {
  const bool follows = !marks_.empty() && marks_.back().at == text_.size();
  marks_.push_back(
      {.kind = kind, .bytes = std::string(bytes), .at = text_.size(), .follows_mark = follows});
  names_.push_back(lower_ascii(name));
}

// An end tag belongs to the last start tag of its name that is open. Those opened after it have no
// partner.
void MarkedLineBuilder::pair_tags() {
  if (marks_.size() > most_marks) {
    for (auto& mark : marks_) {
      if (mark.kind != Mark::Kind::text) mark.kind = Mark::Kind::single;
    }
  }
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    if (marks_[i].kind == Mark::Kind::open) open.push_back(i);
    if (marks_[i].kind != Mark::Kind::close) continue;
    const auto found = std::ranges::find_if(open.rbegin(), open.rend(),
                                            [&](std::size_t o) { return names_[o] == names_[i]; });
    if (found == open.rend()) {
      marks_[i].kind = Mark::Kind::single;
      continue;
    }
    while (names_[open.back()] != names_[i]) {
      marks_[open.back()].kind = Mark::Kind::single;
      open.pop_back();
    }
    marks_[i].partner = open.back();
    marks_[open.back()].partner = i;
    open.pop_back();
  }
  for (const auto i : open) marks_[i].kind = Mark::Kind::single;
}

MarkedLine MarkedLineBuilder::finish() {
  pair_tags();
  MarkedLine line;
  std::size_t copied = 0;  // of text_
  for (auto& mark : marks_) {
    const auto at = mark.at;
    mark.before = character_before(text_, at);
    mark.after = character_at(text_, at);
    if (at > copied) line.text += text_.substr(copied, at - copied);
    copied = std::max(copied, at);
    const bool space_before = line.text.empty() || is_space_byte(line.text.back());
    const bool space_after = copied == text_.size() || is_space_byte(text_[copied]);
    if (space_before && space_after) {
      if (copied < text_.size()) {
        ++copied;
      } else if (!line.text.empty()) {
        line.text.pop_back();
      }
    } else if (mark.kind == Mark::Kind::text && space_before && is_closing_mark(mark.after) &&
               !line.text.empty()) {
      line.text.pop_back();
    } else if (mark.kind == Mark::Kind::single && !space_before && is_inside_word(mark.after) &&
               (is_inside_word(mark.before) || is_closing_mark(mark.before))) {
      line.text += ' ';
    }
    mark.at = line.text.size();
  }
  if (copied < text_.size()) line.text += text_.substr(copied);
  for (auto& mark : marks_) mark.at = std::min(mark.at, line.text.size());
  line.marks = std::move(marks_);
  return line;
}

}  // namespace regard
