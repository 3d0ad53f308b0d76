// A translator from English into Chinese, which has no spaces: constraints, alignments, paragraphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run.h"
#include "text/unicode.h"

namespace regard::chinese_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

// Pairs such as "The big cat and 12 small dogs." and "大猫和12小狗。".
struct Pairs {
  std::string english;
  std::string chinese;
};

Pairs pairs() {
  const std::pair<const char*, const char*> sizes[] = {{"big ", "大"}, {"small ", "小"}, {"", ""}};
  const std::pair<const char*, const char*> animals[] = {
      {"cat", "猫"}, {"dog", "狗"}, {"bird", "鸟"}, {"horse", "马"}};
  const std::pair<const char*, const char*> numbers[] = {{"the", ""}, {"12", "12"}, {"3", "3"}};
  std::vector<std::pair<std::string, std::string>> phrases;
  for (const auto& [number, count] : numbers) {
    for (const auto& [size, adjective] : sizes) {
      for (const auto& [animal, noun] : animals) {
        const std::string plural = count[0] == '\0' ? "" : "s";
        phrases.emplace_back(std::string(number) + " " + size + animal + plural,
                             std::string(count) + adjective + noun);
      }
    }
  }
  Pairs pairs;
  for (std::size_t i = 0; i < phrases.size(); ++i) {
    for (std::size_t j = 0; j < phrases.size(); ++j) {
      if ((i * 7 + j * 5) % 3 == 0) continue;
      auto line = phrases[i].first + " and " + phrases[j].first + ".\n";
      if (line[0] == 't') line[0] = 'T';
      pairs.english += line;
      pairs.chinese += phrases[i].second + "和" + phrases[j].second + "。\n";
    }
  }
  return pairs;
}

std::filesystem::path training(const std::filesystem::path& folder) {
  const auto [english, chinese] = pairs();
  write_text(folder / "train.en", english);
  write_text(folder / "train.zh", chinese);
  const auto config = folder / "c.yaml";
  write_text(config, "data: {train: [{src: " + (folder / "train.en").string() +
                         ", trg: " + (folder / "train.zh").string() +
                         "}],\n"
                         "       tokenizer: {kind: bpe, vocabulary_size: 60}}\n"
                         "model: {encoder: {embedding_dim: 48, hidden_size: 48},\n"
                         "        decoder: {embedding_dim: 48, hidden_size: 48},\n"
                         "        attention: {kind: dot}}\n"
                         "training: {model_dir: " +
                         (folder / "run").string() +
                         ", max_steps: 400, batch_size: 400,\n"
                         "           learning_rate: 0.01, logging_every: 400}\n"
                         "search: {beam_size: 4}\n"
                         "threads: 2\n");
  return config;
}

class Chinese : public CliTest {
 protected:
  std::string translate(const Words& options,
                        const std::string& input = "The big cat and 12 small dogs.\n") const {
    const auto finished = run(Words{"translate", "-m", model_} + options, input);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  }
  using CliTest::file;
  std::string file(const std::string& text) const { return file("file", text); }

  const std::string model_ = trained_once("tiny_chinese", {}, training).string();
};

TEST_F(Chinese, ConstraintsNeedNoSpaces) {
  ASSERT_EQ(translate({}), "大猫和12小狗。\n");
  const auto banned = translate({"--ban", file("狗\n")});
  EXPECT_THAT(banned, Not(HasSubstr("狗")));
  EXPECT_THAT(banned, StartsWith("大猫和"));
  EXPECT_EQ(translate({"--require", file("狗\n")}), "大猫和12小狗。\n");
  EXPECT_EQ(translate({"--require", file("小狗\t12\n")}), "大猫和12小狗。\n");
  const auto required = translate({"--require", file("马\n")});
  EXPECT_THAT(required, HasSubstr("马"));
  EXPECT_EQ(translate({"--prefixes", file("大猫\n")}), "大猫和12小狗。\n");
  const auto begun = translate({"--prefixes", file("小\n")});
  EXPECT_THAT(begun, StartsWith("小"));
  EXPECT_THAT(begun, Not(HasSubstr(" ")));
}

TEST_F(Chinese, EachCharacterHasALink) {
  const auto links = folder_ / "links";
  translate({"--alignments", links.string()});
  // 大 猫 和 12 小 狗 。
  EXPECT_THAT(split_at_ascii_space(read_text(links)), SizeIs(7));
  EXPECT_THAT(read_text(links), EndsWith("-6\n"));
}

TEST_F(Chinese, TheSpaceSymbolOfATextIsNoSpace) {
  const auto json = translate({"--json"}, "The big▁cat and 12 small dogs.\n");
  EXPECT_THAT(json, HasSubstr("\"source\":\"The big▁cat and 12 small dogs.\""));
  EXPECT_NE(json, translate({"--json"}));
  const auto score = [&](const std::string& target) {
    const auto finished =
        run({"score", "-m", model_, "-s", file("s", "The big cat and the bird.\n"), "-t",
             file("t", target + "\n")});
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  };
  EXPECT_NE(score("大猫▁和鸟。"), score("大猫 和鸟。"));
}

TEST_F(Chinese, AParagraphIsTranslatedSentenceBySentence) {
  const std::string paragraph =
      "The bird and 12 horses. The small dog and the cat. The big horse and 3 birds.\n";
  EXPECT_EQ(translate({}, "12 small dogs and the big cat.\n" + paragraph),
            "12小狗和大猫。\n鸟和12马。小狗和猫。大马和3鸟。\n");
  EXPECT_NE(translate({"--whole-lines"}, paragraph), "鸟和12马。小狗和猫。大马和3鸟。\n");
  // 鸟 和 12 马 。 小 狗 和 猫 。 大 马 和 3 鸟 。
  const auto links = folder_ / "links";
  translate({"--alignments", links.string()}, paragraph);
  const auto text = read_text(links);
  EXPECT_THAT(split_at_ascii_space(text), SizeIs(16));
}

TEST_F(Chinese, TermsOfAGlossaryNeedNoSpaces) {
  const auto glossary = file("terms.tsv", "dogs\t马\nbig cat\t小鸟|小狗\n");
  const auto found = translate({"--glossary", glossary});
  EXPECT_THAT(found, HasSubstr("马"));
  EXPECT_THAT(found, testing::AnyOf(HasSubstr("小鸟"), HasSubstr("小狗")));
  EXPECT_THAT(found, Not(HasSubstr(" ")));
}

}  // namespace
}  // namespace regard::chinese_test
