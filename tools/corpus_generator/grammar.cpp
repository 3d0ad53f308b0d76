#include "grammar.h"

namespace regard::corpus {
namespace {

bool is_lexical(const Verb& verb) {
  return verb.frame != Frame::modal && verb.frame != Frame::saying && verb.frame != Frame::copula;
}

bool past_looks_like_present(const Verb& verb) {
  return form(verb.en, 0) == form(verb.en, 3);
}

bool is_compound(Time time) {
  return time == Time::progressive || time == Time::past_progressive || time == Time::going;
}

// True if an adverb of time fits the tense: "every day" does not fit the progressive, and none fits
// the perfect.
bool suits(const Expression& adverb, Time time, Era era) {
  if (!(adverb.eras & era) || time == Time::perfect) return false;
  const std::string_view en = adverb.en;
  return (en != "every day" && en != "in the evening") || time == Time::present;
}

}  // namespace

Era Grammar::era() {
  return chance(50) ? now : chance(65) ? before : later;
}

Time Grammar::time_of(const Verb& verb, const Setting& setting) {
  const bool active = verb.aspect == Aspect::activity;
  if (setting.era == now)
    return active && (setting.progressive || chance(45)) ? Time::progressive : Time::present;
  if (verb.frame == Frame::copula) return setting.era == later ? Time::future : Time::past;
  if (setting.era == later) return chance(50) ? Time::future : Time::going;
  if (active && (setting.progressive || chance(20))) return Time::past_progressive;
  if (verb.aspect == Aspect::state) return Time::past;
  return past_looks_like_present(verb) || chance(20) ? Time::perfect : Time::past;
}

void Grammar::choose_verb_form(ClauseSpec& spec, const Setting& setting) {
  spec.time = time_of(*spec.verb, setting);
  const bool animate_subject = (spec.verb->subjects & ~animate) == 0;
  if (!setting.progressive && !setting.question && setting.era != later && animate_subject &&
      spec.verb->aspect != Aspect::state && chance(12)) {
    const bool past = setting.era == before;
    spec.modal = &pick(verbs(), [&](const Verb& v) {
      return v.frame == Frame::modal && (!past || form(v.en, 3) != "-");
    });
    spec.time = past ? Time::past : Time::present;
  }
  if (setting.question) return;
  const bool simple = !is_compound(spec.time) && !spec.modal;
  if (chance(13)) {
    spec.polarity = Polarity::negated;
  } else if (simple && chance(7)) {
    spec.polarity = Polarity::never;
  } else if (simple && chance(8)) {
    spec.frequency = &pick(frequency_adverbs());
  }
}

Phrase Grammar::location(const Setting& setting, Draft& draft) {
  const Preposition& preposition = pick(prepositions());
  Phrase phrase = translate(preposition.en, preposition.fr, draft);
  Setting inner = setting;
  inner.nested = true;
  return phrase += nominal(preposition.kinds, Role::other, false, inner, draft).words;
}

Phrase Grammar::adverbs(const ClauseSpec& spec, const Setting& setting, Draft& draft) {
  Phrase phrase;
  if (!(spec.verb->objects & place) && chance(17)) {
    phrase += location(setting, draft);
  } else if (spec.verb->aspect == Aspect::activity && chance(10)) {
    phrase += translate(pick(manner_adverbs()), draft);
  }
  if (setting.nested || !chance(13)) return phrase;
  const Expression& adverb = pick(time_adverbs());
  if (suits(adverb, spec.time, setting.era)) phrase += translate(adverb, draft);
  return phrase;
}

Phrase Grammar::predicate_clause(const Verb& verb, ClauseSpec spec, unsigned kinds,
                                 const Setting& setting, Draft& draft) {
  spec.verb = &verb;
  choose_verb_form(spec, setting);
  if (verb.frame == Frame::copula) {
    const Adjective& adjective =
        pick(adjectives(), [&](const Adjective& a) { return (a.kinds & kinds) != 0; });
    spec.tail = predicate(adjective, chance(15), spec.subject, draft);
    return clause(spec, draft);
  }
  const bool bare = verb.frame == Frame::optional && chance(35);
  if (verb.objects && !bare) spec.object = object(verb, spec, setting, draft);
  if (verb.frame == Frame::giving) spec.recipient = recipient(spec, setting, draft);
  spec.tail = adverbs(spec, setting, draft);
  return clause(spec, draft);
}

Phrase Grammar::statement(const Setting& setting, Draft& draft) {
  ClauseSpec spec{};
  spec.question = setting.question;
  if (!setting.progressive && chance(16)) {
    // The kind determines both the subject and an adjective that fits it.
    static constexpr unsigned described[] = {person,  animal, food, text,  thing,
                                             vehicle, place,  show, matter};
    const unsigned kinds = pick(std::span<const unsigned>(described));
    spec.subject = subject(kinds, setting, draft);
    return predicate_clause(verb("be"), std::move(spec), kinds, setting, draft);
  }
  const Verb& chosen = pick(verbs(), [&](const Verb& v) {
    return is_lexical(v) && (!setting.progressive || v.aspect == Aspect::activity);
  });
  spec.subject = subject(chosen.subjects, setting, draft);
  return predicate_clause(chosen, std::move(spec), 0, setting, draft);
}

Phrase Grammar::question(Era era, Draft& draft) {
  static constexpr Expression words[] = {
      {"where", "où/0"}, {"why", "pourquoi/0"}, {"when", "quand/0"}};
  if (chance(20)) {
    ClauseSpec spec{};
    spec.subject = {translate("who", "qui", draft), {}, {}, nullptr};
    const Verb& chosen =
        pick(verbs(), [](const Verb& v) { return is_lexical(v) && (v.subjects & person); });
    return predicate_clause(chosen, std::move(spec), person, {.era = era}, draft);
  }
  Phrase phrase;
  if (chance(45)) phrase = translate(pick(std::span<const Expression>(words)), draft);
  return phrase += statement({.era = era, .nested = true, .question = true}, draft);
}

Phrase Grammar::presentation(Era era, Draft& draft) {
  const Setting setting{.era = era};
  const bool there = chance(50);
  NounSpec spec = noun_spec(visible | opening | show, false);
  if (there) spec.determiner = &determiner(spec.plural || spec.noun->mass ? "some" : "a");
  const NounPhrase presented = noun_phrase(spec, draft);
  const bool past = era == before;
  const bool many = presented.agreement.plural;
  Phrase phrase;
  if (there) {
    phrase = translate("there", "il y", draft);
    phrase += translate(past   ? many ? "were" : "was"
                        : many ? "are"
                               : "is",
                        past ? "avait" : "a", draft);
    phrase += presented.words;
    return phrase += location(setting, draft);
  }
  phrase = translate(many ? "these" : "this", "ce", draft);
  phrase += translate(past   ? many ? "were" : "was"
                      : many ? "are"
                             : "is",
                      past   ? many ? "étaient" : "était"
                      : many ? "sont"
                             : "est",
                      draft);
  return phrase += presented.words;
}

Phrase Grammar::reported_speech(const Setting& setting, Draft& draft) {
  ClauseSpec spec{};
  spec.verb = &pick(verbs(), [](const Verb& v) { return v.frame == Frame::saying; });
  Setting speaker = setting;
  speaker.nested = true;
  if (speaker.era == later) speaker.era = now;
  spec.subject = subject(person, speaker, draft);
  spec.time = time_of(*spec.verb, speaker);
  Setting reported = setting;
  spec.tail = translate("that", "que", draft);
  spec.tail += statement(reported, draft);
  return clause(spec, draft);
}

Phrase Grammar::conjoined_clause(const Setting& setting, Draft& draft) {
  const bool coordinating = chance(40);  // the first two: and, but
  const auto fits = [&](const Expression& c) { return (c.eras & setting.era) != 0; };
  const Expression& conjunction =
      coordinating ? pick(conjunctions().first(2)) : pick(conjunctions(), fits);
  Setting second = setting;
  second.progressive = conjunction.en == std::string_view("while");
  Phrase phrase = translate(conjunction, draft);
  return phrase += statement(second, draft);
}

Sentence Grammar::sentence() {
  Draft draft;
  Setting setting{.era = era()};
  if (chance(10)) return finish(question(setting.era, draft), "?", draft);
  Phrase phrase;
  if (chance(5)) {
    phrase = presentation(setting.era == before ? before : now, draft);
  } else if (chance(7)) {
    phrase = reported_speech(setting, draft);
  } else {
    phrase = statement(setting, draft);
    if (chance(12)) phrase += conjoined_clause(setting, draft);
  }
  return finish(std::move(phrase), ".", draft);
}

Sentence Grammar::long_sentence(std::size_t words) {
  Draft draft;
  Setting setting{.era = era()};
  Phrase phrase = chance(30) ? reported_speech(setting, draft) : statement(setting, draft);
  while (phrase.en.size() + 1 < words) phrase += conjoined_clause(setting, draft);
  return finish(std::move(phrase), ".", draft);
}

}  // namespace regard::corpus
