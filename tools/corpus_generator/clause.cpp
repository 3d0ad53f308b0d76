#include "clause.h"

#include <string_view>

namespace regard::corpus {
namespace {

// The meaning numbers of the parts of a verb group.
struct Meanings {
  int verb, finite, negation, frequency, preposition;
};

Meanings meanings_of(const ClauseSpec& spec, Draft& draft) {
  Meanings m{};
  m.verb = draft.meaning();
  m.finite = spec.modal ? draft.meaning() : m.verb;
  m.negation = draft.meaning();
  m.frequency = draft.meaning();
  const bool both = spec.verb->en_preposition[0] != 0 && spec.verb->fr_preposition[0] != 0;
  m.preposition = both ? draft.meaning() : m.verb;
  return m;
}

Tokens english_verb(const ClauseSpec& spec, const Meanings& m, int question) {
  const bool needs_auxiliary = spec.question || spec.polarity == Polarity::negated;
  const Verb& finite = spec.modal ? *spec.modal : *spec.verb;
  const VerbGroup group =
      conjugate_english(finite, spec.time, spec.subject.agreement, needs_auxiliary);
  Tokens tokens;
  for (std::size_t i = 0; i < group.auxiliaries.size(); ++i) {
    Token auxiliary{group.auxiliaries[i], {m.finite}};
    if (i == 0 && spec.question) auxiliary.meanings.push_back(question);
    tokens.push_back(auxiliary);
    if (i > 0) continue;
    if (spec.question)
      tokens.insert(tokens.end(), spec.subject.words.en.begin(), spec.subject.words.en.end());
    if (spec.polarity == Polarity::negated) append(tokens, "not", m.negation);
  }
  if (spec.polarity == Polarity::never) append(tokens, "never", m.negation);
  if (spec.frequency) append(tokens, spec.frequency->en, m.frequency);
  append(tokens, group.main, m.finite);
  if (spec.modal) {
    append(tokens, spec.modal->en_preposition, m.finite);
    append(tokens, form(spec.verb->en, 0), m.verb);
  }
  return tokens;
}

void append_english(Tokens& tokens, const NounPhrase& argument) {
  if (argument.pronoun)
    append(tokens, form(argument.pronoun->en, 1), argument.words.en.front().meanings.front());
  else
    tokens.insert(tokens.end(), argument.words.en.begin(), argument.words.en.end());
}

bool has_dative(const Verb& verb) {
  return verb.frame == Frame::dative;
}

// Orders pronouns: me, te, se, nous, vous before le, la, les before lui, leur.
Tokens clitics(const ClauseSpec& spec, const Meanings& m, int to) {
  Tokens tokens;
  if (spec.verb->auxiliary == Auxiliary::reflexive)
    append(tokens, reflexive_pronoun(spec.subject.agreement), m.verb);
  if (spec.object && spec.object->pronoun) {
    Token token{form(spec.object->pronoun->fr, has_dative(*spec.verb) ? 2 : 1),
                spec.object->words.fr.front().meanings};
    if (has_dative(*spec.verb)) token.meanings.push_back(m.preposition);
    tokens.push_back(token);
  }
  if (spec.recipient && spec.recipient->pronoun) {
    Token token{form(spec.recipient->pronoun->fr, 2), spec.recipient->words.fr.front().meanings};
    token.meanings.push_back(to);
    const bool third = spec.recipient->pronoun->person == 3;
    tokens.insert(third ? tokens.end() : tokens.begin(), token);
  }
  return tokens;
}

// The participle agrees with the subject after être, and with a preceding direct object after
// avoir.
Agreement participle_agreement(const ClauseSpec& spec) {
  if (spec.verb->auxiliary != Auxiliary::avoir) return spec.subject.agreement;
  if (spec.antecedent) return spec.antecedent->agreement;
  if (spec.object && spec.object->pronoun && !has_dative(*spec.verb)) return spec.object->agreement;
  return {};
}

Tokens french_verb(const ClauseSpec& spec, const Meanings& m, int to) {
  const bool going = spec.time == Time::going;
  const bool infinitive = spec.modal || going;
  const Verb& finite = spec.modal ? *spec.modal : going ? verb("go") : *spec.verb;
  const Tense tense = going ? Tense::present : french_tense(spec.time, finite.aspect);
  const Tokens pronouns = clitics(spec, m, to);
  Tokens tokens;
  if (spec.polarity != Polarity::positive) append(tokens, "ne", m.negation);
  if (!infinitive) tokens.insert(tokens.end(), pronouns.begin(), pronouns.end());
  append(tokens, conjugate(finite, tense, spec.subject.agreement), m.finite);
  if (spec.polarity == Polarity::negated) append(tokens, "pas", m.negation);
  if (spec.polarity == Polarity::never) append(tokens, "jamais", m.negation);
  if (spec.frequency)
    append(tokens,
           form(spec.frequency->fr, 0).substr(0, std::string_view(spec.frequency->fr).find('/')),
           m.frequency);
  if (infinitive) {
    tokens.insert(tokens.end(), pronouns.begin(), pronouns.end());
    append(tokens, spec.verb->fr, m.verb);
  } else if (tense == Tense::perfect) {
    append(tokens, participle(*spec.verb, participle_agreement(spec)), m.verb);
  }
  return tokens;
}

// Returns the complements after the verb. In French, pronouns precede the verb and are omitted
// here.
Phrase complements(const ClauseSpec& spec, const Meanings& m, int to) {
  Phrase phrase;
  if (spec.object) {
    append(phrase.en, spec.verb->en_preposition, m.preposition);
    append_english(phrase.en, *spec.object);
    if (!spec.object->pronoun) {
      append(phrase.fr, spec.verb->fr_preposition, m.preposition);
      phrase.fr.insert(phrase.fr.end(), spec.object->words.fr.begin(), spec.object->words.fr.end());
    }
  }
  if (spec.recipient) {
    append(phrase.en, "to", to);
    append_english(phrase.en, *spec.recipient);
    if (!spec.recipient->pronoun) {
      append(phrase.fr, "à", to);
      phrase.fr.insert(phrase.fr.end(), spec.recipient->words.fr.begin(),
                       spec.recipient->words.fr.end());
    }
  }
  return phrase += spec.tail;
}

void add_combinations(const ClauseSpec& spec, Draft& draft) {
  if (spec.verb->frame == Frame::copula) return;
  const std::string base = form(spec.verb->en, 0);
  for (const std::string& head : spec.subject.heads) draft.combine("subject", head, base);
  if (spec.object)
    for (const std::string& head : spec.object->heads) draft.combine("object", base, head);
  if (spec.antecedent)
    for (const std::string& head : spec.antecedent->heads) draft.combine("object", base, head);
}

}  // namespace

Tense french_tense(Time time, Aspect aspect) {
  switch (time) {
    case Time::past:
      return aspect == Aspect::state ? Tense::imperfect : Tense::perfect;
    case Time::past_progressive:
      return Tense::imperfect;
    case Time::perfect:
      return Tense::perfect;
    case Time::future:
      return Tense::future;
    default:
      return Tense::present;
  }
}

Phrase clause(const ClauseSpec& spec, Draft& draft) {
  Phrase phrase;
  if (spec.antecedent) phrase = translate("that", "que", draft);
  const Meanings m = meanings_of(spec, draft);
  const int question = draft.meaning();
  const int to = draft.meaning();
  if (spec.question) {
    append(phrase.fr, "est-ce que", question);
    phrase.fr.insert(phrase.fr.end(), spec.subject.words.fr.begin(), spec.subject.words.fr.end());
  } else {
    phrase += spec.subject.words;
  }
  phrase += Phrase{english_verb(spec, m, question), french_verb(spec, m, to)};
  phrase += complements(spec, m, to);
  add_combinations(spec, draft);
  return phrase;
}

Phrase predicate(const Adjective& adjective, bool very, const NounPhrase& subject, Draft& draft) {
  Phrase phrase;
  if (very) phrase = translate("very", "très", draft);
  phrase += translate(adjective.en, agree(adjective, subject.agreement, ""), draft);
  for (const std::string& head : subject.heads) draft.combine("adjective", adjective.en, head);
  return phrase;
}

}  // namespace regard::corpus
