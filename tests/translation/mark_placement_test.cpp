// Markup is put back into translations.
#include "translation/mark_placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/translation/words_of.h"

namespace regard::mark_placement_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr MarkupKinds markup{.tags = true, .placeholders = true};

// The translation of a line whose target word j attends to source word `links[j]`; none for -1.
std::string translated(const std::string& source, const std::string& target,
                       const std::vector<int>& links, const MarkupKinds& kinds = markup) {
  const auto line = take_out(source, kinds);
  const auto words = words_of(line.text);
  std::vector<std::vector<float>> weights;
  for (const auto link : links) {
    weights.emplace_back(words.size(), 0.F);
    if (link >= 0) weights.back().at(static_cast<std::size_t>(link)) = 1;
  }
  return put_back(line, {target, words, words_of(target), &weights});
}

TEST(MarkPlacement, PairFollowsTheWordsThatAttendToItsWords) {
  EXPECT_EQ(translated("a <b>red</b> car stops", "une voiture rouge arrête", {0, 2, 1, 3}),
            "une voiture <b>rouge</b> arrête");
  EXPECT_EQ(
      translated("a <a href=\"x>y\">red car</a> stops", "une voiture rouge arrête", {0, 2, 1, 3}),
      "une <a href=\"x>y\">voiture rouge</a> arrête");
  EXPECT_EQ(translated("<b>all of it</b>", "tout ça", {0, 2}), "<b>tout ça</b>");
}

TEST(MarkPlacement, OneWordFarAwayDoesNotWidenARun) {
  EXPECT_EQ(translated("<b>the red car</b> stops at the house",
                       "la voiture rouge arrête à la maison", {0, 2, 1, 3, 4, 0, 6}),
            "<b>la voiture rouge</b> arrête à la maison");
}

TEST(MarkPlacement, PunctuationStaysOutsideAsInTheSource) {
  EXPECT_EQ(translated("he sees the <b>cat</b>.", "il voit le chat.", {0, 1, 2, 3}),
            "il voit le <b>chat</b>.");
  EXPECT_EQ(translated("(<i>see</i>) here", "(voir) ici", {0, 1}), "(<i>voir</i>) ici");
}

TEST(MarkPlacement, AWordIsNotTranslatedByPunctuation) {
  EXPECT_EQ(translated("in <i>the</i> background .", "im Hintergrund .", {0, 2, 1}),
            "im <i>Hintergrund</i> .");
}

TEST(MarkPlacement, PairsAreNestedAsInTheSource) {
  EXPECT_EQ(translated("<b>the <i>red</i> car</b> stops", "la voiture rouge arrête", {0, 2, 1, 3}),
            "<b>la voiture <i>rouge</i></b> arrête");
  // The attention of the inner words lies outside of the outer run.
  EXPECT_EQ(translated("<b>a b <i>c</i></b> d e", "A B D C E", {0, 1, 3, 2, 4}),
            "<b>A <i>B</i></b> D C E");
}

TEST(MarkPlacement, PairsNeverOverlap) {
  EXPECT_EQ(translated("<b>a b</b> <i>c</i>", "A C B", {0, 2, 1}), "<b>A</b> <i>C</i> B");
  EXPECT_EQ(translated("<b>a</b> <i>c</i>", "AC", {0}), "<b>AC</b> <i></i>");
}

TEST(MarkPlacement, PairAroundNothingStaysBesideItsNeighbours) {
  EXPECT_EQ(translated("a <b></b>c", "C A", {1, 0}), "<b></b>C A");
  EXPECT_EQ(translated("see <a href='x'>{name}</a> now", "regarde maintenant", {0, 1}),
            "regarde <a href='x'>{name}</a> maintenant");
}

TEST(MarkPlacement, WithoutAttentionRelativePositionsDecide) {
  EXPECT_EQ(translated("a b <b>c</b> d", "A B C D", {-1, -1, -1, -1}), "A B <b>C</b> D");
  EXPECT_EQ(translated("a <b>b</b>", "", {}), "<b></b>");
}

TEST(MarkPlacement, TagsWithoutPartnersKeepTheirOrder) {
  EXPECT_EQ(translated("a</b> c <b>d", "D C A", {2, 1, 0}), "</b> D C A <b>");
  const auto crossed = translated("<b>a <i>b</b> c</i> d", "A B C D", {0, 1, 2, 3});
  EXPECT_LT(crossed.find("<i>"), crossed.find("</i>"));
  EXPECT_LT(crossed.find("<b>"), crossed.find("</b>"));
  EXPECT_EQ(crossed, "<b>A <i>B</b> C</i> D");
}

TEST(MarkPlacement, PlaceholdersStandBetweenTheirNeighbours) {
  EXPECT_EQ(translated("Hello {name}, welcome", "Bonjour, bienvenue", {0, 1}),
            "Bonjour {name}, bienvenue");
  EXPECT_EQ(translated("%1$d of %2$d files", "files of", {1, 0}), "%1$d %2$d files of");
  EXPECT_EQ(translated("Delete {{count}} files?", "Supprimer fichiers ?", {0, 1, 1}),
            "Supprimer {{count}} fichiers ?");
  EXPECT_EQ(translated("({x}) is {y}{z}", "() est", {0, 1}), "({x}) est {y}{z}");
  EXPECT_EQ(translated("{x}", "", {}), "{x}");
}

TEST(MarkPlacement, KeepsUrlsAndAddresses) {
  constexpr MarkupKinds urls{.urls = true};
  EXPECT_EQ(translated("see http://a.b/c now", "regarde maintenant", {0, 1}, urls),
            "regarde http://a.b/c maintenant");
}

TEST(MarkPlacement, KeepsNumbers) {
  constexpr MarkupKinds numbers{.numbers = true};
  EXPECT_EQ(translated("12 small dogs", "petits chiens", {0, 1}, numbers), "12 petits chiens");
}

TEST(MarkPlacement, TextOfHtmlIsEscaped) {
  MarkedLine line{.text = "a & b", .is_html = true};
  EXPECT_EQ(put_back(line, {"A & <B>", {}, {}, nullptr}), "A &amp; &lt;B&gt;");
  EXPECT_EQ(escape_html("\"'<>&"), "\"'&lt;&gt;&amp;");
}

TEST(MarkPlacement, TokensHaveTheirPlacesInTheText) {
  const auto places = [](std::string_view text, const std::vector<std::string>& tokens,
                         TokenizerKind kind) {
    std::vector<std::string> found;
    for (const auto& range : token_ranges(text, tokens, kind)) {
      found.emplace_back(text.substr(range.begin, range.end - range.begin));
    }
    return found;
  };
  EXPECT_THAT(places("The  cats, é", {"▁The", "▁", "cat", "s,", "▁é", "</s>"}, TokenizerKind::bpe),
              ElementsAre("The", "", "cat", "s,", "é", ""));
  EXPECT_THAT(places("a b", {"a", " ", "b", "</s>"}, TokenizerKind::character),
              ElementsAre("a", "", "b", ""));
  // A tag that the splitter repeats, and lower case.
  EXPECT_THAT(places("<2de> One. Two.", {"<2de>", "one.", "<2de>", "two."}, TokenizerKind::word),
              ElementsAre("<2de>", "One.", "", "Two."));
  EXPECT_THAT(
      places("한 é x", {"ᄒ", "￭ᅡ", "￭ᆫ", "e", "￭́", "x", "</s>"}, TokenizerKind::decomposed),
      ElementsAre("한", "한", "한", "é", "é", "x", ""));
}

// Each mark is there once, pairs are nested, and the words are those of the translation.
TEST(MarkPlacement, HoldsForRandomLinesAndAttention) {
  std::mt19937 random(3);
  const std::vector<std::string> pieces = {"a",   "b.",   "(c)",          " ",    " ",
                                           "<b>", "</b>", "<i>",          "</i>", "<br/>",
                                           "{x}", "%s",   "http://u.v/w", "12",   "词"};
  const std::vector<std::string> words = {"A", "B,", "(C)", "词词", "!"};
  constexpr MarkupKinds all{true, true, true, true};
  for (int trial = 0; trial < 3000; ++trial) {
    std::string source;
    for (auto n = random() % 14; n > 0; --n) source += pieces[random() % pieces.size()];
    std::string target;
    for (auto n = random() % 6; n > 0; --n)
      target += (target.empty() ? "" : " ") + words[random() % words.size()];
    const auto line = take_out(source, all);
    std::vector<std::vector<float>> weights;
    for (std::size_t j = 0; j < words_of(target).size(); ++j) {
      weights.emplace_back();
      for (std::size_t i = 0; i < words_of(line.text).size(); ++i) {
        weights.back().push_back(static_cast<float>(random() % 4));
      }
    }
    const auto result = put_back(line, {target, words_of(line.text), words_of(target), &weights});
    auto rest = result;
    auto marks = line.marks;
    std::ranges::stable_sort(marks, std::ranges::greater{},
                             [](const Mark& mark) { return mark.bytes.size(); });
    for (const auto& mark : marks) {
      const auto at = rest.find(mark.bytes);
      ASSERT_NE(at, rest.npos) << source << "\n" << result;
      rest.erase(at, mark.bytes.size());
    }
    std::erase(rest, ' ');
    auto bare = target;
    std::erase(bare, ' ');
    ASSERT_EQ(rest, bare) << source << "\n" << result;
    // The same tags have partners, in the order of the source or another.
    const auto again = take_out(result, all);
    const auto singles = [](const MarkedLine& marked) {
      std::string tags;
      for (const auto& mark : marked.marks) {
        if (mark.kind == Mark::Kind::single) tags += mark.bytes;
      }
      return tags;
    };
    ASSERT_EQ(singles(line), singles(again)) << source << "\n" << result;
    ASSERT_EQ(result.find("  "), result.npos) << source << "\n" << result;
  }
}

TEST(MarkPlacement, ManyMarksTakeLittleTime) {
  std::string source = "a ";
  for (int i = 0; i < 100000; ++i) source += "<b>";
  for (int i = 0; i < 100000; ++i) source += "</b></i>";
  const auto line = take_out(source + " c", markup);
  EXPECT_EQ(line.marks.size(), 300000U);
  EXPECT_THAT(put_back(line, {"A C", {}, {}, nullptr}), HasSubstr("A <b><b>"));
}

}  // namespace
}  // namespace regard::mark_placement_test
