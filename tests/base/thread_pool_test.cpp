#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
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

TEST(ParallelFor, RunsEachJobOnce) {
  ThreadPool pool(3);
  std::vector<int> done(100);
  parallel_for(pool, done.size(), [&](std::size_t i) { ++done[i]; });
  EXPECT_EQ(done, std::vector<int>(100, 1));
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
