#include "base/cpu.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#endif

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "base/strings.h"

namespace regard {
namespace {

namespace fs = std::filesystem;

// Returns the size of the affinity mask.
std::int64_t processors_by_affinity() {
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  // The size of the kernel's mask is unknown: doubles the mask until the kernel accepts it.
  for (int mask_bits = CPU_SETSIZE; mask_bits <= 1 << 20; mask_bits *= 2) {
    const std::unique_ptr<cpu_set_t, Free> set(CPU_ALLOC(static_cast<std::size_t>(mask_bits)));
    const auto bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(mask_bits));
    if (set && ::sched_getaffinity(0, bytes, set.get()) == 0) return CPU_COUNT_S(bytes, set.get());
    if (errno != EINVAL) break;  // EINVAL: the mask is too small
  }
  return std::max<std::int64_t>(1, std::thread::hardware_concurrency());
}

// Converts a quota of CPU time per period to a number of processors; nullopt without a quota.
std::optional<std::int64_t> quota_processors(std::int64_t quota, std::int64_t period) {
  if (quota <= 0 || period <= 0) return std::nullopt;
  return std::max<std::int64_t>(1, quota / period + (quota % period == 0 ? 0 : 1));
}

// Returns the number at the start of a file; nullopt if there is none.
std::optional<std::int64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  std::int64_t number = 0;
  return in >> number ? std::optional(number) : std::nullopt;
}

// Returns the quota of one control group, in processors.
std::optional<std::int64_t> group_quota(const fs::path& group) {
  std::ifstream in(group / "cpu.max");  // version 2: "max 100000" or "150000 100000"
  std::int64_t quota = 0, period = 0;
  if (in >> quota >> period) return quota_processors(quota, period);
  const auto time = number_in(group / "cpu.cfs_quota_us");  // version 1; -1: no quota
  return time ? quota_processors(*time, number_in(group / "cpu.cfs_period_us").value_or(0))
              : std::nullopt;
}

// Returns the limit on the memory of one control group in bytes.
std::optional<std::int64_t> group_memory(const fs::path& group) {
  if (const auto limit = number_in(group / "memory.max")) return limit;  // version 2, or "max"
  return number_in(group / "memory.limit_in_bytes");                     // version 1
}

// Returns the smallest limit_of(group) of the group `name` and of all its parents up to `mount`. In
// a container, `mount` may be the container's own group while `name` is a path on the host: the
// folders below `mount` are then missing and set no limit.
template <typename LimitOf>
std::optional<std::int64_t> lowest_limit(const fs::path& mount, std::string_view name,
                                         const LimitOf& limit_of) {
  std::optional<std::int64_t> smallest;
  fs::path group = mount;
  const auto check = [&] {
    if (const auto limit = limit_of(group)) smallest = std::min(smallest.value_or(*limit), *limit);
  };
  check();
  for (const auto& part : fs::path(name).relative_path()) {
    if (part == "..") break;  // the group is outside this container
    group /= part;
    check();
  }
  return smallest;
}

// Returns `usable` or, if that is lower, the smallest limit_of(group) of the control groups of this
// process. `controller` is the name of the controller in version 1.
template <typename LimitOf>
std::int64_t limited_by_groups(std::int64_t usable, const fs::path& groups,
                               const fs::path& membership, const std::string& controller,
                               const LimitOf& limit_of) {
  std::ifstream in(membership);
  for (std::string line; std::getline(in, line);) {  // hierarchy number:controllers:group name
    const auto controllers_at = line.find(':');
    const auto name_at = line.find(':', controllers_at + 1);
    if (controllers_at == line.npos || name_at == line.npos) continue;
    const auto controllers = line.substr(controllers_at + 1, name_at - controllers_at - 1);
    const auto name = std::string_view(line).substr(name_at + 1);
    std::vector<fs::path> mounts;
    if (controllers.empty()) {  // version 2, mounted alone or (`unified`) beside version 1
      mounts = {groups, groups / "unified"};
    } else if (std::ranges::count(split(controllers, ','), controller) > 0) {
      mounts = {groups / controllers, groups / controller};
    }
    for (const auto& mount : mounts) {
      if (const auto limit = lowest_limit(mount, name, limit_of)) {
        usable = std::min(usable, *limit);
      }
    }
  }
  return usable;
}

}  // namespace

std::int64_t usable_processors(const fs::path& groups, const fs::path& membership) {
  const auto usable =
      limited_by_groups(processors_by_affinity(), groups, membership, "cpu", group_quota);
  return std::max<std::int64_t>(1, usable);
}

std::uint64_t usable_memory(const fs::path& groups, const fs::path& membership) {
  const auto machine = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  const auto usable = limited_by_groups(machine, groups, membership, "memory", group_memory);
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, usable));
}

CpuLevel cpu_level() {
#if defined(__x86_64__)
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? CpuLevel::v4 : v3 ? CpuLevel::v3 : CpuLevel::baseline;
#else
  return CpuLevel::baseline;
#endif
}

#if defined(__x86_64__)
bool has_bf16_products() {
  return cpu_level() == CpuLevel::v4 && __builtin_cpu_supports("avx512bf16");
}

bool has_int8_products() {
  return cpu_level() == CpuLevel::v4 && __builtin_cpu_supports("avx512vnni");
}

bool has_amx_products() {
  static const bool has_products = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned amx_bf16 = 1U << 22, amx_tile = 1U << 24, amx_int8 = 1U << 25;
    if (!has_bf16_products() || !has_int8_products() ||
        __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & amx_bf16) == 0 ||
        (d & amx_tile) == 0 || (d & amx_int8) == 0) {
      return false;
    }
    // Linux saves the tiles of a process only if it asks for that (arch_prctl, Linux 5.16).
    constexpr long request_permission = 0x1023, tile_data = 18;
    return ::syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  }();
  return has_products;
}
#else
bool has_bf16_products() {
  return false;
}

bool has_int8_products() {
  return false;
}

bool has_amx_products() {
  return false;
}
#endif

std::string cpu_level_name() {
  switch (cpu_level()) {
    case CpuLevel::v4:
      return has_amx_products() ? "x86-64-v4 (AVX-512, AMX)" : "x86-64-v4 (AVX-512)";
    case CpuLevel::v3:
      return "x86-64-v3 (AVX2)";
    case CpuLevel::baseline:
      break;
  }
  utsname machine = {};
  if (uname(&machine) != 0) return "unknown";
  return std::string(machine.machine) == "x86_64" ? "x86-64 (SSE2)" : machine.machine;
}

}  // namespace regard
