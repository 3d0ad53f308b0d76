#include "data/column_choice.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "data/corpus_statistics.h"
#include "tests/data/test_folder.h"

namespace regard::column_choice_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::string& path) {
  try {
    choose_columns(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// Returns the columns chosen for a file of these bytes: "SOURCE TARGET".
std::string chosen(const std::string& name, const std::string& bytes) {
  const TestFolder folder;
  const auto path = folder.write(name, bytes);
  EXPECT_TRUE(has_columns(path));
  const auto pair = choose_columns(path);
  const auto column = [&](const ColumnSample& sample) {
    EXPECT_TRUE(sample.path.starts_with(path + "#"));
    return sample.path.substr(path.size() + 1);
  };
  return column(pair.src) + " " + column(pair.trg);
}

const std::string tatoeba =
    "Go.\tVa !\tCC-BY 2.0 (France) Attribution: tatoeba.org #2877272 (CM) & #1158250 (Wittydev)\n"
    "Go.\tMarche.\tCC-BY 2.0 (France) Attribution: tatoeba.org #2877272 (CM) & #8090732 "
    "(Micsmithel)\n"
    "Run.\tCours !\tCC-BY 2.0 (France) Attribution: tatoeba.org #906328 (papabear) & #906331 "
    "(sacredceltic)\n";

TEST(ColumnChoice, LeavesOutTheAttributionOfTatoeba) {
  EXPECT_EQ(chosen("fra.txt", tatoeba), "1 2");
  const TestFolder folder;
  const auto pair = choose_columns(folder.write("fra.txt", tatoeba));
  EXPECT_EQ(pair.src.example, "Go.");
  EXPECT_EQ(pair.trg.example, "Va !");
  ASSERT_EQ(pair.left_out.size(), 1);
  EXPECT_EQ(pair.left_out[0].kind, "an attribution");
  EXPECT_THAT(pair.left_out[0].example, HasSubstr("CC-BY 2.0"));
}

TEST(ColumnChoice, LeavesOutNumbersAddressesAndLabels) {
  EXPECT_EQ(chosen("a.tsv", "1\ta\t10\tb\n2\tc\t20\td\n3\te\t30\tf\n"), "2 4");
  EXPECT_EQ(chosen("a.csv", "dev,a,http://x,b\ndev,c,http://y,d\ndev,e,https://z,f\n"), "2 4");
}

TEST(ColumnChoice, UsesAHeaderOfLanguagesOrSides) {
  EXPECT_EQ(chosen("a.csv", "id,en,fr\nx,a,b\ny,c,d\n"), "en fr");
  EXPECT_EQ(chosen("a.csv", "note,Target text,Source text\nx,a,b\ny,c,d\n"),
            "Source text Target text");
  EXPECT_EQ(chosen("a.tsv", "German\tenglish\na\tb\n"), "German english");
  EXPECT_EQ(chosen("a.tsv", "pt-BR\ten_GB\na\tb\n"), "pt-BR en_GB");
  EXPECT_EQ(chosen("a.tsv", "no\tyes\nja\toui\n"), "1 2");
}

TEST(ColumnChoice, FindsTheKeysOfJsonLines) {
  EXPECT_EQ(chosen("a.jsonl", R"({"id": "x1", "translation": {"en": "a", "fr": "b"}})"
                              "\n"
                              R"({"id": "x2", "translation": {"en": null, "fr": "d"}})"),
            "translation.en translation.fr");
  EXPECT_EQ(chosen("a.ndjson", "{\"n\": 1, \"question\": \"a\", \"answer\": \"b\"}\n"),
            "question answer");
  EXPECT_EQ(chosen("a.json", "{\"id\": \"a\", \"tgt\": \"a\", \"src\": \"b\"}\n"), "src tgt");
}

TEST(ColumnChoice, FindsTheLanguagesOfTmx) {
  EXPECT_EQ(chosen("a.tmx",
                   "<tmx><body><tu><tuv xml:lang=\"en-GB\"><seg>a</seg></tuv><tuv xml:lang=\"fr\">"
                   "<seg>b</seg></tuv></tu></body></tmx>"),
            "en-GB fr");
}

TEST(ColumnChoice, ListsTheColumnsIfItCannotTell) {
  const TestFolder folder;
  const auto path = folder.write("wide.csv", "a,b,c\nd,e,f\n");
  EXPECT_THAT(error_of(path),
              AllOf(HasSubstr("wide.csv: found 3 columns of text, expected two"),
                    HasSubstr("regard config init '" + path + "#1' '" + path + "#2'"),
                    HasSubstr(path + "#3: text, `c`")));
  EXPECT_THAT(error_of(folder.write("one.jsonl", "{\"text\": \"a\", \"n\": 1}\n")),
              AllOf(HasSubstr("found 1 column of text, expected two; give a file that has both"),
                    HasSubstr("#text: text, `a`"), HasSubstr("#n: a number")));
  EXPECT_THAT(error_of(folder.write("semicolons.csv", "en;fr\na;b\n")),
              HasSubstr("expected two; separate columns with commas"));
  EXPECT_THAT(error_of(folder.write("none.tsv", "")), HasSubstr("found 0 columns of text"));
}

TEST(ColumnChoice, PlainTextHasNoColumns) {
  const TestFolder folder;
  EXPECT_FALSE(has_columns(folder.write("a.txt", "a\tb\nplain\n")));
  EXPECT_FALSE(has_columns(folder.write("empty.txt", "\n")));
  EXPECT_THROW(has_columns(folder.write("book.xlsx", "PK")), InputError);
  EXPECT_TRUE(has_columns(folder.write("b.txt", "a\tb\n\nc\td\n")));
}

TEST(ColumnChoice, ALanguageHasACodeOrAnEnglishName) {
  EXPECT_EQ(language_of_name("translation.en"), "en");
  EXPECT_EQ(language_of_name("French"), "fr");
  EXPECT_EQ(language_of_name("fra"), "fra");
  EXPECT_EQ(language_of_name("zh-Hant"), "zh-Hant");
  EXPECT_EQ(language_of_name("attribution"), "");
  EXPECT_EQ(language_of_name("en-passant"), "");
  EXPECT_EQ(language_of_name("1"), "");
  EXPECT_EQ(language_of_name(""), "");
  const TestFolder folder;
  EXPECT_EQ(language_from_path(folder.write("a.tsv.gz", "") + "#English"), "en");
  EXPECT_EQ(language_from_path(folder.path("a.tsv.gz#1")), "");
  EXPECT_EQ(language_from_path("train.en.zst"), "en");
}

}  // namespace
}  // namespace regard::column_choice_test
