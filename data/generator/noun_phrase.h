// Noun phrases: determiner, adjectives and noun; names; pronouns; coordinations.
#pragma once

#include <string>
#include <vector>

#include "french.h"

namespace regard::corpus {

struct NounPhrase {
  Phrase words;  // for a pronoun its subject forms
  Agreement agreement;
  std::vector<std::string> heads;  // its English nouns; none for names and pronouns
  const Pronoun* pronoun = nullptr;
};

struct NounSpec {
  const Determiner* determiner;
  std::vector<const Adjective*> adjectives;  // those that French puts first come first
  const Noun* noun;
  bool plural = false;
  bool negated = false;  // the object of a negated verb: "a", "some" → "de"
};

NounPhrase noun_phrase(const NounSpec& spec, Draft& draft);
NounPhrase noun_phrase(const Pronoun& pronoun, Draft& draft);
NounPhrase noun_phrase(const Name& name, Draft& draft);
// "the man and the woman": plural, feminine where both are.
NounPhrase coordinate(NounPhrase first, const NounPhrase& second, Draft& draft);
// "who", "that" → "qui", agreeing with its antecedent, as the subject of a relative clause.
NounPhrase relative_subject(const NounPhrase& antecedent, bool is_person, Draft& draft);

}  // namespace regard::corpus
