#include "translation/phrase_constraints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "decoding/lexical_constraints.h"
#include "tests/text/lines.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

namespace regard::phrase_constraints_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

using Tokens = std::vector<std::int32_t>;

// Constraints over a SentencePiece model of some lines.
class Phrases {
 public:
  Phrases(std::vector<std::string> lines, std::int64_t vocabulary_size) {
    TokenizerOptions options;
    options.kind = TokenizerKind::bpe;
    options.vocabulary_size = vocabulary_size;
    codec.target = train_tokenizer(options, lines_of(std::move(lines)));
    encoder.emplace(codec, options.kind);
  }

  // The ids of tokens by their texts, separated by spaces; -1 for an unknown one.
  Tokens ids(const std::string& tokens) const {
    Tokens ids;
    for (const auto token : split_at_ascii_space(tokens)) {
      std::int32_t id = codec.target->size() - 1;
      while (id >= 0 && codec.target->token(id) != token) --id;
      ids.push_back(id);
    }
    return ids;
  }
  SentenceOptions require(const std::string& phrase) const {
    return encoder->encode({.require = {phrase}}, 100);
  }
  bool meets(const std::string& tokens, const std::string& phrase) const {
    const auto known = ids(tokens);
    EXPECT_THAT(known, Each(Not(-1))) << tokens;
    return has_phrases(known, require(phrase).required_phrases, encoder->words());
  }
  // The texts of the tokens that the ban of a phrase forbids after some tokens, sorted.
  std::vector<std::string> banned(const std::string& phrase, const std::string& after) const {
    const auto sentence = encoder->encode({.ban = {phrase}}, 100);
    TokenMask mask;
    BadWords(encoder->words()).apply({ids(after), &sentence}, mask);
    std::vector<std::string> texts;
    for (const auto id : mask.banned) {
      texts.push_back(codec.target->token(static_cast<std::int32_t>(id)));
    }
    std::ranges::sort(texts);
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    return texts;
  }

  TextCodec codec;
  std::optional<PhraseEncoder> encoder;
};

Phrases chinese() {
  return {{"大猫和小狗", "大猫和12小狗", "小狗和大猫", "狗和小猫", "大狗", "小狗小狗", "大猫大猫"},
          24};
}

Phrases french() {
  return {{"L'avion mange .", "L'avion d'or .", "un avion .", "Est-ce que", "Est-ce un avion ?",
           "avions .", "les avions d'or"},
          60};
}

TEST(PhraseConstraints, AWordOfAScriptWithoutSpacesIsFoundWithinALine) {
  const auto phrases = chinese();
  ASSERT_THAT(phrases.ids("小狗 大猫"), Each(Not(-1)));  // learnt as one token each
  EXPECT_TRUE(phrases.meets("大猫 和 1 2 小狗", "狗"));  // within a token
  EXPECT_TRUE(phrases.meets("大猫 和 1 2 小狗", "小狗"));
  EXPECT_TRUE(phrases.meets("大猫 和 小 狗", "小狗"));  // in another segmentation
  EXPECT_TRUE(phrases.meets("大猫 和 1 2 小狗", "12"));
  EXPECT_FALSE(phrases.meets("大猫 和 1 2 小狗", "2"));  // numbers are words
  EXPECT_FALSE(phrases.meets("大猫 和 大猫", "狗"));
  EXPECT_TRUE(
      phrases.meets("小狗 和 大猫", "狗和大"));  // from the middle of one to that of another
}

TEST(PhraseConstraints, ABanHoldsInEverySegmentation) {
  const auto phrases = chinese();
  EXPECT_THAT(phrases.banned("狗", "大猫"), testing::IsSupersetOf({"狗", "小狗"}));
  EXPECT_THAT(phrases.banned("小狗", "大猫 和 小"), testing::IsSupersetOf({"狗", "小狗"}));
  EXPECT_THAT(phrases.banned("小狗", "大猫 和"), Not(testing::Contains("狗")));
}

TEST(PhraseConstraints, ASearchForAWordOfAScriptWithoutSpacesNeedsNoSpace) {
  const auto phrases = chinese();
  const auto sentence = phrases.require("狗");
  const auto progress = constraint_progress(phrases.ids("大猫 和"), sentence.required_phrases,
                                            phrases.encoder->words());
  EXPECT_THAT(progress.next, testing::Contains(phrases.ids("狗")[0]));
  EXPECT_EQ(progress.met, 0);
}

TEST(PhraseConstraints, APrefixMayBeWrittenByAllTokensThatSpellIt) {
  const auto phrases = chinese();
  const auto sentence = phrases.encoder->encode({.prefix = "大猫和小"}, 100);
  const auto forced = [&](const std::string& history) {
    TokenMask mask;
    ForcedPrefix().apply({phrases.ids(history), &sentence}, mask);
    std::vector<std::string> texts;
    for (const auto id : mask.forced) {
      texts.push_back(phrases.codec.target->token(static_cast<std::int32_t>(id)));
    }
    return texts;
  };
  for (const auto& token : forced("")) EXPECT_THAT(token, testing::StartsWith("▁"));
  EXPECT_THAT(forced(""), testing::Contains("▁大"));
  EXPECT_THAT(forced("▁大 猫"), testing::Contains("和"));
  EXPECT_THAT(forced("▁大 猫"), Not(testing::Contains("小")));
  EXPECT_THAT(forced("▁大 猫 和"), testing::IsSupersetOf({"小", "小狗"}));  // which goes beyond it
  EXPECT_THAT(forced("▁大 猫 和 小狗"), IsEmpty());
  EXPECT_THAT(forced("▁大 猫 和 小"), IsEmpty());
}

TEST(PhraseConstraints, APrefixOfAScriptWithoutSpacesMayGoOn) {
  const auto phrases = chinese();
  const auto sentence = phrases.encoder->encode({.prefix = "小"}, 100);
  TokenMask mask;
  WholeWordPrefix(phrases.encoder->words()).apply({sentence.prefix, &sentence}, mask);
  EXPECT_THAT(mask.banned, IsEmpty());
}

TEST(PhraseConstraints, AWordBeginsAfterAnApostropheAndAHyphen) {
  const auto phrases = french();
  ASSERT_THAT(phrases.ids("▁avion avion ' ▁L"), Each(Not(-1)));
  EXPECT_TRUE(phrases.meets("▁L ' avion", "avion"));
  EXPECT_TRUE(phrases.meets("▁avion", "avion"));
  EXPECT_FALSE(phrases.meets("▁L avion", "avion"));  // Lavion
  EXPECT_FALSE(phrases.meets("▁avion s", "avion"));  // avions
  EXPECT_TRUE(phrases.meets("▁ avion", "avion"));    // in another segmentation
  for (const std::string prefix : {"L'", "Est-"}) {
    const auto sentence = phrases.encoder->encode({.prefix = prefix}, 100);
    TokenMask mask;
    WholeWordPrefix(phrases.encoder->words()).apply({sentence.prefix, &sentence}, mask);
    EXPECT_THAT(mask.banned, IsEmpty()) << prefix;
  }
  const auto sentence = phrases.encoder->encode({.prefix = "L"}, 100);
  TokenMask mask;
  WholeWordPrefix(phrases.encoder->words()).apply({sentence.prefix, &sentence}, mask);
  EXPECT_THAT(mask.banned, testing::Contains(phrases.ids("avion")[0]));
  EXPECT_THAT(mask.banned, Not(testing::Contains(phrases.ids("'")[0])));
}

TEST(PhraseConstraints, ABanEndsAtWordBoundaries) {
  const auto phrases = french();
  EXPECT_THAT(phrases.banned("avion", "▁L '"), testing::IsSupersetOf({"avion", "▁avion"}));
  EXPECT_THAT(phrases.banned("avion", "▁L"), Not(testing::Contains("avion")));
  EXPECT_THAT(phrases.banned("avion", "▁L '"), Not(testing::Contains("▁avions")));
}

TEST(PhraseConstraints, AProposedTokenAlwaysBringsAPhraseNearer) {
  for (const auto& phrases : {chinese(), french()}) {
    for (const std::string phrase : {"小狗和大猫", "12", "L'avion d'or", "Est-ce que", "avion"}) {
      SentenceOptions sentence;
      try {
        sentence = phrases.require(phrase);
      } catch (const InputError&) {
        continue;  // of the other language
      }
      const auto& pattern = sentence.required_phrases[0];
      EXPECT_TRUE(
          has_phrases(pattern.tokens(), sentence.required_phrases, phrases.encoder->words()));
      for (std::size_t state = 0; state < pattern.states().size(); ++state) {
        for (const auto token : pattern.states()[state].proposed) {
          const auto& edges = pattern.states()[state].edges;
          const auto edge = std::ranges::find(edges, token, &TokenPattern::Edge::token);
          ASSERT_NE(edge, edges.end());
          if (edge->to == pattern.last()) continue;
          EXPECT_LT(pattern.states()[edge->to].remaining, pattern.states()[state].remaining);
          EXPECT_THAT(pattern.states()[edge->to].proposed, Not(IsEmpty()));
        }
      }
    }
  }
}

TEST(WordBoundaries, TokensStandInsideWordsByTheirFirstAndLastCharacters) {
  const Phrases phrases({"houses, house. houses7 été", "a house, a cat: cats. x-y 小狗"}, 45);
  const auto& words = phrases.encoder->words();
  for (std::int32_t id = 4; id < phrases.codec.target->size(); ++id) {
    const auto token = phrases.codec.target->token(id);
    const auto is_outside = [](std::string_view text) {
      for (const std::string_view mark : {".", ",", ":", "-", "▁", "小", "狗"}) {
        if (text.starts_with(mark)) return true;
      }
      return false;
    };
    EXPECT_EQ(words.begins_inside[static_cast<std::size_t>(id)], !is_outside(token)) << token;
    EXPECT_EQ(words.ends_inside[static_cast<std::size_t>(id)],
              !is_outside(token.substr(token.size() - 1)) && token != "▁" &&
                  !token.ends_with("小") && !token.ends_with("狗"))
        << token;
  }
}

TEST(WordBoundaries, WordsAndCharactersHaveNone) {
  TokenizerOptions options;
  options.kind = TokenizerKind::character;
  TextCodec codec;
  codec.target = load_tokenizer(options, "a\nb\n", "v");
  EXPECT_EQ(PhraseEncoder(codec, options.kind).words(), WordBoundaries());
}

}  // namespace
}  // namespace regard::phrase_constraints_test
