#include "report/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "report/format.h"

namespace regard::progress_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TrainingProgress example() {
  TrainingProgress progress;
  progress.step = 1200;
  progress.total_steps = 10000;
  progress.epoch = 3;
  progress.loss = 2.31;
  progress.perplexity = 10.1;
  progress.learning_rate = 1e-3;
  progress.gradient_norm = 0.8;
  progress.source_tokens_per_second = 1650;
  progress.target_tokens_per_second = 1765;
  progress.peak_memory_bytes = 612'000'000;
  progress.seconds_elapsed = 100;
  progress.seconds_left = 751;
  progress.seconds_to_validation = 40;
  return progress;
}

TEST(Progress, PlainLineHasEveryField) {
  EXPECT_EQ(format_progress(example()),
            "epoch 3  step 1,200/10,000 (12 %)  loss 2.31  ppl 10.1  lr 1.0e-3  |g| 0.800  "
            "1,650 src tok/s  1,765 trg tok/s  612 MB  12:31 left  validation in 0:40");
}

TEST(Progress, OmitsUnknownFields) {
  TrainingProgress progress = example();
  progress.total_steps.reset();
  progress.total_epochs = 20;
  progress.seconds_left.reset();
  progress.seconds_to_validation.reset();
  progress.peak_memory_bytes = 0;
  EXPECT_EQ(format_progress(progress),
            "epoch 3/20  step 1,200  loss 2.31  ppl 10.1  lr 1.0e-3  |g| 0.800  "
            "1,650 src tok/s  1,765 trg tok/s  1:40 elapsed");
}

TEST(Progress, WithoutTotalStepsUsesTimeForTheFraction) {
  TrainingProgress progress = example();
  progress.total_steps.reset();
  progress.seconds_left = 300;
  EXPECT_THAT(format_progress(progress), HasSubstr("(25 %)"));
}

TEST(Progress, TerminalLineFitsEveryWidth) {
  for (std::size_t columns = 1; columns <= 220; ++columns) {
    const Terminal terminal{true, false, columns};
    EXPECT_LT(display_width(format_progress_line(example(), terminal)), columns);
    const DecodingProgress decoding{"translating", 1200, 10000, 30.0};
    EXPECT_LT(display_width(format_progress_line(decoding, terminal)), columns);
  }
}

TEST(Progress, NarrowLinesKeepTheStepAndTheLoss) {
  const std::string line = format_progress_line(example(), {true, false, 40});
  EXPECT_EQ(line, "step 1,200/10,000  loss 2.31");
  const std::string wide = format_progress_line(example(), {true, false, 250});
  EXPECT_THAT(wide, HasSubstr("1,650 src tok/s"));
  EXPECT_THAT(wide, HasSubstr("━━━─"));
}

TEST(Progress, ColourAddsNoVisibleCharacter) {
  std::string line = format_progress_line(example(), {true, true, 120});
  EXPECT_THAT(line, HasSubstr("\x1b["));
  for (std::size_t start; (start = line.find('\x1b')) != std::string::npos;)
    line.erase(start, line.find('m', start) - start + 1);
  EXPECT_EQ(line, format_progress_line(example(), {true, false, 120}));
  EXPECT_THAT(line, Not(HasSubstr("\x1b")));
}

TEST(Progress, DecodingShowsRateAndTimeLeft) {
  const Terminal terminal{true, false, 120};
  const std::string known = format_progress_line({"translating", 1200, 10000, 30.0}, terminal);
  EXPECT_THAT(known, HasSubstr("1,200/10,000 sentences"));
  EXPECT_THAT(known, HasSubstr("40.0 per second  3:40 left"));
  const std::string stream = format_progress_line({"translating", 1200, {}, 30.0}, terminal);
  EXPECT_EQ(stream, "translating  1,200 sentences  40.0 per second");
}

TEST(Progress, DecodingHasAPlainLine) {
  EXPECT_EQ(format_progress({"translating", 1200, 10000, 30.0}),
            "translating  1,200/10,000 sentences (12 %)  40.0 per second  3:40 left");
}

TEST(DecodingReporter, WritesALogLineWithoutATerminalWhenTheIntervalIsOver) {
  unsetenv("TERM");  // without it stderr is never a terminal
  testing::internal::CaptureStderr();
  DecodingReporter seldom("validating", 100, std::chrono::hours(1));
  seldom.update(10);
  DecodingReporter always("translating", 100, std::chrono::seconds(0));
  always.update(20);
  always.update(100);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, Not(HasSubstr("validating")));
  EXPECT_THAT(text, HasSubstr("translating  20/100 sentences (20 %)"));
  EXPECT_THAT(text, HasSubstr("translating  100/100 sentences (100 %)"));
}

}  // namespace
}  // namespace regard::progress_test
