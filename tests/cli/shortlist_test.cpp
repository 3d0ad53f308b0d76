#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "tests/cli/run.h"

namespace regard::cli_shortlist_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ShortlistCommand : public CliTest {
 protected:
  ShortlistCommand() {
    const auto corpus = toy_corpus(60, 4);
    write_text(folder_ / "src", corpus.source);
    write_text(folder_ / "trg", corpus.target);
  }
  Finished learn(const Words& more = {}, const std::filesystem::path& model = tiny_model()) const {
    return run(Words{"shortlist", "-m", model.string(), "-s", path("src"), "-t", path("trg"), "-o",
                     path("list"), "--threads", "1"} +
               more);
  }
  Finished translate(const Words& more, const std::filesystem::path& model = tiny_model()) const {
    return run(Words{"translate", "-m", model.string(), "-i", path("src")} + more);
  }
  // Aligns each word with the word at the same place, as the toy language does.
  void write_alignments() const {
    std::string links;
    for (const auto& line : lines_of(read_text(folder_ / "src"))) {
      const auto words = std::count(line.begin(), line.end(), ' ') + 1;
      for (long i = 0; i < words; ++i) {
        links += (i > 0 ? " " : "") + std::to_string(i) + "-" + std::to_string(i);
      }
      links += "\n";
    }
    write_text(folder_ / "links", links);
  }
};

// Greedy, because a beam compares probabilities, which a list normalises without the special
// tokens.
TEST_F(ShortlistCommand, AListOfAllTokensChangesNoTranslation) {
  ASSERT_EQ(learn().code, 0);
  const auto plain = translate({"--beam-size", "1"});
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(translate({"--beam-size", "1", "--shortlist", path("list")}).out,
            plain.out);  // 12 words: all are frequent
}

TEST_F(ShortlistCommand, WordAlignmentsGiveTheDictionary) {
  write_alignments();
  const auto learnt = learn({"--alignments", path("links")});
  ASSERT_EQ(learnt.code, 0) << learnt.err;
  const auto file = read_text(folder_ / "list");
  EXPECT_THAT(file, StartsWith("regard shortlist 1 "));
  EXPECT_THAT(file, HasSubstr("\ncat\tchat\t1.000000\n"));
  EXPECT_THAT(file, HasSubstr("\nsees\tvoit\t1.000000\n"));
}

TEST_F(ShortlistCommand, TranslationsUseOnlyTheListAndDoNotDependOnTheBatchOrTheThreads) {
  write_alignments();
  ASSERT_EQ(learn({"--alignments", path("links")}).code, 0);
  const auto with = [&](const Words& more) {
    const auto finished =
        translate(more + Words{"--shortlist", path("list"), "--shortlist-frequent", "0",
                               "--shortlist-best", "1", "--scores"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  };
  const auto alone = with({"--batch-size", "1", "--threads", "1"});
  EXPECT_EQ(with({"--batch-size", "7", "--threads", "2"}), alone);
  // Every word is the translation of a word of its own line.
  const auto source = lines_of(read_text(folder_ / "src"));
  const auto target = lines_of(read_text(folder_ / "trg"));
  const auto found = lines_of(alone);
  ASSERT_EQ(found.size(), source.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::istringstream words(found[i].substr(found[i].rfind('\t') + 1));
    for (std::string word; words >> word;) {
      if (word == "<unk>") continue;
      EXPECT_THAT(" " + target[i] + " ", HasSubstr(" " + word + " ")) << i;
    }
  }
}

TEST_F(ShortlistCommand, RequiredWordsAndPrefixesAreReachable) {
  write_alignments();
  ASSERT_EQ(learn({"--alignments", path("links")}).code, 0);
  write_text(folder_ / "one", "the cat sees a dog .\n");
  write_text(folder_ / "required", "oiseau\n");
  write_text(folder_ / "prefix", "petit\n");
  const auto finished =
      run({"translate", "-m", tiny_model().string(), "-i", path("one"), "--require",
           path("required"), "--prefixes", path("prefix"), "--shortlist", path("list"),
           "--shortlist-frequent", "0", "--shortlist-best", "1"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, StartsWith("petit"));
  EXPECT_THAT(finished.out, HasSubstr("oiseau"));
}

TEST_F(ShortlistCommand, EnsemblesAndEvaluationUseIt) {
  ASSERT_EQ(learn().code, 0);
  const auto model = tiny_model().string();
  const auto both = run({"translate", "-m", model, model, "-i", path("src"), "--shortlist",
                         path("list"), "--shortlist-frequent", "3"});
  EXPECT_EQ(both.code, 0) << both.err;
  EXPECT_EQ(lines_of(both.out).size(), 60U);
  const auto evaluated = [&](const Words& more) {
    const auto finished = run(
        Words{"evaluate", "-m", model, "-s", path("src"), "-r", path("trg"), "--beam-size", "1"} +
        more);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  };
  EXPECT_EQ(evaluated({"--shortlist", path("list")}), evaluated({}));
}

TEST_F(ShortlistCommand, NamesTheLineOfADamagedFile) {
  ASSERT_EQ(learn().code, 0);
  const auto whole = read_text(folder_ / "list");
  const auto lines = std::count(whole.begin(), whole.end(), '\n');
  const auto expect_error = [&](const std::string& file, const std::string& message) {
    write_text(folder_ / "list", file);
    const auto finished = translate({"--shortlist", path("list")});
    EXPECT_EQ(finished.code, 3) << finished.err;
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, HasSubstr(path("list") + message));
    EXPECT_THAT(finished.err, HasSubstr("with regard shortlist"));
    EXPECT_EQ(run({"evaluate", "-m", tiny_model().string(), "-s", path("src"), "-r", path("trg"),
                   "--shortlist", path("list")})
                  .code,
              3);
  };
  expect_error(whole.substr(0, whole.rfind("end\t")),
               ":" + std::to_string(lines) + ": found the end of the file");
  const auto second = whole.find('\n') + 1;
  expect_error(whole.substr(0, second) + "le\n" + whole.substr(second), ":2: found `le`");
  expect_error(whole.substr(0, second) + "\txyz\t1\n" + whole.substr(second), ":2: found `xyz`");
  expect_error("", ":1: found ``");
}

TEST_F(ShortlistCommand, WritesTheSameToAnyOutputWithAnyNumberOfThreads) {
  ASSERT_EQ(learn().code, 0);  // with one thread
  const auto model = tiny_model().string();
  const auto with_output = [&](const Words& more) {
    return run(Words{"shortlist", "-m", model, "-s", path("src"), "-t", path("trg")} + more);
  };
  EXPECT_EQ(with_output({"--threads", "2"}).out, read_text(folder_ / "list"));
  ASSERT_EQ(with_output({"-o", path("list.gz")}).code, 0);
  EXPECT_EQ(translate({"--shortlist", path("list.gz")}).out,
            translate({"--shortlist", path("list")}).out);
}

TEST_F(ShortlistCommand, ReportsWhatDoesNotFit) {
  ASSERT_EQ(learn().code, 0);
  const auto config = toy_training(folder_ / "other");
  const auto trained = [&](const Words& overrides) {
    const Words command = {"train", "-c", config.string(), "training.max_steps=1", "--fresh"};
    EXPECT_EQ(run(command + overrides).code, 0);
    return config.parent_path() / "run";
  };
  const auto expect = [&](const Finished& finished, int code, const std::string& message) {
    EXPECT_EQ(finished.code, code) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(message));
  };
  const auto other = trained({"data.tokenizer.kind=character"});
  expect(translate({"--shortlist", path("list")}, other), 2, "a shortlist for other vocabularies");
  const auto copying = trained({"model.output.kind=copy"});
  expect(translate({"--shortlist", path("list")}, copying), 2, "model.output.kind: vocabulary");
  expect(learn({}, copying), 2, "model.output.kind: vocabulary");
  expect(learn({}, tiny_fixed_context()), 2, "has no attention");
  expect(translate({"--shortlist", path("nothing")}), 3, "nothing");
  expect(translate({"--shortlist", path("src")}), 3, path("src") + ":1: found");
  expect(translate({"--shortlist-best", "3"}), 2, "--shortlist");
  expect(translate({"--shortlist", path("list"), "--explain"}), 2, "--explain");
  write_text(folder_ / "links", "0-0\n");
  expect(learn({"--alignments", path("links")}), 3, "60");
}

}  // namespace
}  // namespace regard::cli_shortlist_test
