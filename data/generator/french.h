// French morphology: sounds, agreement, conjugation, contraction and elision.
#pragma once

#include <string>
#include <string_view>

#include "phrase.h"

namespace regard::corpus {

struct Agreement {
  int person = 3;
  bool plural = false;
  bool feminine = false;
};

enum class Tense { present, imperfect, future, perfect };  // perfect is the passé composé

// Whether the word makes the one before it elide: a vowel or a mute h (not "hibou", "huit").
bool starts_with_vowel_sound(std::string_view word);

// The finite form in a simple tense: "regardent". For the perfect, that of the auxiliary: "ont".
std::string conjugate(const Verb& verb, Tense tense, const Agreement& subject);
// The past participle agreeing with a noun: "regardées".
std::string participle(const Verb& verb, const Agreement& with);
// "me", "se", "nous", "vous" of a reflexive verb.
std::string reflexive_pronoun(const Agreement& subject);

// The adjective's form. `next` is the French word after it, "" at the end: "bel" before "arbre".
std::string agree(const Adjective& adjective, const Agreement& with, std::string_view next);
// The determiner's form before `next`: "mon" before "amie", "cet" before "homme".
// The articles le and la are left whole; contract() elides them.
std::string agree(const Determiner& determiner, const Agreement& with, std::string_view next);

// Joins what French joins: "de le chat" → "du chat", "le homme" → "l'homme",
// "ne y" → "n'y", "que elle" → "qu'elle". A joined token keeps the meanings of its parts.
Tokens contract(Tokens tokens);

}  // namespace regard::corpus
