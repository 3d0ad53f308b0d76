#include "training/signals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace regard::signals_test {
namespace {

using testing::ElementsAre;

// The order of the counts: SIGINT, SIGTERM, SIGHUP, SIGUSR1, the time is up.
TEST(SharedSignals, ASignalCountsFromTheAgreementOn) {
  const SignalCatcher own;
  SharedSignals signals(own);
  std::raise(SIGTERM);
  EXPECT_EQ(signals.own_stop_signal(), SIGTERM);
  EXPECT_EQ(signals.stop_signal(), 0);
  signals.agree(signals.received(/*time_is_up=*/false));
  EXPECT_EQ(signals.stop_signal(), SIGTERM);
  EXPECT_FALSE(signals.time_is_up());
}

TEST(SharedSignals, ASignalOfAnotherProcessCountsToo) {
  const SignalCatcher own;
  SharedSignals signals(own);
  EXPECT_THAT(signals.received(/*time_is_up=*/true), ElementsAre(0, 0, 0, 0, 1));
  signals.agree({0, 0, 2, 1, 3});
  EXPECT_EQ(signals.own_stop_signal(), 0);
  EXPECT_EQ(signals.stop_signal(), SIGHUP);
  EXPECT_TRUE(signals.take_save_request());
  EXPECT_FALSE(signals.take_save_request());
  EXPECT_TRUE(signals.time_is_up());
}

TEST(SharedSignals, ASaveRequestOutlivesAStepThatIsRepeated) {
  const SignalCatcher own;
  SharedSignals signals(own);
  std::raise(SIGUSR1);
  EXPECT_THAT(signals.received(/*time_is_up=*/false), ElementsAre(0, 0, 0, 1, 0));
  EXPECT_THAT(signals.received(/*time_is_up=*/false), ElementsAre(0, 0, 0, 1, 0));
  signals.agree({0, 0, 0, 1, 0});
  EXPECT_TRUE(signals.take_save_request());
  EXPECT_THAT(signals.received(/*time_is_up=*/false), ElementsAre(0, 0, 0, 0, 0));
}

}  // namespace
}  // namespace regard::signals_test
