#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>

namespace regard::thread_pool_test {
namespace {

TEST(ThreadPool, RunsTheJobOnEveryThread) {
  ThreadPool pool(3);
  std::vector<int> calls(3);
  for (int round = 1; round <= 200; ++round) {
    pool.run([&](std::size_t w) { ++calls[w]; });
    ASSERT_EQ(calls, std::vector<int>(3, round));
  }
}

TEST(ThreadPool, CallerIsThreadZero) {
  ThreadPool pool(2);
  std::vector<std::thread::id> threads(2);
  pool.run([&](std::size_t w) { threads[w] = std::this_thread::get_id(); });
  EXPECT_EQ(threads[0], std::this_thread::get_id());
  EXPECT_NE(threads[1], threads[0]);
}

TEST(ThreadPool, RunsInParallel) {
  ThreadPool pool(2);
  std::atomic<int> arrived = 0;
  pool.run([&](std::size_t) {
    ++arrived;
    while (arrived < 2)
      std::this_thread::yield();  // endless if the threads did not run in parallel
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ThreadPool, RethrowsTheFirstExceptionAfterAllHaveFinished) {
  ThreadPool pool(3);
  std::atomic<int> done = 0;
  const auto job = [&](std::size_t w) {
    ++done;
    if (w > 0) throw std::runtime_error(w == 1 ? "one" : "two");
  };
  try {
    pool.run(job);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "one");
  }
  EXPECT_EQ(done, 3);
  pool.run([](std::size_t) {});  // does not throw again
}

TEST(ThreadPool, CallsBeginOnceOnEachStartedThread) {
  std::atomic<int> begun = 0;
  const ThreadPool pool(3, [&] { ++begun; });
  EXPECT_EQ(begun, 2);
}

TEST(ThreadPool, ThrowsWhatBeginThrowsBeforeAnyJob) {
  std::atomic<int> calls = 0;
  const auto begin = [&] {
    if (++calls == 2) throw std::runtime_error("begin");
  };
  try {
    const ThreadPool pool(3, begin);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "begin");
  }
  EXPECT_EQ(calls, 2);
}

TEST(ParallelFor, RunsEachJobOnce) {
  ThreadPool pool(3);
  std::vector<int> done(100);
  parallel_for(pool, done.size(), [&](std::size_t i) { ++done[i]; });
  EXPECT_EQ(done, std::vector<int>(100, 1));
}

TEST(ParallelFor, RethrowsTheExceptionOfTheLowestIndexAndStartsNoMore) {
  for (const std::size_t threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    std::atomic<bool> has_thrown = false;
    std::atomic<std::size_t> started = 0;
    const auto job = [&](std::size_t i) {
      ++started;
      if (i == 2 && threads > 1) {
        while (!has_thrown) std::this_thread::yield();  // 3 throws first
      }
      if (i > 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (i != 2 && i != 3) return;
      has_thrown = true;
      throw std::runtime_error(std::to_string(i));
    };
    try {
      parallel_for(pool, 10'000, job);
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "2") << threads;
    }
    EXPECT_LT(started, 10'000u);
    parallel_for(pool, 3, [](std::size_t) {});  // does not throw again
  }
}

TEST(ParallelForRanges, CoversEachItemOnceAndReportsProgress) {
  ThreadPool pool(2);
  std::vector<int> done(23);
  std::vector<std::int64_t> progress;
  const auto job = [&](std::size_t begin, std::size_t end) {
    EXPECT_LE(end - begin, 5u);
    for (auto i = begin; i < end; ++i) ++done[i];
  };
  parallel_for_ranges(pool, done.size(), 5, job, [&](std::int64_t n) { progress.push_back(n); });
  EXPECT_EQ(done, std::vector<int>(23, 1));
  EXPECT_EQ(progress.size(), 5u);
  EXPECT_EQ(progress.back(), 23);
  parallel_for_ranges(pool, 0, 5, job);
}

}  // namespace
}  // namespace regard::thread_pool_test
