// The texts of files; tests/cli/texts_test.cpp has those of whole files.
#include "translation/text_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::text_format_test {
namespace {

using testing::ElementsAre;

TEST(TextFormat, TheEndingOfANameTellsIt) {
  using Kind = TextFormat::Kind;
  EXPECT_EQ(text_format("", "a/page.HTML").kind, Kind::html);
  EXPECT_EQ(text_format("", "page.htm.gz").kind, Kind::html);
  EXPECT_EQ(text_format("", "page.html.xz").kind, Kind::html);
  for (const std::string name : {"", "-", "in.en", "html", "in.json", "in.tsv.en"}) {
    EXPECT_EQ(text_format("", name).kind, Kind::text) << name;
  }
  EXPECT_THROW(text_format("", "in.jsonl.gz"), ConfigError);
  EXPECT_EQ(text_format("text", "in.html").kind, Kind::text);
  EXPECT_EQ(text_format("tsv:a:b", "x").field, "a:b");
}

TEST(TextFormat, ATranslationStaysInItsCellAndItsString) {
  using Kind = TextFormat::Kind;
  EXPECT_EQ((Segment{.before = "1\t", .after = "\n", .kind = Kind::tsv}.output("a\tb")),
            "1\ta b\n");
  EXPECT_EQ((Segment{.before = "{\"", .after = "\"}", .kind = Kind::jsonl}.output("a\"\\\n é")),
            "{\"a\\\"\\\\\\n é\"}");
  EXPECT_EQ((Segment{.kind = Kind::html}.output("<b>")), "<b>");
}

// The bytes of a file, with its texts in brackets.
std::vector<std::string> segments(const std::string& bytes, const TextFormat& format) {
  const ScratchFolder folder;
  const auto path = (folder / "file").string();
  put_bytes(path, bytes);
  SegmentReader reader(path, format, {.tags = true});
  std::vector<std::string> found;
  for (Segment segment; reader.next(segment);) {
    const auto& text = segment.line.text;
    found.push_back(std::to_string(segment.number) + ":" + segment.before + "[" + text + "]" +
                    segment.after);
  }
  return found;
}

TEST(TextFormat, SegmentsAreTheBytesOfTheFile) {
  using Kind = TextFormat::Kind;
  EXPECT_THAT(segments("\xEF\xBB\xBF"
                       "a <b>b</b>\r\n\nc",
                       {}),
              ElementsAre("1:[a b]\n", "2:[]\n", "3:[c]\n"));
  EXPECT_THAT(segments("\xEF\xBB\xBF"
                       "a\tb\r\n\tc",
                       {Kind::tsv, "2"}),
              ElementsAre("1:\xEF\xBB\xBF"
                          "a\t[b]\r\n",
                          "2:\t[c]"));
  EXPECT_THAT(
      segments("{\"a\":\"x\\r\\n\\ny\"}\r\n{\"a\" : \"z\"}", {Kind::jsonl, "a"}),
      ElementsAre("1:{\"a\":\"[x]\\r\\n", "1:\\n[]", "1:[y]\"}\r\n", "2:{\"a\" : \"[z]\"}"));
  EXPECT_THAT(segments("{\"a\": null}\n", {Kind::jsonl, "a"}), ElementsAre("1:{\"a\": null}[]\n"));
  EXPECT_THAT(segments("<p>a\n<p>b\r\n", {Kind::html}), ElementsAre("1:<p>[a]", "2:\n<p>[b]\r\n"));
}

}  // namespace
}  // namespace regard::text_format_test
