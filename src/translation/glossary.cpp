#include "translation/glossary.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/strings.h"
#include "data/line_reader.h"
#include "text/unicode.h"
#include "text/unspaced_script.h"

namespace regard {
namespace {

constexpr std::u32string_view sentence_end_marks = U".!?…。！？؟।";

// Returns the words of a text with one space between them.
std::u32string with_single_spaces(std::string_view text) {
  const auto characters = decode_utf8(text);
  std::u32string result;
  for (const auto word : split_words(characters)) {
    if (!result.empty()) result += ' ';
    result += word;
  }
  return result;
}

}  // namespace

std::vector<GlossaryEntry> read_glossary(const std::string& path) {
  LineReader reader(path);
  std::vector<GlossaryEntry> entries;
  for (std::string line; reader.next(line);) {
    if (is_blank(line)) continue;
    const auto columns = split(line, '\t');
    const auto place = fmt::format("{}:{}", path, reader.line_number());
    if (columns.size() < 2 || columns.size() > 3) {
      throw InputError(
          "{}: found {} in `{}`, expected a source term, a tab and its translation, and after "
          "another tab a note, if there is one",
          place, counted(columns.size(), "column"), excerpt(line));
    }
    entries.push_back({std::string(columns[0]), {}, place});
    for (const auto target : split(columns[1], '|')) {
      entries.back().targets.emplace_back(target);
    }
  }
  return entries;
}

Glossary::Glossary(const std::vector<GlossaryEntry>& entries, PhraseEncoder phrases,
                   const std::vector<std::string>& user_symbols)
    : phrases_(std::move(phrases)) {
  for (const auto& symbol : user_symbols) user_symbols_.push_back(decode_utf8(symbol) + U" ");
  std::map<std::u32string, std::vector<std::string>> targets;
  for (const auto& entry : entries) {
    const auto source = with_single_spaces(entry.source);
    if (source.empty())
      throw InputError("{}: found an empty source term, expected words", entry.place);
    if (entry.targets.empty()) {
      throw InputError("{}: found no translation of `{}`, expected one or more", entry.place,
                       excerpt(entry.source));
    }
    for (const auto& target : entry.targets) {
      if (is_blank(target)) {
        throw InputError("{}: found an empty translation of `{}`, expected words", entry.place,
                         excerpt(entry.source));
      }
      static_cast<void>(phrases_.tokens(target, entry.place, "the glossary"));
      auto& known = targets[source];
      if (std::ranges::count(known, target) == 0) known.push_back(target);
    }
  }
  for (auto& [source, forms] : targets) terms_.push_back({source, std::move(forms)});
}

// Returns the longest term at the beginning of the text, with `first` as its first character; null
// if there is none.
const Glossary::Term* Glossary::longest_at(std::u32string_view text, char32_t first) const {
  const Term* found = nullptr;
  auto begin = terms_.begin();
  auto end = terms_.end();  // of the terms that begin with the n characters
  for (std::size_t n = 0; n < text.size() && begin != end; ++n) {
    const auto next = [n](const Term& term) {
      return n < term.source.size() ? term.source[n] : char32_t{0};
    };
    const auto c = n == 0 ? first : text[n];
    begin = std::ranges::lower_bound(begin, end, c, {}, next);
    end = std::ranges::upper_bound(begin, end, c, {}, next);
    const bool is_term = begin != end && begin->source.size() == n + 1;
    if (is_term && (n + 1 == text.size() || is_word_boundary(text[n], text[n + 1]))) {
      found = &*begin;
    }
  }
  return found;
}

std::vector<Glossary::Match> Glossary::find(std::string_view sentence) const {
  const auto characters = with_single_spaces(sentence);
  std::u32string_view text = characters;
  const auto begins_with = [&](const std::u32string& symbol) { return text.starts_with(symbol); };
  for (auto tag = user_symbols_.begin();
       (tag = std::ranges::find_if(user_symbols_, begins_with)) != user_symbols_.end();) {
    text.remove_prefix(tag->size());
  }
  std::vector<Match> matches;
  bool begins_sentence = true;
  char32_t before = ' ';
  while (!text.empty()) {
    const auto c = text.front();
    const Term* term = nullptr;
    bool has_capital = false;
    if (is_word_boundary(before, c)) {
      term = longest_at(text, c);
      const auto small = to_lower({&c, 1});
      if (begins_sentence && small.size() == 1 && small[0] != c) {
        const auto* other = longest_at(text, small[0]);
        has_capital =
            other != nullptr && (term == nullptr || other->source.size() > term->source.size());
        if (has_capital) term = other;
      }
    }
    const auto length = term == nullptr ? 1 : term->source.size();
    if (term != nullptr) {
      matches.push_back({static_cast<std::size_t>(term - terms_.data()), has_capital});
    }
    before = text[length - 1];
    if (is_letter(before) || is_number(before)) begins_sentence = false;
    if (sentence_end_marks.find(before) != sentence_end_marks.npos) begins_sentence = true;
    text.remove_prefix(length);
  }
  return matches;
}

TokenPattern Glossary::phrase(const Match& match) const {
  std::vector<TokenPattern> forms;
  for (const auto& target : terms_[match.term].targets) {
    forms.push_back(phrases_.pattern(*phrases_.known_tokens(target)));
    if (!match.has_capital) continue;
    const auto capital = encode_utf8(capitalised(decode_utf8(target)));
    const auto tokens = phrases_.known_tokens(capital);
    if (capital != target && tokens) forms.push_back(phrases_.pattern(*tokens));
  }
  return TokenPattern::any_of(std::move(forms));
}

std::int64_t Glossary::longest(const std::vector<Match>& matches) const {
  std::int64_t tokens = 0;
  for (const auto& match : matches) {
    std::int64_t longest = 0;
    for (const auto& target : terms_[match.term].targets) {
      longest = std::max(longest, std::ssize(*phrases_.known_tokens(target)));
    }
    tokens += longest;
  }
  return tokens;
}

}  // namespace regard
