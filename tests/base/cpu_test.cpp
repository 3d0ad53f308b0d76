#include "base/cpu.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/checkpoint/scratch_folder.h"

namespace regard::cpu_test {
namespace {

namespace fs = std::filesystem;

// Replaces /sys/fs/cgroup by a folder and /proc/self/cgroup by a file.
class Processors : public testing::Test {
 protected:
  void set_quota(const std::string& group, const std::string& max) {
    fs::create_directories(groups_ / group);
    put_bytes(groups_ / group / "cpu.max", max + "\n");
  }
  void set_quota_v1(const std::string& group, const std::string& time, const std::string& period) {
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

TEST_F(Processors, EqualTheAffinityWithoutQuotas) {
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

TEST_F(Processors, RoundTheQuotaUp) {
  set_quota("job", "100000 100000");
  EXPECT_EQ(usable("0::/job\n"), 1);
  set_quota("job", "1000 100000");
  EXPECT_EQ(usable("0::/job\n"), 1);
  set_quota("job", "120000 100000");
  EXPECT_EQ(usable("0::/job\n"), std::min<std::int64_t>(2, all_));
  set_quota("job", "max 100000");
  EXPECT_EQ(usable("0::/job\n"), all_);
  set_quota("job", "99900000 100000");
  EXPECT_EQ(usable("0::/job\n"), all_) << "quota above the number of processors";
}

TEST_F(Processors, UseTheSmallestQuotaOfAllParents) {
  set_quota("slice", "50000 50000");
  set_quota("slice/service", "max 100000");
  set_quota("slice/service/job", "9000000 100000");
  EXPECT_EQ(usable("0::/slice/service/job\n"), 1);
  set_quota("slice", "max 100000");
  EXPECT_EQ(usable("0::/slice/service/job\n"), all_);
}

TEST_F(Processors, InAContainerUseTheMountItself) {
  set_quota("", "100000 100000");
  EXPECT_EQ(usable("0::/\n"), 1);
  EXPECT_EQ(usable("0::/docker/of/the/host\n"), 1);
  EXPECT_EQ(usable("0::/../../another\n"), 1);
}

TEST_F(Processors, UseQuotasOfVersion1) {
  set_quota_v1("cpu,cpuacct/job", "50000", "100000");
  EXPECT_EQ(usable("5:memory:/job\n4:cpu,cpuacct:/job\n0::/job\n"), 1);
  set_quota_v1("cpu,cpuacct/job", "-1", "100000");
  EXPECT_EQ(usable("4:cpu,cpuacct:/job\n"), all_);
  set_quota_v1("cpu/job", "100000", "100000");
  EXPECT_EQ(usable("4:cpuacct,cpu:/job\n"), 1) << "mounted under the name of the controller";
  EXPECT_EQ(usable("4:cpuset:/job\n"), all_);
}

TEST_F(Processors, IgnoreUnreadableQuotas) {
  for (const auto* max : {"", "x", "0 100000", "-5 100000", "100000", "100000 0", "100000 x"}) {
    set_quota("job", max);
    EXPECT_EQ(usable("0::/job\n"), all_) << max;
  }
  EXPECT_EQ(usable(""), all_);
  EXPECT_EQ(usable("nonsense\n::\n0:\n"), all_);
}

class UsableMemory : public Processors {
 protected:
  void set_limit(const std::string& file, const std::string& limit) {
    fs::create_directories((groups_ / file).parent_path());
    put_bytes(groups_ / file, limit + "\n");
  }
  std::uint64_t usable(const std::string& membership) {
    put_bytes(scratch_ / "membership", membership);
    return usable_memory(groups_, scratch_ / "membership");
  }

  std::uint64_t machine_ = usable_memory(scratch_ / "none", scratch_ / "none");
};

TEST_F(UsableMemory, IsThatOfTheMachineWithoutLimits) {
  EXPECT_GT(machine_, std::uint64_t{1} << 26);
  set_limit("job/memory.max", "max");
  EXPECT_EQ(usable("0::/job\n"), machine_);
  set_limit("job/memory.max", "9000000000000000000");
  EXPECT_EQ(usable("0::/job\n"), machine_);
}

TEST_F(UsableMemory, UsesTheSmallestLimitOfAllParents) {
  set_limit("slice/memory.max", "1048576");
  set_limit("slice/job/memory.max", "4194304");
  EXPECT_EQ(usable("0::/slice/job\n"), 1048576U);
  set_limit("slice/memory.max", "max");
  EXPECT_EQ(usable("0::/slice/job\n"), 4194304U);
}

TEST_F(UsableMemory, UsesLimitsOfVersion1) {
  set_limit("memory/job/memory.limit_in_bytes", "1048576");
  EXPECT_EQ(usable("5:memory:/job\n4:cpu,cpuacct:/job\n0::/job\n"), 1048576U);
  EXPECT_EQ(usable("4:cpu,cpuacct:/job\n"), machine_);
  set_limit("memory/job/memory.limit_in_bytes", "9223372036854771712");  // none
  EXPECT_EQ(usable("5:memory:/job\n"), machine_);
}

// True if /proc/cpuinfo lists the instruction set.
bool cpu_has(const std::string& set) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (word == set) return true;
    }
    return false;
  }
  return false;
}

TEST(CpuLevel, AgreesWithCpuinfo) {
  const bool v3 = cpu_has("avx2") && cpu_has("fma") && cpu_has("bmi1") && cpu_has("bmi2");
  const bool v4 = v3 && cpu_has("avx512f") && cpu_has("avx512bw") && cpu_has("avx512cd") &&
                  cpu_has("avx512dq") && cpu_has("avx512vl");
  const auto expected = v4 ? CpuLevel::v4 : v3 ? CpuLevel::v3 : CpuLevel::baseline;
  EXPECT_EQ(cpu_level(), expected);
  EXPECT_EQ(cpu_level_name().ends_with("v4 (AVX-512)"), v4 && !has_amx_products());
  EXPECT_EQ(cpu_level_name().ends_with("v4 (AVX-512, AMX)"), has_amx_products());
  EXPECT_EQ(cpu_level_name().ends_with("v3 (AVX2)"), v3 && !v4);
}

}  // namespace
}  // namespace regard::cpu_test
