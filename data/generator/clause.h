// Clauses: a subject, a verb with its auxiliaries, negation and pronouns, what follows it.
#pragma once

#include <optional>

#include "english.h"
#include "noun_phrase.h"

namespace regard::corpus {

enum class Polarity { positive, negated, never };

struct ClauseSpec {
  NounPhrase subject;
  const Verb* verb;
  Time time = Time::present;
  Polarity polarity = Polarity::positive;
  const Verb* modal = nullptr;                // "wants to": takes the time, the verb its infinitive
  const Expression* frequency = nullptr;      // "often"
  bool question = false;                      // "est-ce que"; the caller adds where, why, when
  std::optional<NounPhrase> object = {};      // noun phrases are complete, pronouns become clitics
  std::optional<NounPhrase> recipient = {};   // the person of a giving verb
  std::optional<NounPhrase> antecedent = {};  // the clause is "that … → que …" about this
  Phrase tail = {};                           // what follows in both languages alike
};

// The tense in French: a state in the past is imparfait, every other past act passé composé.
Tense french_tense(Time time, Aspect aspect);

Phrase clause(const ClauseSpec& spec, Draft& draft);

// The predicate of "be": "very happy" → "très heureuse"; `heads` are the subject's nouns.
Phrase predicate(const Adjective& adjective, bool very, const NounPhrase& subject, Draft& draft);

}  // namespace regard::corpus
