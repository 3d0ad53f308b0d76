// Clauses: a subject, a verb with auxiliaries, negation and pronouns, and complements.
#pragma once

#include <optional>

#include "noun_phrase.h"

namespace regard::corpus {

enum class Polarity { positive, negated, never };

struct ClauseSpec {
  NounPhrase subject;
  const Verb* verb;
  Time time = Time::present;
  Polarity polarity = Polarity::positive;
  const Verb* modal = nullptr;  // "wants to": carries the tense; the verb is an infinitive
  const Expression* frequency = nullptr;      // "often"
  bool question = false;                      // "est-ce que"; the caller adds where, why, when
  std::optional<NounPhrase> object = {};      // noun phrases are complete, pronouns become clitics
  std::optional<NounPhrase> recipient = {};   // the person of a giving verb
  std::optional<NounPhrase> antecedent = {};  // of a relative clause "that …" → "que …"
  Phrase tail = {};  // the rest of the clause, in the same order in both languages
};

// Returns the French tense: imparfait for a past state, passé composé for other past verbs.
Tense french_tense(Time time, Aspect aspect);

Phrase clause(const ClauseSpec& spec, Draft& draft);

// Returns the predicate of "be": "very happy" → "très heureuse".
Phrase predicate(const Adjective& adjective, bool very, const NounPhrase& subject, Draft& draft);

}  // namespace regard::corpus
