#include "base/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace regard {
namespace {

TEST(Workers, EachDoesItsShareInEveryRound) {
  Workers workers(3);
  std::vector<int> shares(3);
  for (int round = 1; round <= 200; ++round) {
    workers.run([&](std::size_t w) { ++shares[w]; });
    ASSERT_EQ(shares, std::vector<int>(3, round));
  }
}

TEST(Workers, TheCallerIsWorkerZero) {
  Workers workers(2);
  std::vector<std::thread::id> threads(2);
  workers.run([&](std::size_t w) { threads[w] = std::this_thread::get_id(); });
  EXPECT_EQ(threads[0], std::this_thread::get_id());
  EXPECT_NE(threads[1], threads[0]);
}

TEST(Workers, WorkAtOnce) {
  Workers workers(2);
  std::atomic<int> arrived = 0;
  workers.run([&](std::size_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();  // for ever, if one waited for the other
  });
  EXPECT_EQ(arrived, 2);
}

TEST(Workers, WhatOneThrowsIsThrownOnAfterAllAreDone) {
  Workers workers(3);
  std::atomic<int> done = 0;
  const auto job = [&](std::size_t w) {
    ++done;
    if (w > 0) throw std::runtime_error(w == 1 ? "one" : "two");
  };
  try {
    workers.run(job);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "one");
  }
  EXPECT_EQ(done, 3);
  workers.run([](std::size_t) {});  // forgotten
}

TEST(Deal, EachJobIsDoneOnce) {
  Workers workers(3);
  std::vector<int> done(100);
  deal(workers, done.size(), [&](std::size_t i) { ++done[i]; });
  EXPECT_EQ(done, std::vector<int>(100, 1));
}

TEST(DealGroups, EachItemIsInOneGroupAndProgressCountsThemAll) {
  Workers workers(2);
  std::vector<int> done(23);
  std::vector<std::int64_t> heard;
  const auto job = [&](std::size_t begin, std::size_t end) {
    EXPECT_LE(end - begin, 5u);
    for (auto i = begin; i < end; ++i) ++done[i];
  };
  deal_groups(workers, done.size(), 5, job, [&](std::int64_t n) { heard.push_back(n); });
  EXPECT_EQ(done, std::vector<int>(23, 1));
  EXPECT_EQ(heard.size(), 5u);
  EXPECT_EQ(heard.back(), 23);
  deal_groups(workers, 0, 5, job);
}

}  // namespace
}  // namespace regard
