// The part of the grammar that generates subjects, objects and their modifiers.
#include "grammar.h"

namespace regard::corpus {

const Determiner& Grammar::choose_determiner(unsigned number) {
  if (chance(45)) return determiner("the");
  if (chance(30)) return determiner(number == singular ? "a" : "some");
  return pick(determiners(), [&](const Determiner& d) { return (d.numbers & number) != 0; });
}

NounSpec Grammar::noun_spec(unsigned kinds, bool negated) {
  NounSpec spec{};
  spec.noun = &pick(nouns(), [&](const Noun& n) { return (n.kinds & kinds) != 0; });
  spec.plural = !spec.noun->mass && chance(30);
  spec.negated = negated;
  spec.determiner = &choose_determiner(spec.noun->mass ? mass : spec.plural ? plural : singular);
  const auto describes = [&](bool in_front) {
    return [&, in_front](const Adjective& a) {
      return (a.kinds & spec.noun->kinds) && a.before == in_front;
    };
  };
  const auto add = [&](bool in_front) {
    if (any(adjectives(), describes(in_front)))
      spec.adjectives.push_back(&pick(adjectives(), describes(in_front)));
  };
  if (chance(20)) add(true);
  if (chance(18)) add(false);
  return spec;
}

NounPhrase Grammar::nominal(unsigned kinds, Role role, bool negated, const Setting& setting,
                            Draft& draft) {
  const bool person_or_city = (kinds & person) || kinds == place;
  if (person_or_city && chance(10))
    return noun_phrase(pick(names(), [&](const Name& n) { return (n.kinds & kinds) != 0; }), draft);
  NounSpec spec = noun_spec(kinds, negated);
  // "some" is excluded after prepositions: "des" and "du" would contract with de and à.
  while (role == Role::other && form(spec.determiner->en, 0) == "some")
    spec.determiner = &choose_determiner(spec.noun->mass ? mass : plural);
  NounPhrase result = noun_phrase(spec, draft);
  if (setting.nested || role == Role::other) return result;
  const bool owned = spec.noun->kinds & (animal | text | thing | vehicle);
  if (owned && form(spec.determiner->en, 0) == "the" && chance(14)) {
    possessor(result, setting, draft);
  } else if (chance(13)) {
    relative(result, *spec.noun, setting, draft);
  }
  return result;
}

void Grammar::possessor(NounPhrase& possessed, const Setting& setting, Draft& draft) {
  Setting inner = setting;
  inner.nested = true;
  possessed.words += translate("of", "de", draft);
  possessed.words += nominal(person, Role::other, false, inner, draft).words;
}

void Grammar::relative(NounPhrase& antecedent, const Noun& noun, const Setting& setting,
                       Draft& draft) {
  Setting inner = setting;
  inner.nested = true;
  inner.progressive = false;
  inner.question = false;
  if ((noun.kinds & animate) && chance(55)) {
    const Verb& chosen = pick(verbs(), [&](const Verb& v) {
      return v.frame == Frame::copula ||
             (v.frame != Frame::modal && v.frame != Frame::saying && (v.subjects & noun.kinds));
    });
    ClauseSpec spec{};
    spec.subject = relative_subject(antecedent, (noun.kinds & person) != 0, draft);
    antecedent.words += predicate_clause(chosen, std::move(spec), noun.kinds, inner, draft);
    return;
  }
  const auto takes_it = [&](const Verb& v) {
    return (v.frame == Frame::transitive || v.frame == Frame::optional) &&
           (v.objects & noun.kinds) && v.en_preposition[0] == 0 && v.fr_preposition[0] == 0;
  };
  if (!any(verbs(), takes_it)) return;
  ClauseSpec spec{};
  spec.verb = &pick(verbs(), takes_it);
  spec.subject = subject(spec.verb->subjects, inner, draft);
  spec.antecedent = antecedent;
  choose_verb_form(spec, inner);
  antecedent.words += clause(spec, draft);
}

NounPhrase Grammar::subject(unsigned kinds, const Setting& setting, Draft& draft) {
  if (chance(34))
    return noun_phrase(pick(pronouns(), [&](const Pronoun& p) { return (p.kinds & kinds) != 0; }),
                       draft);
  if (!setting.nested && chance(6)) {
    Setting inner = setting;
    inner.nested = true;
    NounPhrase first = nominal(kinds, Role::subject, false, inner, draft);
    return coordinate(std::move(first), nominal(kinds, Role::subject, false, inner, draft), draft);
  }
  return nominal(kinds, Role::subject, false, setting, draft);
}

const Pronoun* Grammar::object_pronoun(unsigned kinds, const NounPhrase& subject, bool third_only) {
  const int own = subject.agreement.person;
  return &pick(pronouns(), [&](const Pronoun& p) {
    const bool reflexive = p.person == own && own != 3;
    return (p.kinds & kinds) && !reflexive && (!third_only || p.person == 3);
  });
}

NounPhrase Grammar::object(const Verb& verb, const ClauseSpec& spec, const Setting& setting,
                           Draft& draft) {
  const bool direct = verb.fr_preposition[0] == 0;
  const bool giving = verb.frame == Frame::giving;
  if ((direct || verb.frame == Frame::dative) && chance(16))
    return noun_phrase(*object_pronoun(verb.objects, spec.subject, giving), draft);
  const bool negated = direct && spec.polarity != Polarity::positive;
  Setting inner = setting;
  inner.nested = setting.nested || giving;  // no relative clause between object and recipient
  return nominal(verb.objects, direct ? Role::object : Role::other, negated, inner, draft);
}

NounPhrase Grammar::recipient(const ClauseSpec& spec, const Setting& setting, Draft& draft) {
  if (chance(40)) return noun_phrase(*object_pronoun(person, spec.subject, false), draft);
  Setting inner = setting;
  inner.nested = true;
  return nominal(person, Role::other, false, inner, draft);
}

}  // namespace regard::corpus
