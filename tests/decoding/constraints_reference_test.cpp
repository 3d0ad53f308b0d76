// Prefixes, required and excluded phrases, compared with an exhaustive search.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "decoding/lexical_constraints.h"
#include "decoding/search.h"
#include "tests/decoding/table_model.h"
#include "tests/decoding/table_search.h"

namespace regard::constraints_reference_test {
namespace {

using Phrase = std::vector<std::int32_t>;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

bool has(const Phrase& tokens, const Phrase& phrase) {
  return std::search(tokens.begin(), tokens.end(), phrase.begin(), phrase.end()) != tokens.end();
}
bool has(const Phrase& tokens, const TokenPattern& phrase) {
  return has(tokens, phrase.tokens());
}

// Consists of <unk> and the three words.
Phrase random_phrase(Random& random, std::size_t longest) {
  Phrase phrase;
  for (auto n = 1 + random.below(longest); n > 0; --n) {
    phrase.push_back(random.below(4) == 0 ? 1 : static_cast<std::int32_t>(4 + random.below(3)));
  }
  return phrase;
}

bool begins_with(const Phrase& tokens, const Phrase& prefix) {
  return tokens.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), tokens.begin());
}

TEST(ConstraintsReference, SatisfiesAThousandRandomPrefixesAndPhrases) {
  torch::manual_seed(41);
  Random random(41);
  for (int i = 0; i < 250; ++i) {
    TableModel model(random_table(4, 2));
    const auto [source, lengths] = table_sentences(4);
    std::vector<SentenceOptions> sentences(4);
    for (auto& sentence : sentences) {
      if (random.below(2) == 0) sentence.prefix = random_phrase(random, 3);
      for (auto n = random.below(4); n > 0; --n) {
        sentence.required_phrases.emplace_back(random_phrase(random, 3));
      }
    }
    auto options = table_options(static_cast<std::int64_t>(1 + random.below(6)), 20);
    options.max_output_ratio = 0.25;  // 11 tokens, or more if the constraints need more
    options.early_stopping = static_cast<SearchEnd>(random.below(3));  // all but `never`
    const auto found = search(model, {source, lengths}, options, sentences);
    for (std::size_t b = 0; b < 4; ++b) {
      ASSERT_FALSE(found[b].empty());
      for (const auto& hypothesis : found[b]) {
        EXPECT_TRUE(begins_with(hypothesis.tokens, sentences[b].prefix));
        for (const auto& phrase : sentences[b].required_phrases) {
          EXPECT_TRUE(has(hypothesis.tokens, phrase));
        }
      }
    }
  }
}

TEST(ConstraintsReference, SatisfiesAThousandRandomExclusions) {
  torch::manual_seed(42);
  Random random(42);
  int would_say = 0;
  for (int i = 0; i < 250; ++i) {
    TableModel model(random_table(4, 2));
    const auto [source, lengths] = table_sentences(4);
    std::vector<SentenceOptions> sentences(4);
    for (auto& sentence : sentences) {
      for (auto n = 1 + random.below(3); n > 0; --n) {
        sentence.bad_words.emplace_back(random_phrase(random, 2));
      }
    }
    auto options = table_options(static_cast<std::int64_t>(1 + random.below(5)), 10);
    if (random.below(3) == 0) options.samples = 3;
    const auto plain = search(model, {source, lengths}, options);
    const auto found = search(model, {source, lengths}, options, sentences);
    for (std::size_t b = 0; b < 4; ++b) {
      for (const auto& ban : sentences[b].bad_words) {
        would_say += has(plain[b][0].tokens, ban);
        for (const auto& hypothesis : found[b]) EXPECT_FALSE(has(hypothesis.tokens, ban));
      }
    }
  }
  EXPECT_GT(would_say, 100);
}

// All three together, with phrases that share no tokens, so that the solution is unique.
TEST(ConstraintsReference, AWideBeamFindsTheBestAllowedTranslation) {
  torch::manual_seed(43);
  for (int i = 0; i < 30; ++i) {
    const auto table = random_table(1, 2);
    TableModel model(table);
    const auto [source, lengths] = table_sentences(1);
    SentenceOptions sentence;
    if (i % 2 == 0) sentence.prefix = {6};
    if (i % 3 != 0) sentence.required_phrases = {{4, 5}};
    if (i % 3 == 1) sentence.required_phrases.push_back(TokenPattern{1});
    if (i % 5 < 3) sentence.bad_words = {{5, 6}, {1, 1}};
    auto options = table_options(1600, 5);
    const auto found = search(model, {source, lengths}, options, {sentence})[0];
    std::vector<Hypothesis> allowed;
    for (const auto& hypothesis : Exhaustive(table[0], options).all()) {
      const auto in = [&](const TokenPattern& phrase) { return has(hypothesis.tokens, phrase); };
      if (begins_with(hypothesis.tokens, sentence.prefix) &&
          std::all_of(sentence.required_phrases.begin(), sentence.required_phrases.end(), in) &&
          std::none_of(sentence.bad_words.begin(), sentence.bad_words.end(), in)) {
        allowed.push_back(hypothesis);
      }
    }
    ASSERT_FALSE(allowed.empty());
    ASSERT_EQ(found.size(), allowed.size());
    for (std::size_t k = 0; k < allowed.size(); ++k) {
      EXPECT_NEAR(found[k].score, allowed[k].score, 1e-9);
    }
    EXPECT_EQ(found[0].tokens, allowed[0].tokens);
  }
}

TEST(Constraints, DoNotAffectOtherLines) {
  torch::manual_seed(44);
  TableModel model(random_table(3, 2));
  const auto [source, lengths] = table_sentences(3);
  std::vector<SentenceOptions> sentences(3);
  sentences[1].prefix = {5, 6};
  sentences[1].required_phrases = {{4, 4}};
  sentences[2].bad_words = {{4}};
  for (const std::int64_t beam : {2, 4}) {
    const auto options = table_options(beam, 9);
    const auto plain = search(model, {source, lengths}, options);
    const auto found = search(model, {source, lengths}, options, sentences);
    ASSERT_EQ(found[0].size(), plain[0].size());
    for (std::size_t k = 0; k < plain[0].size(); ++k) {
      EXPECT_EQ(found[0][k].tokens, plain[0][k].tokens);
      EXPECT_EQ(found[0][k].score, plain[0][k].score);
    }
    for (std::int64_t b = 1; b < 3; ++b) {
      const auto alone = search(model, {source.narrow(0, b, 1), lengths.narrow(0, b, 1)}, options,
                                {sentences[static_cast<std::size_t>(b)]})[0];
      ASSERT_EQ(alone.size(), found[static_cast<std::size_t>(b)].size());
      for (std::size_t k = 0; k < alone.size(); ++k) {
        EXPECT_EQ(alone[k].tokens, found[static_cast<std::size_t>(b)][k].tokens);
      }
    }
  }
}

// Greedy search ends immediately with </s>; a beam of one with `never` would continue.
TEST(Constraints, DoNotAffectOtherLinesWithOneHypothesis) {
  torch::manual_seed(46);
  TableModel model(random_table(3, 2));
  const auto [source, lengths] = table_sentences(3);
  std::vector<SentenceOptions> sentences(3);
  sentences[1].required_phrases = {{4, 5}};
  auto options = table_options(1, 9, /*alpha=*/2);
  options.early_stopping = SearchEnd::never;
  const auto plain = search(model, {source, lengths}, options);
  const auto found = search(model, {source, lengths}, options, sentences);
  EXPECT_EQ(found[0][0].tokens, plain[0][0].tokens);
  EXPECT_EQ(found[2][0].tokens, plain[2][0].tokens);
  EXPECT_TRUE(has(found[1][0].tokens, Phrase{4, 5}));
}

TEST(WordBoundaries, ACopiedCharacterIsInsideAWord) {
  const WordBoundaries words{{false, true}, {false, true}};
  EXPECT_TRUE(words.continues(1, 2));  // 2 is not in the vocabulary
  EXPECT_TRUE(words.continues(2, 1));
  EXPECT_FALSE(words.continues(2, 0));
  EXPECT_FALSE(words.continues(0, 2));
  EXPECT_FALSE(WordBoundaries().continues(0, 2));
}

// Token 6 continues a word, as in "▁a b": it may not follow the prefix, and a phrase that it
// follows is not met.
TEST(Constraints, PrefixesAndPhrasesEndAtWordBoundaries) {
  torch::manual_seed(45);
  const auto table = random_table(1);
  table.select(2, 6).add_(5);  // the most probable token everywhere
  TableModel model(table);
  const auto [source, lengths] = table_sentences(1);
  SentenceOptions sentence;
  sentence.prefix = {4};
  sentence.required_phrases = {{5}};
  for (const std::int64_t beam : {1, 4}) {
    auto options = table_options(beam, 9);
    options.words.begins_inside = {false, false, false, false, false, false, true};
    const auto found = search(model, {source, lengths}, options, {sentence})[0];
    for (const auto& hypothesis : found) {
      EXPECT_TRUE(constraint_progress(hypothesis.tokens, sentence.required_phrases, options.words)
                      .complete);
      ASSERT_GE(hypothesis.tokens.size(), 2U);
      EXPECT_NE(hypothesis.tokens[1], 6);
    }
  }
}

TEST(LexicalConstraints, ProgressCountsMetAndStartedPhrases) {
  const Phrases required_phrases = {{4, 5, 6}, {7}};
  const auto constraint_progress = [](const Phrase& tokens, const Phrases& phrases) {
    return regard::constraint_progress(tokens, phrases, {});
  };
  EXPECT_EQ(constraint_progress({}, required_phrases).met, 0);
  EXPECT_THAT(constraint_progress({}, required_phrases).next, ElementsAre(4, 7));
  EXPECT_EQ(constraint_progress(Phrase{4, 5}, required_phrases).met, 2);
  EXPECT_THAT(constraint_progress(Phrase{4, 5}, required_phrases).next,
              UnorderedElementsAre(6, 4, 7));
  EXPECT_EQ(constraint_progress(Phrase{4, 5, 7}, required_phrases).met,
            1);  // the first phrase is abandoned
  EXPECT_THAT(constraint_progress(Phrase{4, 5, 7}, required_phrases).next, ElementsAre(4));
  EXPECT_EQ(constraint_progress(Phrase{4, 4, 5, 6}, required_phrases).met, 3);
  EXPECT_TRUE(constraint_progress(Phrase{7, 8, 4, 5, 6, 9}, required_phrases).complete);
  EXPECT_TRUE(
      constraint_progress(Phrase{4, 4, 4, 5}, {{4, 4, 5}}).complete);  // restarted in the middle
  EXPECT_THAT(constraint_progress(Phrase{4}, {{4, 5}, {4, 6}}).next,
              UnorderedElementsAre(5, 4, 6, 4));
  EXPECT_TRUE(constraint_progress(Phrase{4, 6, 4, 5}, {{4, 5}, {4, 6}}).complete);
  EXPECT_FALSE(constraint_progress(Phrase{7}, {{7}, {7}}).complete);
  EXPECT_TRUE(constraint_progress(Phrase{7, 7}, {{7}, {7}}).complete);
}

TEST(LexicalConstraints, PhrasesMayContainOneAnother) {
  const Phrases required_phrases = {{4, 5, 6}, {5}, {6, 7}};
  EXPECT_TRUE(constraint_progress(Phrase{4, 5, 6, 7}, required_phrases, {}).complete);
  EXPECT_EQ(constraint_progress(Phrase{4, 5, 6}, required_phrases, {}).met,
            5);  // 4 5 6, 5, and the start of 6 7
  EXPECT_FALSE(constraint_progress(Phrase{4, 4, 4}, {{4, 4}, {4, 4}}, {}).complete);
}

TEST(LexicalConstraints, APhraseEndsAtAWordBoundary) {
  const WordBoundaries words{{false, false, false, false, false, false, true}, {}};
  EXPECT_TRUE(constraint_progress(Phrase{4, 5}, {{5}}, words).complete);
  EXPECT_FALSE(constraint_progress(Phrase{4, 5, 6}, {{5}}, words).complete);
  EXPECT_TRUE(constraint_progress(Phrase{4, 5, 6, 5, 4}, {{5}, {5, 6}}, words).complete);
  // After 5, either one phrase is met, if its word ends, or the other is started.
  EXPECT_EQ(constraint_progress(Phrase{5}, {{5}, {5, 6}}, words).met, 1);
  EXPECT_EQ(constraint_progress(Phrase{5, 6}, {{5}, {5, 6}}, words).met, 2);
}

}  // namespace
}  // namespace regard::constraints_reference_test
