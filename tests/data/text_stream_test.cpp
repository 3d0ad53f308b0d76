#include "data/text_stream.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "base/error.h"
#include "base/random.h"
#include "base/sha256.h"
#include "data/line_reader.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/data/gzipped.h"

namespace regard::text_stream_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const std::string& path) {
  return message_of<InputError>([&] { read_lines(path); });
}

std::string tmx(const std::string& units, const std::string& head = "<?xml version=\"1.0\"?>\n") {
  return head + "<tmx version=\"1.4\"><header srclang=\"en\"/><body>\n" + units + "</body></tmx>\n";
}

std::string unit(const std::string& first, const std::string& second) {
  return "<tu><tuv xml:lang=\"en\"><seg>" + first + "</seg></tuv><tuv xml:lang=\"fr\"><seg>" +
         second + "</seg></tuv></tu>\n";
}

TEST(TextStream, AColumnOfTabSeparatedTextIsGivenByNumberOrName) {
  const ScratchFolder folder;
  const auto path = folder.write("fra.tsv", "\uFEFFen\tfr\r\na\tb\"\t\r\n\tc d\r\n\r\ne\tf");
  EXPECT_THAT(read_lines(path + "#1"), ElementsAre("en", "a", "", "", "e"));
  EXPECT_THAT(read_lines(path + "#2"), ElementsAre("fr", "b\"", "c d", "", "f"));
  EXPECT_THAT(read_lines(path + "#en"), ElementsAre("a", "", "", "e"));
  EXPECT_THAT(read_lines(path + "#fr"), ElementsAre("b\"", "c d", "", "f"));
  EXPECT_EQ(count_lines(path + "#fr"), 4);
  EXPECT_THAT(read_lines(path).size(), 5);
}

TEST(TextStream, SeveralColumnsAreJoinedInTheirOrderWithASpace) {
  const ScratchFolder folder;
  const auto plain = folder.write("hun.tsv", "kutya\tkuty\u00E1k\tN;PL\nh\u00E1z\th\u00E1z\t\n\n");
  EXPECT_THAT(read_lines(plain + "#3+1"), ElementsAre("N;PL kutya", "h\u00E1z", ""));
  EXPECT_THAT(read_lines(plain + "#1+1+2"),
              ElementsAre("kutya kutya kuty\u00E1k", "h\u00E1z h\u00E1z h\u00E1z", ""));
  const auto csv = folder.write("a.csv", "lemma,features,form\n\"a,b\",\"X\nY\",c\n");
  EXPECT_THAT(read_lines(csv + "#features+lemma"), ElementsAre("X Y a,b"));
  EXPECT_THAT(read_lines(csv + "#3+lemma"), ElementsAre("c a,b"));
  EXPECT_EQ(count_lines(csv + "#features+lemma"), 1);
  const auto json = folder.write("a.jsonl", R"({"en": "a", "x": {"y": null}})"
                                            "\n"
                                            R"({"en": "b", "x": {"y": "c"}})");
  EXPECT_THAT(read_lines(json + "#x.y+en"), ElementsAre("a", "c b"));
  EXPECT_THAT(read_lines(folder.write("a.tmx", tmx(unit("a", "b"))) + "#fr+en"),
              ElementsAre("b a"));
}

TEST(TextStream, AColumnWhoseWholeNameHasAPlusIsMeant) {
  const ScratchFolder folder;
  const auto path = folder.write("a.tsv", "a\ta+b\tb\tC++\n1\t2\t3\t4\n");
  EXPECT_THAT(read_lines(path + "#a+b"), ElementsAre("2"));
  EXPECT_THAT(read_lines(path + "#b+a"), ElementsAre("3 1"));
  EXPECT_THAT(read_lines(path + "#C++"), ElementsAre("4"));
  EXPECT_THAT(read_lines(folder.write("a.jsonl", R"({"a": "1", "a+b": "2", "b": "3"})") + "#a+b"),
              ElementsAre("2"));
}

TEST(TextStream, ASelectionWithAColumnThatIsNotThereIsAnError) {
  const ScratchFolder folder;
  const auto path = folder.write("a.tsv", "lemma\tform\tfeatures\na\tb\tc\n");
  EXPECT_THAT(error_of(path + "#featurs+lemma"),
              AllOf(HasSubstr("a.tsv:1: found no `featurs` in `lemma`, `form`, `features`"),
                    HasSubstr("did you mean `features`?")));
  EXPECT_THAT(error_of(path + "#4+1"), HasSubstr("a.tsv:1: found 3 columns, expected at least 4"));
  EXPECT_THAT(error_of(path + "#0+1"), HasSubstr("found no `0`"));
  EXPECT_THAT(error_of(path + "#lemma+"), HasSubstr("found no `lemma+`"));
  const auto json = folder.write("a.jsonl", R"({"a": "1", "b": 2})");
  EXPECT_THAT(error_of(json + "#a+c"), HasSubstr("a.jsonl:1: found no key `c` with a text"));
  EXPECT_THAT(error_of(json + "#a+b"), HasSubstr("found a number as `b`"));
  EXPECT_THAT(error_of(folder.write("a.tmx", tmx(unit("a", "b"))) + "#en+de"),
              HasSubstr("found no unit in the language `de`, expected one of `en`, `fr`"));
}

TEST(TextStream, AFileWhoseNameHasASharpIsMeant) {
  const ScratchFolder folder;
  const auto path = folder.write("c#1", "x\ty\n");
  folder.write("c", "a\tb\n");
  EXPECT_THAT(read_lines(path), ElementsAre("x\ty"));
  EXPECT_THAT(read_lines(path + "#2"), ElementsAre("y"));
  EXPECT_THAT(read_lines(folder.write("d.tsv", "a\tn# of\n1\t2\n") + "#n# of"), ElementsAre("2"));
  EXPECT_THAT(error_of(folder.path("none.tsv#1")), HasSubstr("none.tsv#1: cannot be read"));
}

TEST(TextStream, ColumnsThatAreNotThereAreErrorsWithTheLine) {
  const ScratchFolder folder;
  const auto path = folder.write("pairs.tsv", "English\tFrench\na\tb\nc\n");
  EXPECT_THAT(error_of(path + "#2"),
              HasSubstr("pairs.tsv:3: found 1 column, expected at least 2; separate columns"));
  EXPECT_THAT(error_of(path + "#French"), HasSubstr("pairs.tsv:3: found 1 column"));
  EXPECT_THAT(error_of(path + "#english"),
              AllOf(HasSubstr("pairs.tsv:1: found no `english` in `English`, `French`"),
                    HasSubstr("did you mean `English`?")));
  EXPECT_THAT(error_of(folder.write("twice.csv", "en,en\na,b\n") + "#en"),
              HasSubstr("twice.csv:1: found 2 `en` in `en`, `en`, expected one"));
  EXPECT_THAT(error_of(path + "#0"), HasSubstr("found `#0`, expected a number from 1 or a name"));
  EXPECT_THAT(error_of(path + "#"), HasSubstr("found `#`, expected a number from 1 or a name"));
  EXPECT_THAT(error_of(folder.write("empty.tsv", "") + "#en"), HasSubstr("empty.tsv:1: found no"));
  EXPECT_THAT(error_of(folder.write("latin.tsv", "a\tb\n\xE9\tc\n") + "#2"),
              HasSubstr("latin.tsv:2: byte 1 of the line (0xE9) is not UTF-8"));
}

TEST(TextStream, FilesWithoutColumnsAreErrors) {
  const ScratchFolder folder;
  EXPECT_THAT(error_of(folder.write("book.xlsx", "PK") + "#1"),
              HasSubstr("book.xlsx: found a name in .xlsx, expected a file with columns"));
  EXPECT_THAT(error_of(folder.write("all.tar.gz", gzipped("x")) + "#1"), HasSubstr("in .tar"));
  const std::string header = R"({"features":{"dtype":"F32","shape":[0,1],"data_offsets":[0,0]}})";
  EXPECT_THAT(error_of(folder.write("speech.safetensors", header) + "#1"),
              HasSubstr("speech.safetensors: found a name in .safetensors"));
}

TEST(TextStream, CsvHasQuotesAndLineFeedsInThem) {
  const ScratchFolder folder;
  const auto path = folder.write("pairs.csv",
                                 "en,fr,n\r\n"
                                 "\"a, \"\"b\"\"\",c\"d,1\r\n"
                                 "\"two\r\nlines\n\nthree\",\"\",2\n"
                                 ",x,\n");
  EXPECT_THAT(read_lines(path + "#en"), ElementsAre("a, \"b\"", "two lines  three", ""));
  EXPECT_THAT(read_lines(path + "#2"), ElementsAre("fr", "c\"d", "", "x"));
  EXPECT_THAT(read_lines(path + "#n"), ElementsAre("1", "2", ""));
}

TEST(TextStream, QuotesOfCsvThatDoNotCloseAreErrorsWithTheLineWhereTheyOpen) {
  const ScratchFolder folder;
  EXPECT_THAT(error_of(folder.write("open.csv", "a,b\nc,\"d\ne,f\n") + "#1"),
              HasSubstr("open.csv:2: found a quote that opens a field and the end of the file"));
  EXPECT_THAT(error_of(folder.write("after.csv", "a,b\n\"c\"d,e\n") + "#1"),
              HasSubstr("after.csv:2: found `d,e` after the closing quote of a field, expected a"));
  std::string endless = "\"";
  while (endless.size() <= max_line_bytes) endless += std::string(1 << 20, 'x') + "\n";
  EXPECT_THAT(error_of(folder.write("endless.csv", endless) + "#1"),
              HasSubstr("endless.csv:1: found a quote that opens a field and more than"));
}

TEST(TextStream, AKeyOfJsonLinesMayBeNested) {
  const ScratchFolder folder;
  const auto path = folder.write(
      "corpus.jsonl", R"({"id": 1, "translation": {"en": "a\nb\r\nc", "fr": "d"}})"
                      "\n"
                      R"({"translation": {"en": null, "fr": "é"}})"
                      "\n\n"
                      R"({"translation": {"en": "deep", "fr": ""}, "translation.en": "literal"})");
  EXPECT_THAT(read_lines(path + "#translation.en"), ElementsAre("a b c", "", "", "literal"));
  EXPECT_THAT(read_lines(path + "#translation.fr"), ElementsAre("d", "é", "", ""));
}

TEST(TextStream, JsonThatIsNoObjectWithTheTextIsAnErrorWithTheLine) {
  const ScratchFolder folder;
  const auto path = folder.write("corpus.jsonl", R"({"en": "a", "fr": "b", "x": [1]})"
                                                 "\n"
                                                 R"({"en": 3})"
                                                 "\n");
  EXPECT_THAT(error_of(path + "#en"),
              HasSubstr("corpus.jsonl:2: found a number as `en`, expected a string or null"));
  EXPECT_THAT(error_of(path + "#x"), HasSubstr("corpus.jsonl:1: found an array as `x`"));
  EXPECT_THAT(error_of(path + "#fr"),
              HasSubstr("corpus.jsonl:2: found no key `fr` with a text, expected it beside `en`"));
  EXPECT_THAT(error_of(path + "#EN"), HasSubstr("did you mean `en`?"));
  EXPECT_THAT(error_of(path + "#"), HasSubstr("expected a key"));
  EXPECT_THAT(error_of(folder.write("bad.jsonl", "{\"en\": \"a\"}\n{\"en\": \n") + "#en"),
              HasSubstr("bad.jsonl:2: found `{\"en\": ` (parse error"));
  EXPECT_THAT(error_of(folder.write("list.json", "[{\"en\": \"a\"}]\n") + "#en"),
              HasSubstr("list.json:1: found an array, expected a JSON object on each line; convert "
                        "an array with `jq -c '.[]'`"));
}

TEST(TextStream, ALanguageOfTmxIsFoundWithItsRegion) {
  const ScratchFolder folder;
  const auto path = folder.write(
      "memory.tmx",
      tmx("<tu><tuv xml:lang=\"EN-US\"><seg>a &amp; b</seg></tuv>"
          "<tuv lang=\"fr_FR\"><prop>no</prop><seg>c</seg></tuv></tu>\n"
          "<tu><note>no</note><tuv xml:lang=\"fr\"><seg>d\n  e<![CDATA[<f>]]></seg></tuv></tu>\n"
          "<tu><tuv xml:lang=\"en\"><seg>exact</seg></tuv>"
          "<tuv xml:lang=\"en-GB\"><seg>region</seg></tuv></tu>\n"
          "<tu/>\n"));
  EXPECT_THAT(read_lines(path + "#en"), ElementsAre("a & b", "", "exact", ""));
  EXPECT_THAT(read_lines(path + "#en-gb"), ElementsAre("", "", "region", ""));
  EXPECT_THAT(read_lines(path + "#FR"), ElementsAre("c", "d   e<f>", "", ""));
}

TEST(TextStream, CodesInSegmentsOfTmxAreLeftOut) {
  const ScratchFolder folder;
  const auto path = folder.write(
      "codes.tmx",
      tmx(unit("a <bpt i=\"1\">&lt;b&gt;<sub>no</sub></bpt>bold<ept i=\"1\">&lt;/b&gt;</ept> "
               "<hi type=\"x\">kept <ph>no</ph>too</hi><it pos=\"begin\">no</it><ut>no</ut><ph/>.",
               "b")));
  EXPECT_THAT(read_lines(path + "#en"), ElementsAre("a bold kept too."));
}

TEST(TextStream, TmxMayBeUtf16OrHaveAnEncodingOfItsOwn) {
  const ScratchFolder folder;
  std::string wide = "\xFF\xFE";
  for (const char c : tmx(unit("a", "b"), "<?xml version=\"1.0\" encoding=\"UTF-16\"?>")) {
    wide += {c, '\0'};
  }
  EXPECT_THAT(read_lines(folder.write("wide.tmx", wide) + "#fr"), ElementsAre("b"));
  const auto latin = tmx(unit("\xE9", "b"), "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>");
  EXPECT_THAT(read_lines(folder.write("latin.tmx", latin) + "#en"), ElementsAre("é"));
}

TEST(TextStream, BrokenTmxIsAnErrorWithTheLine) {
  const ScratchFolder folder;
  const auto path = folder.write("memory.tmx", tmx(unit("a", "b")));
  EXPECT_THAT(error_of(path + "#de"),
              HasSubstr("found no unit in the language `de`, expected one of `en`, `fr`"));
  EXPECT_THAT(error_of(folder.write("cut.tmx", tmx(unit("a", "b")).substr(0, 130)) + "#en"),
              HasSubstr("cut.tmx:3: found broken XML ("));
  EXPECT_THAT(error_of(folder.write("page.tmx", "\n<html></html>") + "#en"),
              HasSubstr("page.tmx:2: found the element <html>, expected <tmx>"));
  EXPECT_THAT(
      error_of(folder.write("bare.tmx", tmx("\n<tu>\n<tuv><seg>a</seg></tuv></tu>")) + "#en"),
      HasSubstr("bare.tmx:5: found a <tuv> without a language"));
  const auto both =
      folder.write("both.tmx", tmx("<tu><tuv xml:lang=\"en-GB\"><seg>a</seg></tuv>"
                                   "<tuv xml:lang=\"en-US\"><seg>b</seg></tuv></tu>"));
  EXPECT_THAT(error_of(both + "#en"),
              HasSubstr("both.tmx:3: found `en-GB` and `en-US` in one unit, expected one `en`"));
  EXPECT_THAT(read_lines(both + "#en-US"), ElementsAre("b"));
  EXPECT_THAT(error_of(folder.write("text.tmx", "a\tb\n") + "#en"), HasSubstr("text.tmx:1: found"));
  const auto invalid = tmx(unit("\xE9", "b"));
  testing::internal::CaptureStderr();
  EXPECT_THAT(error_of(folder.write("invalid.tmx", invalid) + "#en"),
              HasSubstr("invalid.tmx:3: found broken XML (Input is not proper UTF-8"));
  std::string surrogate = "\xFF\xFE";
  for (const char c : tmx(unit("a", "b"), "<?xml version=\"1.0\" encoding=\"UTF-16\"?>")) {
    surrogate += {c, c == 'a' ? '\xDB' : '\0'};
  }
  EXPECT_THAT(error_of(folder.write("surrogate.tmx", surrogate) + "#en"),
              HasSubstr("surrogate.tmx:"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(TextStream, EntitiesOfTmxAreNotExpanded) {
  const ScratchFolder folder;
  folder.write("secret", "secret");
  const auto with = [&](const std::string& declarations, const std::string& text) {
    return error_of(folder.write("entity.tmx",
                                 tmx(unit(text, "b"), "<!DOCTYPE tmx [" + declarations + "]>\n")) +
                    "#en");
  };
  EXPECT_THAT(with("<!ENTITY x \"y\">", "a &x; b"),
              HasSubstr("entity.tmx:3: found the entity &x;, expected text"));
  EXPECT_THAT(with("<!ENTITY x SYSTEM \"" + folder.path("secret") + "\">", "a &x; b"),
              HasSubstr("found the entity &x;"));
  std::string laughs = "<!ENTITY a0 \"ha\">";
  for (int i = 1; i < 30; ++i) {
    laughs += fmt::format("<!ENTITY a{0} \"&a{1};&a{1};&a{1};\">", i, i - 1);
  }
  EXPECT_THAT(with(laughs, "&a29;"), HasSubstr("entity.tmx:"));
  const auto external = tmx(unit("a", "b"), "<!DOCTYPE tmx SYSTEM \"tmx14.dtd\">\n");
  EXPECT_THAT(read_lines(folder.write("external.tmx", external) + "#en"), ElementsAre("a"));
}

TEST(TextStream, ReadsColumnsOfCompressedFiles) {
  const ScratchFolder folder;
  EXPECT_THAT(read_lines(folder.write("a.tsv.gz", gzipped("en\tfr\na\tb\n")) + "#fr"),
              ElementsAre("b"));
  EXPECT_THAT(read_lines(folder.write("a.tmx.gz", gzipped(tmx(unit("a", "b")))) + "#fr"),
              ElementsAre("b"));
  const auto cut = gzipped(tmx(unit("a", "b"))).substr(0, 60);
  EXPECT_THAT(error_of(folder.write("cut.tmx.gz", cut) + "#en"),
              HasSubstr("cut.tmx.gz: the gzip data is cut short"));
}

TEST(TextStream, LongAndManyRecordsAreReadWhole) {
  const ScratchFolder folder;
  const std::string long_text(200'000, 'x');
  std::string table, memory;
  for (int i = 0; i < 5'000; ++i) {
    table += std::to_string(i) + "\t" + (i == 77 ? long_text : "y") + "\n";
    memory += unit(std::to_string(i), i == 77 ? long_text : "y");
  }
  for (const auto& path :
       {folder.write("a.tsv", table) + "#", folder.write("a.tmx", tmx(memory)) + "#"}) {
    const bool is_table = path.ends_with(".tsv#");
    const auto numbers = read_lines(path + (is_table ? "1" : "en"));
    const auto texts = read_lines(path + (is_table ? "2" : "fr"));
    ASSERT_EQ(numbers.size(), 5'000);
    EXPECT_EQ(numbers[4'999], "4999");
    EXPECT_EQ(texts[77], long_text);
    EXPECT_EQ(texts[78], "y");
  }
}

TEST(TextStream, TheHashIsThatOfTheFileAndItsColumn) {
  const ScratchFolder folder;
  const auto hash_of = [](const std::string& path) {
    Sha256 hash;
    TextStream stream(path);
    stream.hash_into(hash);
    char buffer[7];
    while (stream.read(buffer, sizeof buffer) > 0) continue;
    return hash.hex_digest();
  };
  const auto table = folder.write("a.tsv", "en\tfr\na\tb\n");
  EXPECT_EQ(hash_of(table), sha256("en\tfr\na\tb\n"));
  EXPECT_EQ(hash_of(table + "#fr"), sha256("en\tfr\na\tb\n#tsv:fr"));
  EXPECT_EQ(hash_of(table + "#1"), sha256("en\tfr\na\tb\n#tsv:1"));
  EXPECT_EQ(hash_of(table + "#2+1"), sha256("en\tfr\na\tb\n#tsv:2+1"));
  EXPECT_NE(hash_of(table + "#2+1"), hash_of(table + "#1+2"));
  const auto memory = tmx(unit("a", "b")) + "\n\n";
  EXPECT_EQ(hash_of(folder.write("a.tmx", memory) + "#en"), sha256(memory + "#tmx:en"));
}

TEST(TextStream, BothColumnsHaveOneLineForEachRecordOfAnyTable) {
  const ScratchFolder folder;
  Random random(1);
  for (int trial = 0; trial < 50; ++trial) {
    std::string csv, tsv;
    std::vector<std::string> first, second;
    for (std::size_t record = random.below(20); record > 0; --record) {
      const auto text = [&] {
        std::string made;
        for (std::size_t i = random.below(6); i > 0; --i) made += "ab,\"\n "[random.below(6)];
        return made;
      };
      const auto quoted = [](const std::string& plain) {
        std::string made = "\"";
        for (const char c : plain) made += c == '"' ? "\"\"" : std::string(1, c);
        return made + "\"";
      };
      const auto a = text(), b = text();
      csv += quoted(a) + "," + quoted(b) + "\n";
      for (auto* side : {&first, &second}) {
        auto line = side == &first ? a : b;
        std::ranges::replace(line, '\n', ' ');
        side->push_back(line);
      }
      tsv += first.back() + "\t" + second.back() + "\n";
    }
    for (const auto& path : {folder.write("a.csv", csv), folder.write("a.tsv", tsv)}) {
      EXPECT_EQ(read_lines(path + "#1"), first) << csv;
      EXPECT_EQ(read_lines(path + "#2"), second) << csv;
    }
  }
}

}  // namespace
}  // namespace regard::text_stream_test
