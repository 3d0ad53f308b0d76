#include "corpus_generator/clause.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace regard::corpus::clause_test {
namespace {

NounPhrase the(std::string_view word, Draft& draft, bool plural = false) {
  return noun_phrase({&determiner("the"), {}, &noun(word), plural}, draft);
}

NounPhrase a(std::string_view word, Draft& draft, bool negated = false) {
  return noun_phrase({&determiner("a"), {}, &noun(word), false, negated}, draft);
}

std::string both(const Sentence& sentence) {
  return line(sentence.en) + " | " + line(sentence.fr);
}

class Clauses : public testing::Test {
 protected:
  ClauseSpec with(std::string_view subject, std::string_view action, Time time) {
    return {noun_phrase(pronoun(subject), draft), &verb(action), time};
  }
  Sentence said(const ClauseSpec& spec) { return finish(clause(spec, draft), ".", draft); }
  Draft draft;
};

TEST_F(Clauses, TheProgressiveIsPresent) {
  const Sentence sentence = said(with("they", "watch", Time::progressive));
  EXPECT_EQ(both(sentence), "They are watching . | Ils regardent .");
  EXPECT_EQ(pharaoh(sentence), "0-0 1-1 2-1 3-2");
}

TEST_F(Clauses, ThePastProgressiveIsImperfect) {
  EXPECT_EQ(both(said(with("she", "sleep", Time::past_progressive))),
            "She was sleeping . | Elle dormait .");
}

TEST_F(Clauses, APastStateIsImperfect) {
  ClauseSpec spec = with("he", "love", Time::past);
  spec.object = the("music", draft);
  EXPECT_EQ(both(said(spec)), "He loved the music . | Il aimait la musique .");
}

TEST_F(Clauses, NegationEnclosesPronounAndVerb) {
  ClauseSpec spec = with("he", "see", Time::present);
  spec.object = noun_phrase(pronoun("she"), draft);
  spec.polarity = Polarity::negated;
  const Sentence sentence = said(spec);
  EXPECT_EQ(both(sentence), "He does not see her . | Il ne la voit pas .");
  EXPECT_EQ(pharaoh(sentence), "0-0 1-3 2-1 2-4 3-3 4-2 5-5");
}

TEST_F(Clauses, ANegatedIndefiniteObjectIsDe) {
  ClauseSpec spec = with("I", "eat", Time::past);
  spec.polarity = Polarity::never;
  spec.object = a("orange", draft, true);
  EXPECT_EQ(both(said(spec)), "I never ate an orange . | Je n'ai jamais mangé d'orange .");
}

TEST_F(Clauses, WithEtreTheParticipleAgreesWithTheSubject) {
  ClauseSpec spec = with("she", "go", Time::past);
  spec.object = the("market", draft);
  EXPECT_EQ(both(said(spec)), "She went to the market . | Elle est allée au marché .");
}

TEST_F(Clauses, WithAvoirTheParticipleAgreesWithAnObjectBeforeIt) {
  ClauseSpec spec = with("we", "see", Time::past);
  spec.object = noun_phrase(pronoun("she"), draft);
  EXPECT_EQ(both(said(spec)), "We saw her . | Nous l'avons vue .");
}

TEST_F(Clauses, ADativeObjectDoesNotMakeTheParticipleAgree) {
  ClauseSpec spec = with("we", "speak", Time::past);
  spec.object = noun_phrase(pronoun("they"), draft);
  EXPECT_EQ(both(said(spec)), "We spoke to them . | Nous leur avons parlé .");
}

TEST_F(Clauses, PronounsHaveAFixedOrder) {
  ClauseSpec third = with("he", "give", Time::present);
  third.object = noun_phrase(pronoun("it"), draft);
  third.recipient = noun_phrase(pronoun("they"), draft);
  EXPECT_EQ(both(said(third)), "He gives it to them . | Il le leur donne .");
  ClauseSpec first = with("he", "give", Time::present);
  first.object = noun_phrase(pronoun("it"), draft);
  first.recipient = noun_phrase(pronoun("I"), draft);
  EXPECT_EQ(both(said(first)), "He gives it to me . | Il me le donne .");
}

TEST_F(Clauses, PronounsPrecedeTheInfinitive) {
  ClauseSpec spec = with("I", "walk", Time::past);
  spec.modal = &verb("want");
  EXPECT_EQ(both(said(spec)), "I wanted to walk . | Je voulais me promener .");
}

TEST_F(Clauses, QuestionsStartWithEstCeQue) {
  ClauseSpec spec = with("he", "wait", Time::perfect);
  spec.question = true;
  spec.object = the("train", draft);
  EXPECT_EQ(both(finish(clause(spec, draft), "?", draft)),
            "Has he waited for the train ? | Est-ce qu'il a attendu le train ?");
}

TEST_F(Clauses, InARelativeClauseTheParticipleAgreesWithItsAntecedent) {
  NounPhrase apples = the("apple", draft, true);
  ClauseSpec inner{the("man", draft), &verb("eat"), Time::past};
  inner.antecedent = apples;
  apples.words += clause(inner, draft);
  ClauseSpec spec{apples, &verb("be"), Time::past};
  spec.tail = predicate(adjective("delicious"), true, apples, draft);
  EXPECT_EQ(both(said(spec)),
            "The apples that the man ate were very delicious . | "
            "Les pommes que l'homme a mangées étaient très délicieuses .");
}

TEST_F(Clauses, AMixedCoordinationIsMasculinePlural) {
  ClauseSpec spec{coordinate(the("man", draft), the("woman", draft), draft), &verb("be")};
  spec.tail = predicate(adjective("happy"), false, spec.subject, draft);
  EXPECT_EQ(both(said(spec)),
            "The man and the woman are happy . | L'homme et la femme sont heureux .");
}

TEST_F(Clauses, AdjectivesPrecedeOrFollowTheNoun) {
  const auto adjectives = {&adjective("old"), &adjective("Italian")};
  ClauseSpec spec = with("I", "see", Time::present);
  spec.object = noun_phrase({&determiner("a"), adjectives, &noun("hotel")}, draft);
  const Sentence sentence = said(spec);
  EXPECT_EQ(both(sentence), "I see an old Italian hotel . | Je vois un vieil hôtel italien .");
  EXPECT_EQ(pharaoh(sentence), "0-0 1-1 2-2 3-3 4-5 5-4 6-6");
}

TEST_F(Clauses, AnIndefinitePluralIsDeBeforeAnAdjective) {
  ClauseSpec spec = with("I", "see", Time::present);
  spec.object =
      noun_phrase({&determiner("some"), {&adjective("small")}, &noun("elephant"), true}, draft);
  EXPECT_EQ(both(said(spec)), "I see some small elephants . | Je vois de petits éléphants .");
}

}  // namespace
}  // namespace regard::corpus::clause_test
