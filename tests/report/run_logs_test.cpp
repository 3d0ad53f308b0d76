#include "report/run_logs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "base/error.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::run_logs_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RunLogsTest : public testing::Test {
 protected:
  std::string content() const { return bytes_of(path_); }
  void put(const std::string& text) const { put_bytes(path_, text); }

  ScratchFolder folder_;
  std::string path_ = folder_.path("file");
};

using Validation = RunLogsTest;

TEST_F(RunLogsTest, FlushesEachLine) {
  JsonLinesWriter train_log(path_);
  train_log.append({{"step", 1}, {"loss", 2.5}});
  EXPECT_EQ(content(), "{\"step\":1,\"loss\":2.5}\n");
  train_log.append({{"step", 2}, {"loss", NAN}, {"text", "a\nb"}});
  EXPECT_EQ(content(),
            "{\"step\":1,\"loss\":2.5}\n{\"step\":2,\"loss\":null,\"text\":\"a\\nb\"}\n");
}

TEST_F(RunLogsTest, NewRunStartsEmpty) {
  put("{\"step\":9}\n");
  const JsonLinesWriter train_log(path_);
  EXPECT_EQ(content(), "");
}

TEST_F(RunLogsTest, ResumingDropsLaterStepsAndTornLines) {
  put("{\"event\":\"start\"}\n{\"step\":10}\n{\"step\":20}\n{\"step\":30}\n"
      "{\"event\":\"stop\"}\n{\"step\":4");
  JsonLinesWriter train_log(path_, 20);
  EXPECT_EQ(content(), "{\"event\":\"start\"}\n{\"step\":10}\n{\"step\":20}\n");
  train_log.append({{"step", 30}});
  EXPECT_EQ(content(), "{\"event\":\"start\"}\n{\"step\":10}\n{\"step\":20}\n{\"step\":30}\n");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".tmp"));
}

TEST_F(RunLogsTest, ResumingWithoutAFileCreatesOne) {
  JsonLinesWriter train_log(path_, 20);
  train_log.append({{"step", 21}});
  EXPECT_EQ(content(), "{\"step\":21}\n");
}

TEST_F(RunLogsTest, MissingFolderIsAnEnvironmentErrorWithThePath) {
  const auto path = folder_.path("none/train.jsonl");
  EXPECT_THAT(message_of<EnvironmentError>([&] { const JsonLinesWriter train_log(path); }),
              testing::AllOf(HasSubstr(path), HasSubstr("No such file")));
}

TEST_F(RunLogsTest, FullDiskIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  JsonLinesWriter train_log("/dev/full");
  EXPECT_THROW(train_log.append({{"step", 1}}), EnvironmentError);
}

TEST_F(Validation, RowsFollowTheHeader) {
  ValidationsWriter writer(path_, {"step", "loss", "bleu", "best"});
  writer.append({{"bleu", 31.25}, {"step", 500}, {"best", "*"}});
  writer.append({{"step", 1000}, {"loss", INFINITY}, {"bleu", nullptr}, {"best", "a\tb"}});
  EXPECT_EQ(content(), "step\tloss\tbleu\tbest\n500\t\t31.25\t*\n1000\tinf\t\ta b\n");
  EXPECT_THROW(writer.append({{"ter", 1.0}}), std::invalid_argument);

  const ValidationTable read = read_validations(path_);
  EXPECT_THAT(read.columns, ElementsAre("step", "loss", "bleu", "best"));
  EXPECT_THAT(read.numbers("step"), ElementsAre(500.0, 1000.0));
  EXPECT_EQ(read.numbers("bleu")[0], 31.25);
  EXPECT_TRUE(std::isnan(read.numbers("bleu")[1]));
  EXPECT_TRUE(read.numbers("ter").empty());
}

TEST_F(Validation, TheBestRowIsTheLastOneThatIsMarked) {
  put("step\tbest\n10\t*\n20\t\n30\t*\n40\t\n");
  EXPECT_EQ(read_validations(path_).best_row(), 2U);
  put("step\tbest\n10\t\n");
  EXPECT_EQ(read_validations(path_).best_row(), std::nullopt);
  put("step\tbleu\n10\t*\n");
  EXPECT_EQ(read_validations(path_).best_row(), std::nullopt);
}

TEST_F(Validation, NumbersReadBackExactly) {
  const double value = 1.0 / 3.0;
  ValidationsWriter writer(path_, {"step", "loss"});
  writer.append({{"step", 1}, {"loss", value}});
  EXPECT_EQ(read_validations(path_).numbers("loss")[0], value);
}

TEST_F(Validation, ResumingDropsLaterStepsAndAddsColumns) {
  put("step\tbleu\told\n100\t1.5\tx\n200\t2.5\ty\n300\t3.5\tz\n40");
  ValidationsWriter writer(path_, {"step", "bleu", "chrf"}, 200);
  writer.append({{"step", 300}, {"chrf", 50}});
  EXPECT_EQ(content(), "step\tbleu\told\tchrf\n100\t1.5\tx\t\n200\t2.5\ty\t\n300\t\t\t50\n");
}

TEST_F(Validation, ResumingRefusesRowsWithoutAStep) {
  const auto expect_rejected = [this](const std::string& file, const std::string& message) {
    put(file);
    EXPECT_THAT(message_of<InputError>([&] {
                  ValidationsWriter(path_, {"step", "bleu"}, 200);
                }),
                HasSubstr(path_ + message));
    EXPECT_EQ(content(), file);
  };
  expect_rejected("steps\tbleu\n100\t1.5\n", ":1: no column `step`");
  expect_rejected("step\tbleu\n100\t1.5\nx\t2.5\n", ":3: no number in column `step`");
}

TEST_F(Validation, WrongRowNamesItsLine) {
  put("step\tbleu\n100\t1.5\n200\n");
  EXPECT_THAT(message_of<InputError>([&] { read_validations(path_); }),
              HasSubstr(path_ + ":3: found 1 cell, but the header has 2 columns"));
}

TEST_F(Validation, MissingFileIsAnError) {
  EXPECT_THROW(read_validations(path_), EnvironmentError);
}

}  // namespace
}  // namespace regard::run_logs_test
