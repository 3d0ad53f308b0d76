#include "base/process.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <string>

#include "tests/checkpoint/scratch_folder.h"

namespace regard {
namespace {

namespace fs = std::filesystem;

// A folder in place of /sys/fs/cgroup, and a list in place of /proc/self/cgroup.
class Processors : public testing::Test {
 protected:
  void quota(const std::string& group, const std::string& max) {
    fs::create_directories(groups_ / group);
    put_bytes(groups_ / group / "cpu.max", max + "\n");
  }
  void old_quota(const std::string& group, const std::string& time, const std::string& period) {
    fs::create_directories(groups_ / group);
    put_bytes(groups_ / group / "cpu.cfs_quota_us", time + "\n");
    put_bytes(groups_ / group / "cpu.cfs_period_us", period + "\n");
  }
  std::int64_t usable(const std::string& membership) {
    put_bytes(scratch_ / "membership", membership);
    return usable_processors(groups_, scratch_ / "membership");
  }

  ScratchFolder scratch_;
  fs::path groups_ = scratch_ / "groups";
  std::int64_t all_ = usable_processors(scratch_ / "none", scratch_ / "none");
};

TEST_F(Processors, WithoutQuotasAreThoseOfTheAffinity) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(all_, CPU_COUNT(&before));
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_processors(scratch_ / "none", scratch_ / "none"), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST_F(Processors, AreAsManyAsTheQuotaOfTheGroupRoundedUp) {
  quota("job", "100000 100000");
  EXPECT_EQ(usable("0::/job\n"), 1);
  quota("job", "1000 100000");
  EXPECT_EQ(usable("0::/job\n"), 1);
  quota("job", "120000 100000");
  EXPECT_EQ(usable("0::/job\n"), std::min<std::int64_t>(2, all_));
  quota("job", "max 100000");
  EXPECT_EQ(usable("0::/job\n"), all_);
  quota("job", "99900000 100000");
  EXPECT_EQ(usable("0::/job\n"), all_) << "more than there are";
}

TEST_F(Processors, TheSmallestQuotaOfAllParentsCounts) {
  quota("slice", "50000 50000");
  quota("slice/service", "max 100000");
  quota("slice/service/job", "9000000 100000");
  EXPECT_EQ(usable("0::/slice/service/job\n"), 1);
  quota("slice", "max 100000");
  EXPECT_EQ(usable("0::/slice/service/job\n"), all_);
}

TEST_F(Processors, InAContainerTheMountIsItsOwnGroup) {
  quota("", "100000 100000");
  EXPECT_EQ(usable("0::/\n"), 1);
  EXPECT_EQ(usable("0::/docker/of/the/host\n"), 1);
  EXPECT_EQ(usable("0::/../../another\n"), 1);
}

TEST_F(Processors, QuotasOfVersionOneCountToo) {
  old_quota("cpu,cpuacct/job", "50000", "100000");
  EXPECT_EQ(usable("5:memory:/job\n4:cpu,cpuacct:/job\n0::/job\n"), 1);
  old_quota("cpu,cpuacct/job", "-1", "100000");
  EXPECT_EQ(usable("4:cpu,cpuacct:/job\n"), all_);
  old_quota("cpu/job", "100000", "100000");
  EXPECT_EQ(usable("4:cpuacct,cpu:/job\n"), 1) << "mounted by the controller's name";
  EXPECT_EQ(usable("4:cpuset:/job\n"), all_);
}

TEST_F(Processors, WhatCannotBeReadIsNoQuota) {
  for (const auto* max : {"", "x", "0 100000", "-5 100000", "100000", "100000 0", "100000 x"}) {
    quota("job", max);
    EXPECT_EQ(usable("0::/job\n"), all_) << max;
  }
  EXPECT_EQ(usable(""), all_);
  EXPECT_EQ(usable("nonsense\n::\n0:\n"), all_);
}

}  // namespace
}  // namespace regard
