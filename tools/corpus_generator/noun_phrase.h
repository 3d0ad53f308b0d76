// Noun phrases: determiner, adjectives and noun; names; pronouns; coordinations.
#pragma once

#include <string>
#include <vector>

#include "morphology.h"

namespace regard::corpus {

struct NounPhrase {
  Phrase words;  // subject forms for a pronoun
  Agreement agreement;
  std::vector<std::string> heads;  // English nouns; none for names and pronouns
  const Pronoun* pronoun = nullptr;
};

struct NounSpec {
  const Determiner* determiner;
  std::vector<const Adjective*> adjectives;  // those before the noun in French come first
  const Noun* noun;
  bool plural = false;
  bool negated = false;  // the object of a negated verb: "a", "some" → "de"
};

NounPhrase noun_phrase(const NounSpec& spec, Draft& draft);
NounPhrase noun_phrase(const Pronoun& pronoun, Draft& draft);
NounPhrase noun_phrase(const Name& name, Draft& draft);
// Returns "the man and the woman": plural, feminine if both are.
NounPhrase coordinate(NounPhrase first, const NounPhrase& second, Draft& draft);
// Returns "who" or "that" → "qui" as the subject of a relative clause, with the agreement of its
// antecedent.
NounPhrase relative_subject(const NounPhrase& antecedent, bool is_person, Draft& draft);

}  // namespace regard::corpus
