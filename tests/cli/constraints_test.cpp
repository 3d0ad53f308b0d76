// Constraints for each line: prefixes, required and banned phrases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run.h"

namespace regard::constraints_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

using ConstraintsCli = CliTest;

TEST_F(ConstraintsCli, ConstraintsApplyOnlyToTheirLines) {
  const std::string input = "the cat sees\na dog\n\nthe bird hears\n";
  const auto plain = lines_of(translate({}, input).out);
  for (const std::string beam : {"1", "4"}) {
    const auto finished = translate(
        {"--beam-size", beam, "--prefixes", file("p", "\nici un\n\n\n"), "--require",
         file("d", "petit\tle vieux\n\n\n\n"), "--ban", file("b", "\n\n\noiseau\tentend\n")},
        input);
    ASSERT_EQ(finished.code, 0) << finished.err;
    const auto lines = lines_of(finished.out);
    ASSERT_THAT(lines, SizeIs(4));
    EXPECT_THAT(lines[0], HasSubstr("petit"));
    EXPECT_THAT(lines[0], HasSubstr("le vieux"));
    EXPECT_THAT(lines[1], StartsWith("ici un"));
    EXPECT_EQ(lines[2], "");
    EXPECT_THAT(lines[3], Not(HasSubstr("oiseau")));
    EXPECT_THAT(lines[3], Not(HasSubstr("entend")));
  }
  const auto nothing = translate({"--require", file("d", "\n\n\n\n")}, input);
  EXPECT_EQ(lines_of(nothing.out), plain);
}

TEST_F(ConstraintsCli, FileOfAnotherLengthIsAnError) {
  const auto shorter = translate({"--prefixes", file("p", "le\n")}, "the\ncat\n");
  EXPECT_EQ(shorter.code, 3);
  EXPECT_THAT(shorter.err, HasSubstr("p: found 1 line, but the input has more"));
  const auto longer = translate({"--ban", file("b", "le\n\n\n")}, "the\ncat\n");
  EXPECT_EQ(longer.code, 3);
  EXPECT_THAT(longer.err, HasSubstr("b:3: found a line too many"));
}

TEST_F(ConstraintsCli, ImpossibleConstraintsNameTheirPlace) {
  const auto unknown = translate({"--require", file("d", "\nle zebre\n")}, "the\ncat\n");
  EXPECT_EQ(unknown.code, 3);
  EXPECT_THAT(unknown.err, HasSubstr("d:2: `zebre` is not in the model's vocabulary"));
  const auto contrary =
      translate({"--require", file("d", "le chat\n"), "--ban", file("b", "chat\n")}, "the\n");
  EXPECT_EQ(contrary.code, 3);
  EXPECT_THAT(contrary.err, HasSubstr("b:1: `chat` is banned, but"));
  const auto long_one =
      translate({"--require", file("d", "le chat\n"), "--max-output-length", "2"}, "the\n");
  EXPECT_EQ(long_one.code, 3);
  EXPECT_THAT(long_one.err, HasSubstr("found 2 tokens, expected fewer than"));
}

// Only one of the three words can begin the translation. The others can only follow <unk>, for
// which the maximum length is too short.
TEST_F(ConstraintsCli, RequiredPhrasesBlockedByBansAreAnError) {
  std::string bans;
  for (const std::string word : {"le", "chat", "chien", "oiseau", "voit", "entend", "un", "petit",
                                 "vieux", "et", "ici", "."}) {
    bans += word + " le\t" + word + " un\t" + word + " et\t";
  }
  const auto finished = translate({"--require", file("d", "le\tun\tet\n"), "--ban",
                                   file("b", bans + "\n"), "--max-output-length", "4"},
                                  "the cat\n");
  EXPECT_EQ(finished.code, 3) << finished.out;
  EXPECT_THAT(finished.err, HasSubstr("d:1: found no translation that has all these phrases"));
  EXPECT_EQ(lines_of(finished.out).size(), 1U);  // the best there is
}

TEST_F(ConstraintsCli, BanOfAnUnknownWordIsAWarning) {
  const auto finished = translate({"--ban", file("b", "zebre\n")}, "the cat\n");
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.out, translate({}, "the cat\n").out);
  EXPECT_THAT(finished.err, HasSubstr("b:1: `zebre` is not in the model's vocabulary"));
}

TEST_F(ConstraintsCli, FileErrorsAreReportedBeforeTranslation) {
  const auto input = file("in", "the\ncat\ndog\n");
  const auto output = path("out");
  for (const std::string prefixes : {"le\n\n\n\n", "le\n\nzebre\n", "le\n"}) {
    const auto finished = translate({"-i", input, "-o", output, "--prefixes", file("p", prefixes)});
    EXPECT_EQ(finished.code, 3) << prefixes;
    EXPECT_FALSE(std::filesystem::exists(output));
  }
}

TEST_F(ConstraintsCli, SamplesCannotHaveRequiredPhrases) {
  const auto finished = translate({"--samples", "2", "--require", file("d", "le\n")}, "the\n");
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("--require"));
  const auto begun = translate({"--samples", "5", "--prefixes", file("p", "ici\n")}, "the\n");
  ASSERT_EQ(begun.code, 0) << begun.err;
  for (const auto& line : lines_of(begun.out)) EXPECT_THAT(line, StartsWith("0 ||| ici"));
}

TEST_F(ConstraintsCli, TermsOfAGlossaryAreTranslatedAsItSays) {
  const std::string input = "the cat sees\na dog\n\nthe bird hears the bird\n";
  const auto plain = lines_of(translate({"--beam-size", "4"}, input).out);
  const auto glossary = file("terms.tsv", "cat\tvieux\ta note\nbird\tpetit chien|un chien\n");
  for (const std::string beam : {"1", "4"}) {
    const auto finished = translate({"--beam-size", beam, "--glossary", glossary}, input);
    ASSERT_EQ(finished.code, 0) << finished.err;
    const auto lines = lines_of(finished.out);
    ASSERT_THAT(lines, SizeIs(4));
    EXPECT_THAT(lines[0], HasSubstr("vieux"));
    EXPECT_EQ(lines[1], lines_of(translate({"--beam-size", beam}, input).out)[1]);
    EXPECT_EQ(lines[2], "");
    std::size_t found = 0;  // one for each bird
    for (const auto* form : {"petit chien", "un chien"}) {
      for (auto at = lines[3].find(form); at != lines[3].npos; at = lines[3].find(form, at + 1)) {
        ++found;
      }
    }
    EXPECT_GE(found, 2U) << lines[3];
  }
  // Both the glossary and required phrases.
  const auto both =
      translate({"--glossary", glossary, "--require", file("d", "ici\n\n\nvoit\n")}, input);
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_THAT(lines_of(both.out)[0], testing::AllOf(HasSubstr("vieux"), HasSubstr("ici")));
  EXPECT_THAT(lines_of(both.out)[3], HasSubstr("voit"));
}

TEST_F(ConstraintsCli, ATermBelongsToItsSentence) {
  const std::string line = "the cat sees . the dog hears . a small bird hears the old dog .";
  const auto glossary = file("terms.tsv", "bird\tici ici\n");
  const auto plain = translate({"--json"}, line + "\n").out;
  const auto finished = translate({"--glossary", glossary}, line + "\n");
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto alone =
      translate({"--glossary", glossary, "--whole-lines"}, "a small bird hears the old dog .\n");
  EXPECT_THAT(finished.out, testing::EndsWith(" " + alone.out));
  EXPECT_THAT(alone.out, HasSubstr("ici ici"));
}

TEST_F(ConstraintsCli, FaultsOfAGlossaryAreErrors) {
  const auto refused = [&](const std::string& text, const Words& more = {}) {
    return translate(more + Words{"--glossary", file("terms.tsv", text)}, "the cat\n");
  };
  const auto one_column = refused("cat chat\n");
  EXPECT_EQ(one_column.code, 3);
  EXPECT_THAT(one_column.err, HasSubstr("terms.tsv:1: found 1 column in `cat chat`"));
  EXPECT_THAT(refused("cat\tzebre\n").err,
              HasSubstr("terms.tsv:1: `zebre` is not in the model's vocabulary"));
  EXPECT_EQ(refused("cat\tchat\n", {"--samples", "2"}).code, 2);
  const auto unmet = refused("cat\tvieux\n", {"--ban", file("b", "vieux\n")});
  EXPECT_EQ(unmet.code, 3);
  EXPECT_THAT(unmet.err,
              HasSubstr(":1: found no translation that has all translations of terms in "));
  const auto is_long = refused("cat\tun un un un un\n", {"--max-output-length", "5"});
  EXPECT_EQ(is_long.code, 3);
  EXPECT_THAT(is_long.err, HasSubstr("source line 1: its terms in the glossary"));
}

}  // namespace
}  // namespace regard::constraints_test
