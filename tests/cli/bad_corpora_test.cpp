// Uses each text of bad_corpora.h in translation, training, validation and evaluation.
#include "tests/cli/bad_corpora.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <regex>

#include "base/json.h"
#include "tests/cli/train.h"

namespace regard::bad_corpora_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr std::size_t spoilt = 1;  // the line that something is done to

// One row of the table at the start of a training: pairs read, kept, empty, too long.
std::vector<int> pairs_of(const std::string& set, const std::string& log) {
  std::smatch found;
  const std::regex row("\n *" + set + " +(\\d+) +(\\d+) +(\\d+) +(\\d+)");
  if (!std::regex_search(log, found, row)) return {};
  std::vector<int> pairs;
  std::transform(found.begin() + 1, found.end(), std::back_inserter(pairs),
                 [](const auto& number) { return std::stoi(number); });
  return pairs;
}

class BadCorpora : public Train, public testing::WithParamInterface<BadText> {
 protected:
  std::string spoil(const std::string& text) const {
    write_text(file_, GetParam().spoil(text));
    return file_.string();
  }
  std::string message(const std::string& name) const {
    return fmt::format(fmt::runtime(GetParam().message), name);
  }
  bool refused(const Finished& finished) const {
    if (GetParam().fate != Fate::refused) {
      EXPECT_EQ(finished.code, 0) << finished.err;
      return false;
    }
    EXPECT_EQ(finished.code, 3);
    EXPECT_THAT(finished.err, HasSubstr(message(file_.string())));
    EXPECT_THAT(finished.err, Not(HasSubstr("unexpected")));
    return true;
  }
  void expect_lines_in_place(const std::vector<std::string>& found,
                             std::vector<std::string> plain) const {
    ASSERT_THAT(found, SizeIs(plain.size()));
    if (GetParam().fate == Fate::empty_line) plain[spoilt] = "";
    if (GetParam().fate == Fate::other_line || GetParam().fate == Fate::long_line) {
      plain[spoilt] = found[spoilt];
    }
    EXPECT_EQ(found, plain);
  }

  std::filesystem::path file_ = folder_ / GetParam().file_name;
};

// Output line i must belong to input line i.
TEST_P(BadCorpora, Translation) {
  const auto plain = lines_of(tiny_translation());
  ASSERT_THAT(plain, SizeIs(20));
  const auto of_file = translate({"-i", spoil(read_text(folder_ / "dev.en"))});
  if (refused(of_file)) {
    const auto before = lines_of(of_file.out);
    ASSERT_LE(before.size(), plain.size());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), plain.begin()));
  } else {
    expect_lines_in_place(lines_of(of_file.out), plain);
    if (GetParam().fate == Fate::long_line) {
      EXPECT_THAT(of_file.err, HasSubstr(message(file_.string())));
    } else if (GetParam().fate == Fate::other_line && !of_file.err.empty()) {
      EXPECT_THAT(of_file.err, AllOf(HasSubstr("not in the model's vocabulary"),
                                     HasSubstr(file_.string() + ":2)"), EndsWith("\n")));
      EXPECT_THAT(lines_of(of_file.err), SizeIs(1));
    } else {
      EXPECT_EQ(of_file.err, "");
    }
  }
  const auto of_pipe = translate({}, read_text(file_));
  const bool by_name = GetParam().title == "gzip by its name only";  // a pipe has none
  EXPECT_EQ(of_pipe.out, by_name ? tiny_translation() : of_file.out);
}

TEST_P(BadCorpora, Evaluation) {
  const auto path = spoil(read_text(folder_ / "dev.fr"));
  const auto reference = (folder_ / "dev.fr").string();
  const auto finished = run({"evaluate", "--hypotheses", path, "-r", reference, "--json"});
  if (refused(finished)) return;
  const auto scores = Json::parse(finished.out);
  EXPECT_EQ(scores.at("sentences"), 20);
  if (GetParam().fate == Fate::same) {
    EXPECT_GT(scores.at("bleu").at("score"), 99.999);
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, BadCorpora, testing::ValuesIn(bad_texts()),
                         [](const auto& text) { return test_name(text.param); });

// Training reads the lines of each text that translation reads (tests/data/text_files_test.cpp). So
// one row for each fate is enough, and two for files that are not plain text.
std::vector<BadText> texts_to_train() {
  std::vector<BadText> texts;
  for (const auto* title : {"a byte order mark at the start", "a NUL inside a line",
                            "a line of other white space", "a line of 10 MB without blanks",
                            "overlong UTF-8", "UTF-16 with its mark", "gzip of several members"}) {
    texts.push_back(*std::ranges::find(bad_texts(), title, &BadText::title));
  }
  return texts;
}

using BadCorporaInTraining = BadCorpora;

TEST_P(BadCorporaInTraining, PairsAreCountedOrRefused) {
  const auto path = spoil(read_text(folder_ / "train.en"));
  const auto dev = (folder_ / ("dev." + GetParam().file_name)).string();
  write_text(dev, GetParam().spoil(read_text(folder_ / "dev.en")));
  const auto finished =
      train({"data.train.0.src=" + path, "data.dev.src=" + dev, "training.max_steps=1",
             "training.validation_every=1", "--threads", "1"});
  if (refused(finished)) {
    const auto in_dev = train({"--dry-run", "data.dev.src=" + dev});
    EXPECT_EQ(in_dev.code, 3);
    EXPECT_THAT(in_dev.err, HasSubstr(message(dev)));
    return;
  }
  const int empty = GetParam().fate == Fate::empty_line;
  const int too_long = GetParam().fate == Fate::long_line;
  EXPECT_THAT(pairs_of("train", finished.err),
              ElementsAre(200, 200 - empty - too_long, empty, too_long));
  EXPECT_THAT(pairs_of("dev", finished.err), ElementsAre(20, 20, empty, too_long));
  if (empty) {
    EXPECT_THAT(finished.err, HasSubstr("1 of 20 lines are empty"));
  } else if (too_long) {
    EXPECT_THAT(finished.err, HasSubstr(message(dev)));
  } else {
    EXPECT_THAT(finished.err, Not(HasSubstr("warning")));
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, BadCorporaInTraining, testing::ValuesIn(texts_to_train()),
                         [](const auto& text) { return test_name(text.param); });

// Combines all unusual texts, for every tokenizer, from training to translation.
TEST_F(Train, EveryTokenizerReadsUnusualText) {
  std::string source = read_text(folder_ / "train.en");
  for (const auto& text : bad_texts()) {
    if (text.file_name == "text" && text.fate != Fate::refused && text.fate != Fate::long_line &&
        !text.title.ends_with("under any name")) {
      source += text.spoil(toy_corpus(3, 7).source) + "\n";
    }
  }
  std::string target;
  for (auto i = std::ranges::count(source, '\n'); i > 0; --i) target += "le chat voit\n";
  write_text(folder_ / "odd.en", source);
  write_text(folder_ / "odd.fr", target);
  for (const std::string kind : {"bpe", "unigram", "word", "character"}) {
    const auto trained =
        train({"data.train.0.src=" + (folder_ / "odd.en").string(),
               "data.train.0.trg=" + (folder_ / "odd.fr").string(), "data.tokenizer.kind=" + kind,
               "data.tokenizer.joint=true", "training.max_steps=1", "--fresh",
               kind == "word" || kind == "character" ? "data.max_length=100"
                                                     : "data.tokenizer.vocabulary_size=60"});
    ASSERT_EQ(trained.code, 0) << trained.err;
    const auto translated =
        run({"translate", "-m", (folder_ / "run").string(), "-i", (folder_ / "odd.en").string(),
             "--max-output-length", "3", "--beam-size", "1"});
    EXPECT_EQ(translated.code, 0) << translated.err;
    EXPECT_EQ(std::ranges::count(translated.out, '\n'), std::ranges::count(source, '\n')) << kind;
  }
}

// docs/data.md must have a row for each of them.
TEST(BadCorporaDocument, HasARowForEachText) {
  const auto document = read_text(std::filesystem::path(REGARD_SOURCE_DIR) / "docs" / "data.md");
  for (const auto& text : bad_texts()) {
    EXPECT_THAT(document, HasSubstr("\n| " + text.title + " |"));
  }
}

}  // namespace
}  // namespace regard::bad_corpora_test
