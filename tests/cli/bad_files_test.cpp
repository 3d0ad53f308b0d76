// Files that are not plain text, missing, of different lengths, or change while they are read.
// docs/data.md describes each case.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "tests/cli/train.h"

namespace regard::bad_files_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

class BadFiles : public Train {
 protected:
  void expect_refusal(const Finished& finished, const std::string& message) const {
    EXPECT_EQ(finished.code, 3);
    EXPECT_THAT(finished.err, HasSubstr(message));
    EXPECT_FALSE(fs::exists(folder_ / "run" / "last"));
  }
  // 400 lines of 400 bytes: more than is read ahead.
  std::string long_text() const {
    std::string text;
    for (int i = 0; i < 400; ++i) text += "the" + std::string(396, ' ') + "\n";
    return text;
  }
  // Translates long_text() slowly and calls `change` after the first line.
  template <typename Change>
  Finished translate_while(const Change& change) const {
    write_text(path("text"), long_text());
    Running running({"translate", "-m", tiny_model().string(), "--threads", "1", "--batch-size",
                     "1", "-i", path("text")});
    EXPECT_TRUE(running.read_line().has_value());
    change();
    return running.finish();
  }
};

TEST_F(BadFiles, AFolder) {
  const auto message = folder_.string() + ": found a folder, expected a text file";
  EXPECT_THAT(train({"data.train.0.src=" + folder_.string()}).err, HasSubstr("a folder"));
  expect_refusal(train({"data.dev.src=" + folder_.string()}), "a folder");
  expect_refusal(translate({"-i", folder_.string()}), message);
  expect_refusal(run({"evaluate", "--hypotheses", folder_.string(), "-r", path("dev.fr")}),
                 message);
  EXPECT_EQ(translate({"-o", folder_.string()}, "the\n").code, 6);
}

TEST_F(BadFiles, PipesAreRejectedOnlyIfReadTwice) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  expect_refusal(train({"data.train.0.src=" + path("pipe")}),
                 path("pipe") + ": not a regular file");
  expect_refusal(train({"data.dev.trg=" + path("pipe")}), path("pipe") + ": not a regular file");
  const auto text = read_text(folder_ / "dev.en");
  std::thread writer([&] { write_text(path("pipe"), text); });
  const auto finished = translate({"-i", path("pipe")});
  writer.join();
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.out, translate({}, text).out);
}

TEST_F(BadFiles, AFullDevice) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  for (const auto* option : {"-o", "--alignments"}) {
    const auto finished = translate({option, "/dev/full"}, "the\n");
    EXPECT_EQ(finished.code, 6) << option;
    EXPECT_THAT(finished.err, HasSubstr("/dev/full: cannot be written (No space left"));
  }
  const auto program = (fs::path(REGARD_BINARY_DIR) / "regard").string();
  const auto model = tiny_model().string();
  for (const auto& words : {"translate -m '" + model + "' -i '" + path("dev.en") + "'",
                            "info '" + model + "'", std::string("--help")}) {
    const auto command = fmt::format("'{}' {} > /dev/full 2> '{}'", program, words, path("err"));
    const int status = std::system(command.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 6) << words;
    EXPECT_THAT(read_text(path("err")), HasSubstr("standard output: cannot be written"));
  }
}

TEST_F(BadFiles, AnUnreadableFile) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
  fs::permissions(folder_ / "train.en", fs::perms::none);
  expect_refusal(train(), "train.en: cannot be read (Permission denied)");
  expect_refusal(translate({"-i", path("train.en")}), "train.en: cannot be read");
}

TEST_F(BadFiles, FilesOfDifferentLengths) {
  for (const std::string set : {"train", "dev"}) {
    toy_training(folder_);
    file(set + ".en", "a\nb\nc\n");
    expect_refusal(train(), path(set + ".en") + " has 3 lines, but " + path(set + ".fr") + " has ");
  }
  const auto finished = run({"evaluate", "--hypotheses", path("dev.en"), "-r", path("train.fr")});
  expect_refusal(finished, path("dev.en") + " has 3 lines, but " + path("train.fr") + " has 200");
  const auto dev = path("dev.fr");
  expect_refusal(run({"evaluate", "--hypotheses", dev, path("dev.en"), "-r", dev}),
                 path("dev.en") + " has 3 lines, but " + dev + " has 20");
}

TEST_F(BadFiles, UnicodeLineEndsAreNamedIfLengthsDiffer) {
  auto text = read_text(folder_ / "train.en");
  text.replace(text.find('\n'), 1, "\u2028");
  write_text(path("train.en"), text);
  const auto message =
      path("train.en") + ":1 has a line separator (U+2028), which does not end a line";
  const auto trained = train();
  expect_refusal(trained, "has 199 lines");
  expect_refusal(trained, message);
  expect_refusal(run({"evaluate", "--hypotheses", path("train.en"), "-r", path("train.fr")}),
                 message);
}

TEST_F(BadFiles, CarriageReturnsAreNoLineEnds) {
  for (const auto* name : {"train.en", "train.fr"}) {
    auto text = read_text(folder_ / name);
    std::ranges::replace(text, '\n', '\r');
    write_text(folder_ / name, text);
  }
  const auto finished = train();
  expect_refusal(finished, "no training pair is left of 1 read");
  expect_refusal(finished, "train.en:1 has a lone carriage return");
}

TEST_F(BadFiles, AnEmptyFile) {
  write_text(path("empty"), "");
  const auto translated = translate({"-i", path("empty")});
  EXPECT_EQ(translated.code, 0) << translated.err;
  EXPECT_EQ(translated.out, "");
  EXPECT_EQ(translate({}, "").out, "");
  const auto as = [&](const std::string& set) {
    return train(
        {"data." + set + ".src=" + path("empty"), "data." + set + ".trg=" + path("empty")});
  };
  expect_refusal(as("train.0"), path("empty") + ": found no text to make a vocabulary from");
  expect_refusal(as("dev"), path("empty") + ": the file is empty; validation needs");
  expect_refusal(run({"evaluate", "--hypotheses", path("empty"), "-r", path("empty")}),
                 path("empty") + ": empty, so there is nothing to score");
}

TEST_F(BadFiles, AFileOfEmptyLines) {
  write_text(path("empty"), "\n\n \n\u3000\n");
  const auto translated = translate({"-i", path("empty")});
  EXPECT_EQ(translated.code, 0) << translated.err;
  EXPECT_EQ(translated.out, "\n\n\n\n");
  const auto as = [&](const std::string& set) {
    return train({"data." + set + ".src=" + path("empty"), "data." + set + ".trg=" + path("empty"),
                  "data.tokenizer.kind=character"});
  };
  expect_refusal(as("train.0"), "no training pair is left of 4 read: 4 empty");
  expect_refusal(as("dev"), "no line has text in both files; validation needs");
  expect_refusal(run({"evaluate", "--hypotheses", path("empty"), "-r", path("empty")}),
                 path("empty") + ": empty, so there is nothing to score");
}

// A pair with an empty side is skipped.
TEST_F(BadFiles, EmptyLinesOnEitherSideOrBoth) {
  write_text(path("train.en"), "the\n\ncat\n\ndog\n");
  write_text(path("train.fr"), "le\nchat\n\n\nchien\n");
  const auto finished = train({"--dry-run"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, testing::ContainsRegex("\n *train +5 +2 +3 +0 "));
}

TEST_F(BadFiles, AFileThatChangesDuringATranslationIsReadAsItIs) {
  const auto grown =
      translate_while([&] { std::ofstream(path("text"), std::ios::app) << "the\n"; });
  EXPECT_EQ(grown.code, 0) << grown.err;
  EXPECT_THAT(lines_of(grown.out), SizeIs(401));
  const auto cut = translate_while([&] { fs::resize_file(path("text"), 100'001); });
  EXPECT_EQ(cut.code, 0) << cut.err;
  EXPECT_THAT(lines_of(cut.out), SizeIs(AllOf(testing::Ge(251), testing::Le(400))));
}

TEST_F(BadFiles, AFileThatGrowsWhileTrainingReadsIt) {
  const std::string piece(1000, ' ');
  std::string text;
  while (text.size() < 20'000'000) text += "the" + piece + "\n";
  write_text(path("train.en"), text);
  write_text(path("train.fr"), text);
  std::atomic<bool> over = false;
  std::thread writer([&] {
    std::ofstream source(path("train.en"), std::ios::app);
    std::ofstream target(path("train.fr"), std::ios::app);
    while (!over) {
      source << "the\n" << std::flush;
      target << "le\n" << std::flush;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  const auto finished = train();
  over = true;
  writer.join();
  expect_refusal(finished, "changed while it was read");
}

}  // namespace
}  // namespace regard::bad_files_test
