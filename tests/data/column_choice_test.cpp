#include "data/column_choice.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "data/corpus_statistics.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::column_choice_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::string& path) {
  return message_of<InputError>([&] { choose_columns(path); });
}

// Returns the columns chosen for a file of these bytes: "SOURCE TARGET".
std::string chosen(const std::string& name, const std::string& bytes) {
  const ScratchFolder folder;
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
  const ScratchFolder folder;
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

TEST(ColumnChoice, LeavesOutLabelsIfTwoOtherColumnsHaveText) {
  std::string labels, forms, rare, sorted, dated = "old,modern,year,class\n";
  for (int i = 0; i < 400; ++i) {
    const auto n = std::to_string(i);
    const std::string label = i % 2 == 0 ? "noun" : "verb";
    labels += "a" + n + "\t" + label + "\tb" + n + "\n";
    forms += label + "\tb" + n + "\t\n";
    rare += "a" + n + "\tb" + n + "\tlabel" + std::to_string(i % 21) + "\n";
    dated += "a" + n + ",b" + n + "," + n + "," + label + "\n";
    sorted += "lemma" + std::to_string(i / 15) + "\tb" + n + "\t" + label + "\n";
  }
  EXPECT_EQ(chosen("a.tsv", labels), "1 3");
  EXPECT_EQ(chosen("a.tsv", "old\tclass\tnew\n" + labels), "1 3");
  EXPECT_EQ(chosen("a.csv", dated), "old modern");
  EXPECT_EQ(chosen("a.tsv", forms), "1 2") << "no other column is left";
  EXPECT_EQ(chosen("a.tsv", sorted), "1 2") << "few lemmas in the first lines, many in the file";
  const ScratchFolder folder;
  const auto pair = choose_columns(folder.write("a.tsv", labels));
  EXPECT_EQ(pair.left_out.at(0).kind, "labels");
  EXPECT_THAT(error_of(folder.write("rare.tsv", rare)), HasSubstr("found 3 columns of text"));
}

TEST(ColumnChoice, UsesAHeaderAboveNumbersDatesOrAddresses) {
  EXPECT_EQ(chosen("a.csv", "old,modern,year\na,b,1650\nc,d,1651\n"), "old modern");
  EXPECT_EQ(chosen("a.csv", "old,day,modern\na,2020-01-02,b\nc,,d\n"), "old modern");
  EXPECT_EQ(chosen("a.tsv", "old\tlink\tmodern\na\thttp://x\tb\n"), "old modern");
  EXPECT_EQ(chosen("a.csv", ",old,modern\n0,a,b\n1,c,d\n"), "2 3") << "no name above the numbers";
  EXPECT_EQ(chosen("a.csv", ",old,n,modern\n0,a,5,b\n1,c,6,d\n"), "old modern");
  EXPECT_EQ(chosen("a.tsv", "old\tmodern\tnote\na\tb\tx\nc\td\t7\ne\tf\t7\n"), "1 2");
  EXPECT_EQ(chosen("a.tsv", "a\tb\t1e-05\nc\td\t0.5\n"), "1 2");
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
  const ScratchFolder folder;
  const auto path = folder.write("wide.csv", "a,b,c\nd,e,f\n");
  EXPECT_THAT(
      error_of(path),
      AllOf(HasSubstr("wide.csv: found 3 columns of text, expected two"),
            HasSubstr("regard config init '" + path + "#1' '" + path + "#2'"),
            HasSubstr("('" + path + "#1+3' reads two as one)"), HasSubstr(path + "#3: text, `c`")));
  const auto named = folder.write("named.csv", "n,old,modern,note\n1,a,b,c\n2,d,e,f\n");
  EXPECT_THAT(error_of(named),
              AllOf(HasSubstr("regard config init '" + named + "#old' '" + named + "#modern'"),
                    HasSubstr(named + "#note: text, `c`")));
  EXPECT_THAT(error_of(folder.write("one.jsonl", "{\"text\": \"a\", \"n\": 1}\n")),
              AllOf(HasSubstr("found 1 column of text, expected two; give a file that has both"),
                    HasSubstr("#text: text, `a`"), HasSubstr("#n: a number")));
  EXPECT_THAT(error_of(folder.write("semicolons.csv", "en;fr\na;b\n")),
              HasSubstr("expected two; separate columns with commas"));
  EXPECT_THAT(error_of(folder.write("none.tsv", "")), HasSubstr("found 0 columns of text"));
}

TEST(ColumnChoice, PlainTextHasNoColumns) {
  const ScratchFolder folder;
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
  const ScratchFolder folder;
  EXPECT_EQ(language_from_path(folder.write("a.tsv.gz", "") + "#English"), "en");
  EXPECT_EQ(language_from_path(folder.path("a.tsv.gz#1")), "");
  EXPECT_EQ(language_from_path("train.en.zst"), "en");
}

}  // namespace
}  // namespace regard::column_choice_test
