#include "noun_phrase.h"

#include "morphology.h"

namespace regard::corpus {
namespace {

// Returns the adjectives and the noun in the order of each language.
Phrase described_noun(const NounSpec& spec, const Agreement& agreement, Draft& draft) {
  const int index = spec.plural ? 1 : 0;
  Phrase phrase;
  Tokens after;
  const int meaning = draft.meaning();
  const std::string noun_fr = form(spec.noun->fr, index);
  for (std::size_t i = spec.adjectives.size(); i-- > 0;) {
    const Adjective& adjective = *spec.adjectives[i];
    const int own = draft.meaning();
    phrase.en.insert(phrase.en.begin(), {adjective.en, {own}});
    std::string next;
    if (adjective.before) next = phrase.fr.empty() ? noun_fr : phrase.fr.front().text;
    Tokens& side = adjective.before ? phrase.fr : after;
    side.insert(side.begin(), {agree(adjective, agreement, next), {own}});
    draft.combine("adjective", adjective.en, form(spec.noun->en, 0));
  }
  append(phrase.en, form(spec.noun->en, index), meaning);
  append(phrase.fr, noun_fr, meaning);
  phrase.fr.insert(phrase.fr.end(), after.begin(), after.end());
  return phrase;
}

// Returns the determiner before `described`, whose first words determine "an", "mon amie", "de
// grands".
Phrase determine(const NounSpec& spec, const Agreement& agreement, const Phrase& described,
                 Draft& draft) {
  const std::string key = form(spec.determiner->en, 0);
  const std::string next = described.fr.front().text;
  const int meaning = draft.meaning();
  Phrase phrase;
  if (key == "the") {
    phrase.en = {{"the", {meaning}}};
    phrase.fr = {{agree(*spec.determiner, agreement, next), {meaning}, true}};
  } else if (key == "all") {
    const int the = draft.meaning();
    phrase.en = {{"all", {meaning}}, {"the", {the}}};
    phrase.fr = {{agreement.feminine ? "toutes" : "tous", {meaning}}, {"les", {the}, true}};
  } else if (key == "some") {
    phrase.en = {{spec.negated ? "any" : "some", {meaning}}};
    const bool bare = spec.negated ||
                      (spec.plural && !spec.adjectives.empty() && spec.adjectives.front()->before);
    phrase.fr = {{spec.plural && !bare ? "des" : "de", {meaning}}};
    if (!spec.plural && !bare)
      phrase.fr.push_back({agreement.feminine ? "la" : "le", {meaning}, true});
  } else if (key == "a") {
    phrase.en = {{indefinite_article(described.en.front().text), {meaning}}};
    phrase.fr = {{spec.negated ? "de" : agree(*spec.determiner, agreement, next), {meaning}}};
  } else {
    const std::string plural_en = form(spec.determiner->en, 1);
    phrase.en = {{spec.plural && !plural_en.empty() ? plural_en : key, {meaning}}};
    phrase.fr = {{agree(*spec.determiner, agreement, next), {meaning}}};
    if (key == "many") phrase.fr.push_back({"de", {meaning}});
  }
  return phrase;
}

}  // namespace

NounPhrase noun_phrase(const NounSpec& spec, Draft& draft) {
  NounPhrase result;
  result.agreement = {3, spec.plural, spec.noun->feminine};
  const Phrase described = described_noun(spec, result.agreement, draft);
  result.words = determine(spec, result.agreement, described, draft);
  result.words += described;
  result.heads = {form(spec.noun->en, 0)};
  return result;
}

NounPhrase noun_phrase(const Pronoun& pronoun, Draft& draft) {
  return {translate(form(pronoun.en, 0), form(pronoun.fr, 0), draft),
          {pronoun.person, pronoun.plural, pronoun.feminine},
          {},
          &pronoun};
}

NounPhrase noun_phrase(const Name& name, Draft& draft) {
  return {translate(name.en, name.fr, draft), {3, false, name.feminine}, {}, nullptr};
}

NounPhrase coordinate(NounPhrase first, const NounPhrase& second, Draft& draft) {
  first.words += translate("and", "et", draft);
  first.words += second.words;
  first.agreement = {3, true, first.agreement.feminine && second.agreement.feminine};
  first.heads.insert(first.heads.end(), second.heads.begin(), second.heads.end());
  return first;
}

NounPhrase relative_subject(const NounPhrase& antecedent, bool is_person, Draft& draft) {
  return {translate(is_person ? "who" : "that", "qui", draft), antecedent.agreement,
          antecedent.heads, nullptr};
}

}  // namespace regard::corpus
