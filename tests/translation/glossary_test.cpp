#include "translation/glossary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/error.h"
#include "decoding/lexical_constraints.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/text/lines.h"
#include "text/tokenizer.h"

namespace regard::glossary_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A glossary with these terms over a target vocabulary of sub-words. Each term is its own
// translation unless it has one.
class Terms {
 public:
  explicit Terms(std::vector<GlossaryEntry> entries) {
    TokenizerOptions options;
    options.vocabulary_size = 60;
    codec.target = train_tokenizer(
        options, lines_of({"Le chien et la voiture et un chat", "Les chiens et les voitures",
                           "la carte bleue CHAT 大猫和小狗", "gmvstpqbo"}));
    encoder.emplace(codec, options.kind);
    for (auto& entry : entries) {
      if (entry.targets.empty()) entry.targets = {"chien"};
    }
    glossary.emplace(entries, *encoder, std::vector<std::string>{"<2fr>", "<cat>"});
    for (const auto& entry : entries) sources.push_back(entry.source);
    std::ranges::sort(sources);
  }
  // The terms that are found in a sentence; with ^ if they have a capital that the term has not.
  std::vector<std::string> find(const std::string& sentence) const {
    std::vector<std::string> found;
    for (const auto& match : glossary->find(sentence)) {
      found.push_back((match.has_capital ? "^" : "") + sources[match.term]);
    }
    return found;
  }
  // True if a translation has the phrase of the only term in a sentence.
  bool meets(const std::string& sentence, const std::string& translation) const {
    const auto matches = glossary->find(sentence);
    EXPECT_EQ(matches.size(), 1U);
    return has_phrases(codec.target->encode(translation), {glossary->phrase(matches.at(0))},
                       encoder->words());
  }

  TextCodec codec;
  std::optional<PhraseEncoder> encoder;
  std::optional<Glossary> glossary;
  std::vector<std::string> sources;
};

std::vector<GlossaryEntry> entries(const std::vector<std::string>& terms) {
  std::vector<GlossaryEntry> entries;
  entries.reserve(terms.size());
  for (const auto& term : terms) entries.push_back({term, {}, "here"});
  return entries;
}

TEST(Glossary, FindsWholeWordsOfTheSameCase) {
  const Terms terms(entries({"cat", "big dog", "NASA", "C++"}));
  EXPECT_THAT(terms.find("a cat, the  big\tdog and NASA use C++."),
              ElementsAre("cat", "big dog", "NASA", "C++"));
  EXPECT_THAT(terms.find("cats concat Nasa bigdog big dogs BIG DOG"), IsEmpty());
  EXPECT_THAT(terms.find("l'cat cat-cat (cat)"), ElementsAre("cat", "cat", "cat", "cat"));
  EXPECT_THAT(terms.find(""), IsEmpty());
}

TEST(Glossary, TheLongestTermCountsAndTermsDoNotOverlap) {
  const Terms terms(entries({"credit", "credit card", "card", "card holder"}));
  EXPECT_THAT(terms.find("the credit card holder"), ElementsAre("credit card"));
  EXPECT_THAT(terms.find("credit cards and a card holder"), ElementsAre("credit", "card holder"));
}

TEST(Glossary, ASmallLetterMatchesACapitalAtTheBeginningOfASentence) {
  const Terms terms(entries({"cat", "Dog", "dog", "élan", "big dog"}));
  EXPECT_THAT(terms.find("Cat and Cat"), ElementsAre("^cat"));
  EXPECT_THAT(terms.find("\"Cat\" and cat"), ElementsAre("^cat", "cat"));
  EXPECT_THAT(terms.find("Dog and dog"), ElementsAre("Dog", "dog"));
  EXPECT_THAT(terms.find("Big dog"), ElementsAre("^big dog"));
  EXPECT_THAT(terms.find("No. Cat sleeps! Élan"), ElementsAre("^cat", "^élan"));
  EXPECT_THAT(terms.find("<2fr> Cat <cat>"), ElementsAre("^cat", "cat"));
  EXPECT_THAT(terms.find("CAT"), IsEmpty());
}

TEST(Glossary, ScriptsWithoutSpacesMatchByCharacters) {
  const Terms terms(entries({"狗", "小狗", "iPhone"}));
  EXPECT_THAT(terms.find("大猫和小狗。狗iPhone很好"), ElementsAre("小狗", "狗", "iPhone"));
}

TEST(Glossary, AnyFormMeetsATerm) {
  const Terms terms({{"dog", {"chien", "chiens"}, "x:1"}, {"dog", {"carte bleue"}, "x:2"}});
  for (const auto* met : {"Le chien", "Les chiens", "la carte bleue et un", "chien"}) {
    EXPECT_TRUE(terms.meets("a dog", met)) << met;
  }
  for (const auto* unmet : {"la carte", "un chat", "Chien", "chienst", "carte et bleue"}) {
    EXPECT_FALSE(terms.meets("a dog", unmet)) << unmet;
  }
  EXPECT_TRUE(terms.meets("Dog", "Chiens"));
  EXPECT_TRUE(terms.meets("Dog", "les chiens"));
}

// A search may take any of the tokens that the pattern proposes: they meet the term.
TEST(Glossary, TheProposedTokensLeadToAForm) {
  const Terms terms({{"dog", {"chien", "carte bleue", "voitures"}, "x:1"}});
  const auto pattern = terms.glossary->phrase(terms.glossary->find("a dog").at(0));
  const Phrases phrases = {pattern};
  std::size_t ways = 0;
  const std::function<void(std::vector<std::int32_t>)> walk =
      [&](std::vector<std::int32_t> tokens) {
        const auto progress = constraint_progress(tokens, phrases, terms.encoder->words());
        if (progress.complete) {
          ++ways;
          EXPECT_EQ(progress.met, pattern.length());
          return;
        }
        const auto state = pattern.match(tokens, terms.encoder->words()).begun;
        ASSERT_LT(tokens.size(), 12U);
        for (const auto token : pattern.states()[state].proposed) {
          auto next = tokens;
          next.push_back(token);
          const auto after = constraint_progress(next, phrases, terms.encoder->words());
          EXPECT_GT(after.met, progress.met);
          walk(next);
        }
      };
  walk({});
  EXPECT_GE(ways, 3U);
}

TEST(Glossary, AFileHasTermsFormsAndNotes) {
  const ScratchFolder folder;
  const auto path =
      folder.write("terms.tsv", "big dog\tgros chien|toutou\tan animal\r\n\ncat\tchat\n");
  const auto found = read_glossary(path);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].source, "big dog");
  EXPECT_THAT(found[0].targets, ElementsAre("gros chien", "toutou"));
  EXPECT_EQ(found[1].place, path + ":3");
}

TEST(Glossary, FaultsHaveTheirPlace) {
  const auto message = [](const std::string& line) {
    const ScratchFolder folder;
    return message_of<InputError>([&] {
      Terms terms(read_glossary(folder.write("terms.tsv", "cat\tchat\n" + line + "\n")));
    });
  };
  EXPECT_THAT(message("cat"), HasSubstr("terms.tsv:2: found 1 column in `cat`, expected a source"));
  EXPECT_THAT(message("a\tb\tc\td"), HasSubstr("terms.tsv:2: found 4 columns"));
  EXPECT_THAT(message(" \tchat"), HasSubstr("terms.tsv:2: found an empty source term"));
  EXPECT_THAT(message("cat\tchat|"), HasSubstr("terms.tsv:2: found an empty translation of `cat`"));
  EXPECT_THAT(message("cat\tž"), HasSubstr("terms.tsv:2: `ž` is not in the model's vocabulary"));
  EXPECT_THAT(message("cat\t\xFF"), HasSubstr("terms.tsv:2: "));
}

}  // namespace
}  // namespace regard::glossary_test
