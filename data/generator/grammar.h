// Draws random sentences: which words, which constructions, how often.
//
// Every choice is made so that the French follows from the English alone: "you" is always plural
// "vous", "they" is "ils", "it" is "il" or "le", "I" is a man; one English verb and frame has one
// French verb; verbs whose past looks like their present ("read", "cut") use the perfect.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "base/random.h"
#include "clause.h"

namespace regard::corpus {

class Grammar {
 public:
  explicit Grammar(Random& random) : random_(random) {}

  // Mostly one clause: a statement, a question, "there is", "this is", "she says that …".
  Sentence sentence();
  // Clauses strung together until the English has at least `words` words.
  Sentence long_sentence(std::size_t words);

 private:
  enum class Role { subject, object, other };
  struct Setting {
    Era era;
    bool nested = false;       // inside a relative clause: no further one, no adverb of time
    bool progressive = false;  // after "while"
    bool question = false;
  };

  bool chance(int percent) { return static_cast<int>(random_.below(100)) < percent; }
  // One of the rows that fit, each as likely. At least one must.
  template <typename Row, typename Fits>
  const Row& pick(std::span<const Row> rows, Fits fits) {
    std::vector<const Row*> fitting;
    for (const Row& row : rows)
      if (fits(row)) fitting.push_back(&row);
    if (fitting.empty()) throw std::logic_error("grammar: no row of the lexicon fits");
    return *fitting.at(random_.below(fitting.size()));
  }
  template <typename Row, typename Fits>
  static bool any(std::span<const Row> rows, Fits fits) {
    return std::any_of(rows.begin(), rows.end(), fits);
  }
  template <typename Row>
  const Row& pick(std::span<const Row> rows) {
    return rows[random_.below(rows.size())];
  }

  Phrase statement(const Setting& setting, Draft& draft);
  // What is said about spec.subject, with this verb. `kinds` of the subject choose an adjective.
  Phrase predicated(const Verb& verb, ClauseSpec spec, unsigned kinds, const Setting& setting,
                    Draft& draft);
  Phrase saying(const Setting& setting, Draft& draft);
  Phrase question(Era era, Draft& draft);
  Phrase presentation(Era era, Draft& draft);
  Phrase joined(const Setting& setting, Draft& draft);

  NounPhrase subject(unsigned kinds, const Setting& setting, Draft& draft);
  NounPhrase nominal(unsigned kinds, Role role, bool negated, const Setting& setting, Draft& draft);
  NounPhrase object(const Verb& verb, const ClauseSpec& spec, const Setting& setting, Draft& draft);
  NounPhrase recipient(const ClauseSpec& spec, const Setting& setting, Draft& draft);
  const Pronoun* object_pronoun(unsigned kinds, const NounPhrase& subject, bool third_only);
  void relative(NounPhrase& antecedent, const Noun& noun, const Setting& setting, Draft& draft);
  void possessor(NounPhrase& possessed, const Setting& setting, Draft& draft);
  NounSpec noun_spec(unsigned kinds, bool negated);
  const Determiner& choose_determiner(unsigned number);

  Time time_of(const Verb& verb, const Setting& setting);
  void shade(ClauseSpec& spec, const Setting& setting);  // negation, modal, "often"
  Phrase location(const Setting& setting, Draft& draft);
  Phrase adverbs(const ClauseSpec& spec, const Setting& setting, Draft& draft);
  Era era();

  Random& random_;
};

}  // namespace regard::corpus
