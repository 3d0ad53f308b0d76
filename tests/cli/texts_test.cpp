// regard translate: texts inside of columns, JSON and HTML, and markup inside of texts.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run.h"
#include "tests/report/xml_check.h"

namespace regard::texts_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

using TextsCli = CliTest;

// Returns the translation of one line of text.
std::string plain(const std::string& line) {
  return lines_of(translate({}, line).out).at(0);
}

std::string without(std::string text, const Words& parts) {
  for (const auto& part : parts) {
    const auto at = text.find(part);
    if (at == text.npos) return fmt::format("no {} in {}", part, text);
    text.erase(at, part.size());
  }
  return text;
}

TEST_F(TextsCli, AColumnIsTranslatedAndTheOthersKeepTheirBytes) {
  const auto cat = plain("the cat sees");
  const auto dog = plain("a small dog");
  const auto input =
      file("in.tsv", "\xEF\xBB\xBFid\ten\t\"x\r\n1\tthe cat sees\t \r\n2\t \tb\n\n3\ta small dog");
  const auto named = translate({"-i", input, "--format", "tsv:en"});
  ASSERT_EQ(named.code, 0) << named.err;
  EXPECT_EQ(named.out, "\xEF\xBB\xBFid\ten\t\"x\r\n1\t" + cat + "\t \r\n2\t \tb\n\n3\t" + dog);
  const auto rows = file("rows.tsv", "1\tthe cat sees\n2\ta small dog\n");
  EXPECT_EQ(translate({"-i", rows, "--format", "tsv:2"}).out, "1\t" + cat + "\n2\t" + dog + "\n");
}

TEST_F(TextsCli, AStringOfJsonIsTranslatedAndTheRestKeepsItsBytes) {
  const auto cat = plain("the cat sees");
  const auto dog = plain("a small dog");
  const auto input = file(
      "in.jsonl",
      R"( { "n":1.0, "t" :{"fr":"\"}", "en": "the \u0063at sees\na small dog"}, "x": [1, "a"]} )"
      "\r\n\n"
      R"({"t":{"en":""}})"
      "\n");
  const auto finished = translate({"-i", input, "--format", "jsonl:t.en"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.out, R"( { "n":1.0, "t" :{"fr":"\"}", "en": ")" + cat + "\\n" + dog +
                              R"("}, "x": [1, "a"]} )"
                              "\r\n\n"
                              R"({"t":{"en":""}})"
                              "\n");
  const auto listed =
      translate({"-i", file("b", R"([["", "the cat sees"]])"), "--format", "jsonl:0.1"});
  EXPECT_EQ(listed.out, R"([["", ")" + cat + R"("]])");
}

TEST_F(TextsCli, AnHtmlPageKeepsEverythingButItsTexts) {
  const std::string head =
      "<!DOCTYPE html>\r\n<html><style>a { b: c }</style><p title=\"the cat\">";
  const auto input =
      file("in.html", head + " the cat\n sees . </p><pre>the cat</pre><LI>a small dog\n");
  const auto finished = translate({"-i", input});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.out, head + " " + plain("the cat sees .") + " </p><pre>the cat</pre><LI>" +
                              plain("a small dog") + "\n");
  const auto named = translate({"--format", "html"}, "<b>the cat</b> sees &amp; <i>hears</i> .");
  EXPECT_THAT(without(named.out, {"<b>", "</b>", "<i>", "</i>"}), SizeIs(named.out.size() - 14));
  EXPECT_EQ(translate({"-i", input, "--format", "text"}).out.find("<pre>"), std::string::npos);
}

TEST_F(TextsCli, MarkupIsPutBackAndTheWordsAreThoseOfThePlainLine) {
  const std::string input =
      "the <b>small cat</b> sees {x} here\nthe small cat sees here\n\n<br/>\n"
      "</i> a <i>\n";
  for (const std::string beam : {"1", "4"}) {
    const auto lines = lines_of(translate({"--markup", "--beam-size", beam}, input).out);
    ASSERT_THAT(lines, SizeIs(5));
    auto words = without(lines[0], {"<b>", "</b>"});
    EXPECT_THAT(words, HasSubstr("{x}"));
    words = without(words, {words.find("{x} ") != words.npos ? "{x} " : " {x}"});
    EXPECT_EQ(words, lines[1]);
    EXPECT_EQ(lines[2], "");
    EXPECT_EQ(lines[3], "<br/>");
    EXPECT_LT(lines[4].find("</i>"), lines[4].find("<i>"));
  }
}

TEST_F(TextsCli, MarkupIsTextWithoutTheOption) {
  const auto finished = translate({}, "the <b>cat</b>\n");
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.out.find("</b>"), std::string::npos);
}

TEST_F(TextsCli, NumbersUrlsAndPlaceholdersAreKept) {
  const auto finished = translate({"--keep", "urls,numbers,placeholders"},
                                  "the cat sees 12 %s at http://a.b/c?d .\n");
  ASSERT_EQ(finished.code, 0) << finished.err;
  for (const std::string part : {"12", "%s", "http://a.b/c?d"}) {
    EXPECT_THAT(finished.out, HasSubstr(part));
  }
}

TEST_F(TextsCli, SentencesOfALineShareItsMarkup) {
  const auto finished = translate({"--markup"}, "the <b>cat sees . the dog</b> hears .\n");
  EXPECT_EQ(without(finished.out, {"<b>", "</b>"}),
            plain("the cat sees .") + " " + plain("the dog hears .") + "\n");
}

TEST_F(TextsCli, PicturesAndPagesHaveTheNumbersOfTheInputLines) {
  const auto finished =
      translate({"--format", "jsonl:t", "--picture", path("maps/"), "--report", path("page.html")},
                "{\"t\": \"the cat sees\\na small dog\"}\n{\"t\": \"the dog hears\"}\n");
  ASSERT_EQ(finished.code, 0) << finished.err;
  for (const auto& [name, word] : {std::pair{"maps/line-00001.svg", "cat"},
                                   {"maps/line-00001-2.svg", "small"},
                                   {"maps/line-00002.svg", "hears"}}) {
    EXPECT_THAT(read_text(path(name)), HasSubstr(word)) << name;
  }
  const auto page = read_text(path("page.html"));
  EXPECT_EQ(count_of(page, "<h2>Line 1</h2>"), 2U);
  EXPECT_EQ(count_of(page, "<h2>Line 2</h2>"), 1U);
  EXPECT_EQ(count_of(page, "<h2>Line "), 3U);
}

TEST_F(TextsCli, ConstraintsApplyToTheLinesOfAColumn) {
  const auto finished = translate({"--format", "tsv:x", "--prefixes", file("p", "\nici\n\n")},
                                  "x\ty\nthe cat\t1\na dog\t2\n");
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto lines = lines_of(finished.out);
  EXPECT_EQ(lines.at(0), "x\ty");
  EXPECT_THAT(lines.at(1), StartsWith("ici"));
  EXPECT_EQ(lines.at(2), plain("a dog") + "\t2");
}

TEST_F(TextsCli, AWrongColumnKeyOrJsonNamesItsLine) {
  const auto column = translate({"--format", "tsv:3"}, "a\tb\tthe cat\nc\td\n");
  EXPECT_EQ(column.code, 3);
  EXPECT_THAT(column.out, StartsWith("a\tb\t"));
  EXPECT_THAT(column.err, HasSubstr("standard input:2: found 2 columns, expected at least 3"));
  const auto name = translate({"-i", file("in.tsv", "a\tb\n"), "--format", "tsv:c"});
  EXPECT_EQ(name.code, 3);
  EXPECT_THAT(name.err, HasSubstr("in.tsv:1: found no column c, but a b"));
  const auto several = translate({"-i", file("in.tsv", "a\tb\n"), "--format", "tsv:a+b"});
  EXPECT_EQ(several.code, 3);
  EXPECT_THAT(several.err, HasSubstr("found no column a+b, but a b; name one column"));
  EXPECT_THAT(translate({"--format", "tsv:a"}, "a\ta\n").err, HasSubstr(":1: found two columns"));
  const auto json = translate({"--format", "jsonl:a"}, "{\"a\": \"the cat\"}\n{\"a\": \n");
  EXPECT_EQ(json.code, 3);
  EXPECT_THAT(json.err, HasSubstr("standard input:2: found no JSON: parse error"));
  for (const auto& [line, fault] : {std::pair{R"({"b": 1})", "a: found no such key"},
                                    {R"({"a": 1})", "a.b: found no object"},
                                    {R"({"a": {"b": 3}})", "a.b: found 3, expected a string"},
                                    {R"({"a": {"b": "", "b": ""}})", "a.b: found the key twice"},
                                    {"7", "a: found no object"}}) {
    const auto finished = translate({"--format", "jsonl:a.b"}, line);
    EXPECT_EQ(finished.code, 3) << line;
    EXPECT_THAT(finished.err, AllOf(HasSubstr("standard input:1: "), HasSubstr(fault)));
  }
  EXPECT_EQ(translate({"--format", "html"}, "\xFF").code, 3);
}

TEST_F(TextsCli, OptionsThatDoNotFitAreRefused) {
  const auto input = file("in.tsv", "a\n");
  for (const auto& [arguments, fault] : std::vector<std::pair<Words, std::string>>{
           {{"-i", input},
            "in.tsv: found the ending .tsv; say which text to translate with --format tsv:COLUMN"},
           {{"--format", "csv"},
            "--format: found csv, expected text, tsv:COLUMN, jsonl:KEY or html; for a column of "
            "CSV, give -i FILE#COLUMN"},
           {{"-i", file("in.csv", "a,b\n")}, "which text to translate with -i FILE#COLUMN"},
           {{"--format", "tsv:"}, "--format tsv:: found no column"},
           {{"--format", "tsv:0"}, "columns count from 1"},
           {{"--format", "jsonl"}, "--format jsonl: found no key"},
           {{"--format", "tsv:1", "--scores"}, "--format tsv:1 cannot be combined with --scores"},
           {{"--markup", "--json"}, "--markup cannot be combined with --json"},
           {{"--keep", "urls", "--n-best", "2"}, "--keep cannot be combined with --n-best"},
           {{"--markup", "--samples", "2"}, "--markup cannot be combined with --samples"},
           {{"--format", "html", "--ban", input}, "--format html cannot be combined with --ban"}}) {
    const auto finished = translate(arguments);
    EXPECT_EQ(finished.code, 2) << fault;
    EXPECT_THAT(finished.err, HasSubstr(fault));
  }
  EXPECT_EQ(translate({"--keep", "names"}).code, 2);
  const auto none = run({"translate", "-m", tiny_fixed_context().string(), "--markup"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("--markup: the model"));
}

}  // namespace
}  // namespace regard::texts_test
