// The English verb group.
#pragma once

#include <string>
#include <vector>

#include "french.h"

namespace regard::corpus {

// What English tells apart; french_tense() says what becomes of it.
enum class Time { present, progressive, past, past_progressive, perfect, future, going };

struct VerbGroup {
  std::vector<std::string> auxiliaries;  // the first one takes "not" and moves in questions
  std::string main;                      // empty where the auxiliary is all: "is", "can"
};

// "watches"; {are} watching; {have} watched; {will} watch; {are, going, to} watch. With
// `needs_auxiliary`, for "not" and questions: {does} watch. `forms` as in Verb::en.
VerbGroup conjugate_english(const Verb& verb, Time time, const Agreement& subject,
                            bool needs_auxiliary);

// "a" or "an" before the word.
std::string indefinite_article(std::string_view next);

}  // namespace regard::corpus
