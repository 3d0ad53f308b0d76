#include "english.h"

#include <string_view>

namespace regard::corpus {
namespace {

bool third_singular(const Agreement& subject) {
  return subject.person == 3 && !subject.plural;
}

std::string be(bool past, const Agreement& subject) {
  if (subject.plural || subject.person == 2) return past ? "were" : "are";
  if (past) return "was";
  return subject.person == 1 ? "am" : "is";
}

}  // namespace

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
