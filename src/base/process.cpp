#include "base/process.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include "base/failure.h"
#include "base/split.h"

namespace regard {
namespace {

namespace fs = std::filesystem;

// open() takes the lowest number that is free: the lower descriptors are open already.
void fill_if_closed(int descriptor) {
  if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) return;
  const int unusable = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
  if (::open("/dev/null", unusable) < 0) ::open("/", O_PATH);
}

// The processors that the scheduler may put this process on.
std::int64_t processors_by_affinity() {
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  for (int most = CPU_SETSIZE; most <= 1 << 20; most *= 2) {  // EINVAL: the machine has more
    const std::unique_ptr<cpu_set_t, Free> set(CPU_ALLOC(static_cast<std::size_t>(most)));
    const auto bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
    if (set && ::sched_getaffinity(0, bytes, set.get()) == 0) return CPU_COUNT_S(bytes, set.get());
    if (errno != EINVAL) break;
  }
  return std::max<std::int64_t>(1, std::thread::hardware_concurrency());
}

// How many processors a quota of time in each period comes to; nothing if there is no quota.
std::optional<std::int64_t> processors_of(std::int64_t quota, std::int64_t period) {
  if (quota <= 0 || period <= 0) return std::nullopt;
  return std::max<std::int64_t>(1, quota / period + (quota % period == 0 ? 0 : 1));
}

std::optional<std::int64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  std::int64_t number = 0;
  return in >> number ? std::optional(number) : std::nullopt;
}

// The quota of one control group.
std::optional<std::int64_t> group_quota(const fs::path& group) {
  std::ifstream in(group / "cpu.max");  // version 2: "max 100000" or "150000 100000"
  std::int64_t quota = 0, period = 0;
  if (in >> quota >> period) return processors_of(quota, period);
  const auto time = number_in(group / "cpu.cfs_quota_us");  // version 1; -1 is no quota
  return time ? processors_of(*time, number_in(group / "cpu.cfs_period_us").value_or(0))
              : std::nullopt;
}

// The smallest quota of the group `name` below `mount` and of all groups that it lies in. In a
// container the mount may be the container's own group, and the name one outside of it.
std::optional<std::int64_t> smallest_quota(const fs::path& mount, std::string_view name) {
  std::optional<std::int64_t> smallest;
  fs::path group = mount;
  const auto look = [&] {
    if (const auto quota = group_quota(group))
      smallest = std::min(smallest.value_or(*quota), *quota);
  };
  look();
  for (const auto& part : fs::path(name).relative_path()) {
    if (part == "..") break;
    group /= part;
    look();
  }
  return smallest;
}

}  // namespace

void prepare_process() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    fill_if_closed(descriptor);
  }
  std::signal(SIGXFSZ, SIG_IGN);
  report_uncaught_exceptions();
}

std::int64_t usable_processors(const fs::path& groups, const fs::path& membership) {
  auto usable = processors_by_affinity();
  std::ifstream in(membership);
  for (std::string line; std::getline(in, line);) {  // number:controllers:name
    const auto controllers_at = line.find(':');
    const auto name_at = line.find(':', controllers_at + 1);
    if (controllers_at == line.npos || name_at == line.npos) continue;
    const auto controllers = line.substr(controllers_at + 1, name_at - controllers_at - 1);
    const auto name = std::string_view(line).substr(name_at + 1);
    std::vector<fs::path> mounts;
    if (controllers.empty()) {  // version 2
      mounts = {groups, groups / "unified"};
    } else if (std::ranges::count(split(controllers, ','), "cpu") > 0) {
      mounts = {groups / controllers, groups / "cpu"};
    }
    for (const auto& mount : mounts) {
      if (const auto quota = smallest_quota(mount, name)) usable = std::min(usable, *quota);
    }
  }
  return std::max<std::int64_t>(1, usable);
}

}  // namespace regard
