#include "translation/sentences.h"

#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/utext.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/strings.h"
#include "text/unicode.h"

namespace regard {
namespace {

void check_icu(UErrorCode code) {
  if (U_FAILURE(code)) throw EnvironmentError("ICU cannot find sentences: {}", u_errorName(code));
}

std::string_view without_spaces(std::string_view text) {
  const auto words = split_at_ascii_space(text);
  if (words.empty()) return {};
  const auto* end = words.back().data() + words.back().size();
  return {words.front().data(), static_cast<std::size_t>(end - words.front().data())};
}

// Titles and other abbreviations after which a sentence goes on, without their full stops.
constexpr std::array<std::string_view, 50> abbreviations = {
    "Abb",  "Abs",  "bzw", "ca",   "Capt", "Col",  "Dipl", "Dott", "Dr",  "Dra",
    "evtl", "Fig",  "Fr",  "Frl",  "Gen",  "ggf",  "Gov",  "Hon",  "Hr",  "Hrn",
    "Ing",  "inkl", "Jr",  "Lt",   "Me",   "Mgr",  "MM",   "Mlle", "Mme", "Mr",
    "Mrs",  "Ms",   "Mt",  "Nr",   "Pres", "Prof", "Rep",  "Rev",  "Sen", "Sgt",
    "Sig",  "Sr",   "Sra", "Sres", "Srta", "St",   "Ste",  "vgl",  "vs",  "zzgl"};
// Abbreviations only before a number.
constexpr std::array<std::string_view, 6> before_numbers = {"Art", "art", "No", "no", "p", "pp"};
// Languages that write ordinal numbers with a full stop.
constexpr std::array<std::string_view, 15> ordinal_languages = {
    "cs", "da", "de", "et", "fi", "hr", "hu", "is", "lv", "nb", "nn", "no", "sk", "sl", "sr"};

template <std::size_t n>
bool contains(const std::array<std::string_view, n>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// True if the full stop at the end of `sentence` is that of its last word. `rest` follows.
bool ends_in_abbreviation(std::string_view sentence, std::string_view rest, bool has_ordinals) {
  if (!sentence.ends_with('.') || rest.empty()) return false;
  sentence.remove_suffix(1);
  const auto words = split_at_ascii_space(sentence);
  if (words.empty() || words.back().end() != sentence.end()) return false;
  auto word = words.back();
  while (!word.empty() && std::string_view("([\"'").find(word.front()) != word.npos) {
    word.remove_prefix(1);
  }
  if (word.empty()) return false;
  if (std::ranges::all_of(word, is_digit_byte)) return has_ordinals && word.size() <= 2;
  if (contains(abbreviations, word)) return true;
  if (is_digit_byte(rest.front()) && contains(before_numbers, word)) return true;
  // Letters with full stops, and initials.
  std::size_t letters = 0;
  for (const auto part : split(word, '.')) {
    const auto characters = decode_utf8(part);
    if (characters.size() != 1 || !is_letter(characters[0])) return false;
    ++letters;
  }
  const auto first = decode_utf8(word).front();
  return letters > 1 || to_lower({&first, 1}) != std::u32string(1, first);
}

}  // namespace

struct SentenceSplitter::Rules {
  std::unique_ptr<icu::BreakIterator> boundaries;
};

SentenceSplitter::SentenceSplitter(const std::string& language)
    : rules_(new Rules),
      has_ordinals_(contains(ordinal_languages, std::string_view(language).substr(0, 2))) {
  auto code = U_ZERO_ERROR;
  const auto locale = icu::Locale::createCanonical(language.c_str());
  rules_->boundaries.reset(icu::BreakIterator::createSentenceInstance(locale, code));
  check_icu(code);
}

SentenceSplitter::~SentenceSplitter() = default;

std::vector<std::string_view> SentenceSplitter::split(std::string_view line) const {
  const std::unique_ptr<icu::BreakIterator> boundaries(rules_->boundaries->clone());
  auto code = U_ZERO_ERROR;
  UText* text = utext_openUTF8(nullptr, line.data(), static_cast<std::int64_t>(line.size()), &code);
  const std::unique_ptr<UText, UText* (*)(UText*)> owner(text, utext_close);
  check_icu(code);
  boundaries->setText(text, code);
  check_icu(code);
  std::vector<std::string_view> sentences;
  auto begin = static_cast<std::size_t>(boundaries->first());
  for (auto at = boundaries->next(); at != icu::BreakIterator::DONE; at = boundaries->next()) {
    const auto end = static_cast<std::size_t>(at);
    const auto sentence = without_spaces(line.substr(begin, end - begin));
    if (ends_in_abbreviation(sentence, line.substr(end), has_ordinals_)) continue;
    if (!sentence.empty()) sentences.push_back(sentence);
    begin = end;
  }
  return sentences;
}

}  // namespace regard
