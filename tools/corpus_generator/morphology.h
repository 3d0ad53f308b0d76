// Morphology. French: agreement, conjugation, contraction and elision. English: the verb group and
// the indefinite article.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "phrase.h"

namespace regard::corpus {

struct Agreement {
  int person = 3;
  bool plural = false;
  bool feminine = false;
};

enum class Tense { present, imperfect, future, perfect };  // perfect is the passé composé

// True if the word before this one elides: it starts with a vowel or a mute h (not "hibou",
// "huit").
bool starts_with_vowel_sound(std::string_view word);

// Returns the finite form in a simple tense, "regardent", or that of the auxiliary of the perfect,
// "ont".
std::string conjugate(const Verb& verb, Tense tense, const Agreement& subject);
// Returns the past participle in agreement with a noun: "regardées".
std::string participle(const Verb& verb, const Agreement& with);
// Returns the pronoun of a reflexive verb: "me", "se", "nous", "vous".
std::string reflexive_pronoun(const Agreement& subject);

// Returns the form of an adjective. `next` is the French word after it, or "": "bel" before
// "arbre".
std::string agree(const Adjective& adjective, const Agreement& with, std::string_view next);
// Returns the form of a determiner before `next`: "mon" before "amie", "cet" before "homme". Does
// not elide le and la; see contract().
std::string agree(const Determiner& determiner, const Agreement& with, std::string_view next);

// Applies contraction and elision: "de le chat" → "du chat", "le homme" → "l'homme", "ne y" →
// "n'y", "que elle" → "qu'elle". A merged token has the meanings of its parts.
Tokens contract(Tokens tokens);

// The tenses of English; french_tense() maps them to French.
enum class Time { present, progressive, past, past_progressive, perfect, future, going };

struct VerbGroup {
  std::vector<std::string> auxiliaries;  // the first one takes "not" and moves in questions
  std::string main;                      // empty if there is only an auxiliary: "is", "can"
};

// Returns "watches"; {are} watching; {have} watched; {will} watch; {are, going, to} watch. With
// `needs_auxiliary`, for "not" and questions: {does} watch.
VerbGroup conjugate_english(const Verb& verb, Time time, const Agreement& subject,
                            bool needs_auxiliary);

// Returns "a" or "an", depending on the next word.
std::string indefinite_article(std::string_view next);

}  // namespace regard::corpus
