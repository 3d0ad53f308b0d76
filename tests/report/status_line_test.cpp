#include "report/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/log.h"

namespace regard::status_line_test {
namespace {

// Replaces stderr by a terminal of the given width, or by a pipe if it is 0.
class ReplacedStderr {
 public:
  explicit ReplacedStderr(int columns) : saved_(dup(STDERR_FILENO)) {
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    int other = -1;
    if (columns > 0) {
      reader_ = posix_openpt(O_RDWR | O_NOCTTY);
      grantpt(reader_);
      unlockpt(reader_);
      other = open(ptsname(reader_), O_RDWR | O_NOCTTY);
      winsize size{};
      size.ws_col = static_cast<unsigned short>(columns);
      ioctl(other, TIOCSWINSZ, &size);
    } else {
      int ends[2];
      if (pipe(ends) != 0) std::abort();
      reader_ = ends[0];
      other = ends[1];
    }
    dup2(other, STDERR_FILENO);
    close(other);
  }
  ~ReplacedStderr() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    close(reader_);
  }
  // Reads everything written, up to a mark: a terminal returns it in pieces.
  std::string read_all() {
    std::fputs("<end>", stderr);
    std::fflush(stderr);
    std::string text;
    char byte = 0;
    while (!text.ends_with("<end>") && read(reader_, &byte, 1) == 1) text += byte;
    return text.substr(0, text.size() - 5);
  }

 private:
  int saved_;
  int reader_ = -1;
};

TEST(StatusLine, ReadsTheTerminalWidth) {
  const ReplacedStderr other(61);
  EXPECT_TRUE(stderr_terminal().live);
  EXPECT_TRUE(stderr_terminal().color);
  EXPECT_EQ(stderr_terminal().columns, 61U);
}

TEST(StatusLine, NoColorAndDumbTerminalsAreRespected) {
  const ReplacedStderr other(80);
  setenv("NO_COLOR", "1", 1);
  EXPECT_TRUE(stderr_terminal().live);
  EXPECT_FALSE(stderr_terminal().color);
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(stderr_terminal().live);
  setenv("TERM", "xterm", 1);
}

TEST(StatusLine, IsClearedBeforeALogLine) {
  ReplacedStderr other(80);
  status_line::draw("half way");
  log::info("a line");
  status_line::clear();  // does nothing
  EXPECT_EQ(other.read_all(), "\rhalf way\x1b[K\r\x1b[Ka line\r\n");
}

TEST(StatusLine, ReporterClearsItsLine) {
  ReplacedStderr other(80);
  {
    const ProgressReporter reporter;
    status_line::draw("training");
  }
  EXPECT_EQ(other.read_all(), "\rtraining\x1b[K\r\x1b[K");
}

TEST(StatusLine, PipesHavePlainLinesOnReportOnly) {
  ReplacedStderr other(0);
  ProgressReporter reporter;
  EXPECT_FALSE(reporter.wants_update());
  TrainingProgress progress;
  progress.step = 7;
  reporter.update(progress);
  DecodingReporter("validating", 10).update(5);
  progress.step = 8;
  reporter.report(progress);
  const std::string written = other.read_all();
  EXPECT_EQ(written, format_progress(progress) + "\n");
  EXPECT_THAT(written, testing::HasSubstr("step 8 "));
}

}  // namespace
}  // namespace regard::status_line_test
