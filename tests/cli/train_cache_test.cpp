// regard train: the tokenized corpus that a run keeps in corpus.cache for its next start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/train.h"

namespace regard::train_cache_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class TrainCache : public Train {
 protected:
  const fs::path cache_ = folder_ / "run" / "corpus.cache";
  const std::vector<std::string> half_ = {"training.max_steps=30"};
  const std::vector<std::string> whole_ = {"training.max_steps=60"};
};

TEST_F(TrainCache, ARunResumedWithItEndsInTheBytesOfOneWithout) {
  for (const std::vector<std::string>& kind :
       {std::vector<std::string>{"data.tokenizer.kind=word"},
        {"data.tokenizer.kind=unigram", "data.tokenizer.vocabulary_size=30",
         "data.tokenizer.sampling=0.5"}}) {
    const auto with = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.end(), kind.begin(), kind.end());
      return train(arguments);
    };
    fs::remove_all(folder_ / "run");
    ASSERT_EQ(with(half_).code, 0);
    ASSERT_TRUE(fs::exists(cache_));
    const auto written = read_text(cache_);
    const auto time = fs::last_write_time(cache_);
    ASSERT_EQ(with(whole_).code, 0);
    EXPECT_EQ(fs::last_write_time(cache_), time);  // it was used: nothing was written
    const auto resumed = weights();
    const auto manifest = read_text(folder_ / "run" / "manifest.json");

    fs::remove_all(folder_ / "run");
    ASSERT_EQ(with(half_).code, 0);
    EXPECT_EQ(read_text(cache_), written);
    fs::remove(cache_);
    ASSERT_EQ(with(whole_).code, 0);
    EXPECT_EQ(weights(), resumed);
    EXPECT_EQ(read_text(folder_ / "run" / "manifest.json"), manifest);
    EXPECT_TRUE(fs::exists(cache_));
  }
}

TEST_F(TrainCache, AFreshStartUsesItAndShowsTheSameTables) {
  const auto first = train();
  ASSERT_EQ(first.code, 0);
  const auto time = fs::last_write_time(cache_);
  const auto before = weights();
  const auto second = train({"--fresh"});
  ASSERT_EQ(second.code, 0);
  EXPECT_EQ(fs::last_write_time(cache_), time);
  EXPECT_EQ(weights(), before);
  const auto table = [](const std::string& messages) {
    return messages.substr(0, messages.find("module"));
  };
  EXPECT_EQ(table(second.err), table(first.err));
  EXPECT_THAT(table(first.err), HasSubstr("train"));
}

TEST_F(TrainCache, ADamagedOneIsMadeAgain) {
  ASSERT_EQ(train(half_).code, 0);
  const auto intact = read_text(cache_);
  ASSERT_EQ(train(whole_).code, 0);
  const auto expected = weights();
  auto changed = intact;
  changed[changed.size() - 70] ^= 1;
  for (const auto& damaged : {std::string(), intact.substr(0, intact.size() / 2), changed,
                              std::string("something else\n")}) {
    fs::remove_all(folder_ / "run");
    ASSERT_EQ(train(half_).code, 0);
    write_text(cache_, damaged);
    const auto result = train(whole_);
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("corpus.cache: damaged"));
    EXPECT_EQ(weights(), expected);
    const auto time = fs::last_write_time(cache_);
    EXPECT_THAT(train({"training.max_steps=61"}).err, Not(HasSubstr("damaged")));
    EXPECT_EQ(fs::last_write_time(cache_), time);  // the new one was used
  }
}

TEST_F(TrainCache, ChangedTextOfTheSameSizeAndTimeIsNoticed) {
  ASSERT_EQ(train(half_).code, 0);
  const auto path = folder_ / "train.en";
  const auto time = fs::last_write_time(path);
  auto text = read_text(path);
  const auto space = text.find(' ');
  std::swap(text[space], text[space + 1]);
  ASSERT_NE(text, read_text(path));
  write_text(path, text);
  fs::last_write_time(path, time);
  const auto before = read_text(cache_);
  const auto result = train(whole_);
  ASSERT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("train.en: the text has changed since the last session"));
  EXPECT_NE(read_text(cache_), before);
}

TEST_F(TrainCache, WarningsAndErrorsOfTheValidationSetAreRepeated) {
  write_text(folder_ / "dev.en", std::string(9'000, 'a') + "\n" + read_text(folder_ / "dev.en"));
  write_text(folder_ / "dev.fr", "b\n" + read_text(folder_ / "dev.fr"));
  EXPECT_THAT(train(half_).err, HasSubstr("dev.en:1: the line has 9000 bytes"));
  EXPECT_THAT(train(whole_).err, HasSubstr("dev.en:1: the line has 9000 bytes"));
  write_text(folder_ / "dev.fr", "b\n");
  const auto result = train({"training.max_steps=90"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("dev.en has 21 lines"), HasSubstr("dev.fr has 1 line")));
}

TEST_F(TrainCache, AFullDiskIsAWarning) {
  ASSERT_EQ(train(whole_).code, 0);
  const auto expected = weights();
  // The first two writes into the folder itself are manifest.json and config.yaml.
  for (const int number : {3, 5}) {
    fs::remove_all(folder_ / "run");
    const auto messages = folder_ / "messages";
    const auto command =
        "LD_PRELOAD=" REGARD_FAILING_DISK " FAIL_BELOW=/run/# FAIL_AT=" + std::to_string(number) +
        " FAIL_UNTIL=" + std::to_string(number) + " FAIL_WITH=" + std::to_string(ENOSPC) + " " +
        REGARD_BINARY_DIR + "/regard train -c " + config_.string() + " " + whole_[0] + " 2>" +
        messages.string();
    ASSERT_EQ(WEXITSTATUS(std::system(command.c_str())), 0) << read_text(messages);
    EXPECT_THAT(read_text(messages),
                AllOf(HasSubstr("corpus.cache: cannot be written"), HasSubstr("the run goes on")));
    EXPECT_FALSE(fs::exists(cache_));
    EXPECT_EQ(weights(), expected);
  }
}

TEST_F(TrainCache, APathThatCannotBeReplacedIsAWarning) {
  ASSERT_EQ(train(half_).code, 0);
  fs::remove(cache_);
  fs::create_directories(cache_ / "mine");
  const auto result = train(whole_);
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("corpus.cache: cannot be replaced"));
  EXPECT_TRUE(fs::exists(cache_ / "mine"));
}

TEST_F(TrainCache, ADryRunWritesNone) {
  ASSERT_EQ(train({"--dry-run"}).code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  ASSERT_EQ(train(half_).code, 0);
  fs::remove(cache_);
  ASSERT_EQ(train({"--dry-run", whole_[0]}).code, 0);
  EXPECT_FALSE(fs::exists(cache_));
}

TEST_F(TrainCache, CommandsOnARunIgnoreIt) {
  ASSERT_EQ(train(half_).code, 0);
  const auto model = (folder_ / "run").string();
  const auto intact = run({"info", model}).out;
  write_text(cache_, "damaged");
  EXPECT_EQ(run({"info", model}).out, intact);
  EXPECT_EQ(run({"translate", "-m", model, "-i", (folder_ / "dev.en").string()}).code, 0);
  EXPECT_THAT(run({"report", model, "-o", cache_.string()}).err, HasSubstr("would be overwritten"));
}

}  // namespace
}  // namespace regard::train_cache_test
