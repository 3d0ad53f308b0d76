// Generates random sentences.
//
// The French is a function of the English: "you" is always plural "vous", "they" is "ils", "it" is
// "il" or "le", "I" is a man; an English verb with a frame has one French verb; verbs whose past
// equals their present ("read", "cut") use the perfect.
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

  // Returns a sentence of usually one clause: a statement, a question, "there is", "this is", "she
  // says that …".
  Sentence sentence();
  // Returns a sentence of several clauses with at least `words` English words.
  Sentence long_sentence(std::size_t words);

 private:
  enum class Role { subject, object, other };
  struct Setting {
    Era era;
    bool nested = false;       // in a relative clause: no nested one, no adverb of time
    bool progressive = false;  // after "while"
    bool question = false;
  };

  bool chance(int percent) { return static_cast<int>(random_.below(100)) < percent; }
  // Returns a random row that fits, with equal probability. Throws std::logic_error if none does.
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
  // Returns a clause about spec.subject with this verb. `kinds` are those of the subject.
  Phrase predicate_clause(const Verb& verb, ClauseSpec spec, unsigned kinds, const Setting& setting,
                          Draft& draft);
  Phrase reported_speech(const Setting& setting, Draft& draft);
  Phrase question(Era era, Draft& draft);
  Phrase presentation(Era era, Draft& draft);
  Phrase conjoined_clause(const Setting& setting, Draft& draft);

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
  // Chooses the tense, and possibly negation, a modal verb or an adverb such as "often".
  void choose_verb_form(ClauseSpec& spec, const Setting& setting);
  Phrase location(const Setting& setting, Draft& draft);
  Phrase adverbs(const ClauseSpec& spec, const Setting& setting, Draft& draft);
  Era era();

  Random& random_;
};

}  // namespace regard::corpus
