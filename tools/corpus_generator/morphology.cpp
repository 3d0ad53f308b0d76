#include "morphology.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace regard::corpus {
namespace {

bool ends_with(std::string_view word, std::string_view end) {
  return word.size() >= end.size() && word.substr(word.size() - end.size()) == end;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Returns the row of a table of forms: 0 je, 1 tu, 2 il, 3 nous, 4 vous, 5 ils.
int row(const Agreement& subject) {
  return subject.person - 1 + (subject.plural ? 3 : 0);
}

std::string without_end(const std::string& word, std::size_t letters) {
  return word.substr(0, word.size() - letters);
}

std::string present(const Verb& verb, int row) {
  std::string irregular = form(verb.present, row);
  if (!irregular.empty()) return irregular;
  static constexpr std::array endings{"e", "es", "e", "ons", "ez", "ent"};
  std::string stem = without_end(verb.fr, 2);
  if (row == 3 && stem.back() == 'g') stem += 'e';  // nous mangeons
  return stem + endings[static_cast<std::size_t>(row)];
}

std::string imperfect(const Verb& verb, int row) {
  static constexpr std::array endings{"ais", "ais", "ait", "ions", "iez", "aient"};
  const std::string ending = endings[static_cast<std::size_t>(row)];
  if (verb.fr == std::string_view("être")) return "ét" + ending;
  std::string stem = without_end(present(verb, 3), 3);
  if (ending[0] == 'i' && ends_with(stem, "ge")) stem.pop_back();  // nous mangions
  return stem + ending;
}

std::string future(const Verb& verb, int row) {
  static constexpr std::array endings{"ai", "as", "a", "ons", "ez", "ont"};
  std::string stem = verb.future;
  if (stem.empty()) stem = ends_with(verb.fr, "e") ? without_end(verb.fr, 1) : verb.fr;
  return stem + endings[static_cast<std::size_t>(row)];
}

// True if `word` loses its vowel before a vowel sound. "la" does as an article and as a pronoun.
bool elides(std::string_view word, std::string_view next) {
  if (is_one_of(word, {"le", "la", "de", "ne", "que", "je", "me", "te", "se"})) return true;
  if (word == "si") return is_one_of(next, {"il", "ils"});
  return word == "ce" && is_one_of(next, {"est", "était"});
}

// Returns "au" for "à le", "des" for "de les", and "" for a pair that does not contract.
std::string contraction(std::string_view preposition, std::string_view article) {
  if (preposition == "à") return article == "le" ? "au" : article == "les" ? "aux" : "";
  if (preposition == "de") return article == "le" ? "du" : article == "les" ? "des" : "";
  return "";
}

void merge(Tokens& tokens, std::size_t first, std::string text) {
  Token& token = tokens[first];
  const Token& second = tokens[first + 1];
  token.text = std::move(text);
  token.article = false;
  token.meanings.insert(token.meanings.end(), second.meanings.begin(), second.meanings.end());
  tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(first) + 1);
}

bool third_singular(const Agreement& subject) {
  return subject.person == 3 && !subject.plural;
}

std::string be(bool past, const Agreement& subject) {
  if (subject.plural || subject.person == 2) return past ? "were" : "are";
  if (past) return "was";
  return subject.person == 1 ? "am" : "is";
}

}  // namespace

bool starts_with_vowel_sound(std::string_view word) {
  for (const std::string_view stem : aspirated_stems())
    if (word.substr(0, stem.size()) == stem) return false;
  for (const std::string_view letter :
       {"a", "e", "i", "o", "u", "h", "à", "â", "é", "è", "ê", "î", "ô", "œ", "A", "E", "I", "O"})
    if (word.substr(0, letter.size()) == letter) return true;
  return word == "y";
}

std::string conjugate(const Verb& verb, Tense tense, const Agreement& subject) {
  const int r = row(subject);
  if (tense == Tense::present) return present(verb, r);
  if (tense == Tense::imperfect) return imperfect(verb, r);
  if (tense == Tense::future) return future(verb, r);
  return present(corpus::verb(verb.auxiliary == Auxiliary::avoir ? "have" : "be"), r);
}

std::string participle(const Verb& verb, const Agreement& with) {
  std::string word = verb.participle;
  if (word.empty()) word = without_end(verb.fr, 2) + "é";
  if (with.feminine) word += "e";
  if (with.plural && word.back() != 's') word += "s";
  return word;
}

std::string reflexive_pronoun(const Agreement& subject) {
  if (subject.person == 3) return "se";
  if (subject.person == 1) return subject.plural ? "nous" : "me";
  return subject.plural ? "vous" : "te";
}

std::string agree(const Adjective& adjective, const Agreement& with, std::string_view next) {
  const bool masculine_singular = !with.feminine && !with.plural;
  std::string before_vowel = form(adjective.fr, 4);
  if (masculine_singular && !before_vowel.empty() && starts_with_vowel_sound(next))
    return before_vowel;
  return form(adjective.fr, (with.feminine ? 1 : 0) + (with.plural ? 2 : 0));
}

std::string agree(const Determiner& determiner, const Agreement& with, std::string_view next) {
  if (with.plural) return form(determiner.fr, 2);
  const int gender = with.feminine ? 1 : 0;
  std::string before_vowel = form(determiner.fr, 3 + gender);
  if (!before_vowel.empty() && starts_with_vowel_sound(next)) return before_vowel;
  return form(determiner.fr, gender);
}

Tokens contract(Tokens tokens) {
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    const Token& article = tokens[i + 1];
    const bool elided = article.text == "le" && starts_with_vowel_sound(tokens[i + 2].text);
    if (!article.article || elided) continue;
    std::string joined = contraction(tokens[i].text, article.text);
    if (!joined.empty()) merge(tokens, i, std::move(joined));
  }
  for (std::size_t i = tokens.size(); i-- > 1;) {
    Token& first = tokens[i - 1];
    const std::string next = tokens[i].text;
    if (!elides(first.text, next) || !starts_with_vowel_sound(next)) continue;
    first.text.pop_back();
    merge(tokens, i - 1, first.text + "'" + next);
  }
  return tokens;
}

VerbGroup conjugate_english(const Verb& verb, Time time, const Agreement& subject,
                            bool needs_auxiliary) {
  const std::string base = form(verb.en, 0);
  const bool third = third_singular(subject);
  const bool never_with_do =
      verb.frame == Frame::copula || (verb.frame == Frame::modal && verb.en_preposition[0] == 0);
  switch (time) {
    case Time::present:
      if (verb.frame == Frame::copula) return {{be(false, subject)}, ""};
      if (never_with_do) return {{base}, ""};
      if (needs_auxiliary) return {{third ? "does" : "do"}, base};
      return {{}, form(verb.en, third ? 1 : 0)};
    case Time::past:
      if (verb.frame == Frame::copula) return {{be(true, subject)}, ""};
      if (never_with_do) return {{form(verb.en, 3)}, ""};
      if (needs_auxiliary) return {{"did"}, base};
      return {{}, form(verb.en, 3)};
    case Time::progressive:
      return {{be(false, subject)}, form(verb.en, 2)};
    case Time::past_progressive:
      return {{be(true, subject)}, form(verb.en, 2)};
    case Time::perfect:
      return {{third ? "has" : "have"}, form(verb.en, 4)};
    case Time::future:
      return {{"will"}, base};
    case Time::going:
      return {{be(false, subject), "going", "to"}, base};
  }
  return {};
}

std::string indefinite_article(std::string_view next) {
  if (next.substr(0, 6) == "honest") return "an";
  return std::string_view("aeiouAEIO").find(next.at(0)) != std::string_view::npos ? "an" : "a";
}

}  // namespace regard::corpus
