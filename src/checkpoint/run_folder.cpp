#include "checkpoint/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"

namespace regard {
namespace fs = std::filesystem;
namespace {

constexpr const char* checkpoints_name = "checkpoints";
constexpr const char* lock_name = ".lock";
constexpr std::string_view step_prefix = "step-";

// Returns 1000 for "step-00001000", nullopt for other names.
std::optional<std::int64_t> step_of(std::string_view name) {
  if (!name.starts_with(step_prefix)) return std::nullopt;
  const auto step = parse_number<std::int64_t>(name.substr(step_prefix.size()));
  return step && *step >= 0 ? step : std::nullopt;
}

// Returns the names of the files and folders in a folder; empty if there is no such folder. Throws
// EnvironmentError if the folder cannot be read.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  if (error && error != std::errc::no_such_file_or_directory &&
      error != std::errc::not_a_directory) {
    throw EnvironmentError("{}: cannot be read ({})", folder.string(), error.message());
  }
  return names;
}

// Returns the step of a checkpoint, from the name of its folder or else from its manifest. A number
// that no training reaches counts as damage.
std::optional<std::int64_t> step_of_checkpoint(const fs::path& checkpoint) {
  if (const auto step = step_of(checkpoint.filename().string())) return step;
  try {
    const Json step = read_manifest(checkpoint).info.value("step", Json());
    if (step.is_number_unsigned() && step.get<std::uint64_t>() < 1'000'000'000'000) return step;
  } catch (const CheckpointError&) {  // damaged: its step is unknown
  }
  return std::nullopt;
}

// True for a folder, but not for a link to one.
bool is_real_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(fs::symlink_status(path, ignored));
}

// Appends the suffix to the path, and also "-1", "-2", … if that path exists.
fs::path unused_name(const fs::path& path, std::string_view suffix) {
  std::error_code ignored;
  fs::path unused = path.string() + std::string(suffix);
  for (int i = 1; fs::exists(fs::symlink_status(unused, ignored)); ++i) {
    unused = fmt::format("{}{}-{}", path.string(), suffix, i);
  }
  return unused;
}

// Returns "process 123" for the process that wrote its id into the lock file.
std::string lock_holder(int lock) {
  char digits[32] = {};
  const ssize_t count = ::pread(lock, digits, sizeof digits - 1, 0);
  return count > 0 ? "process " + std::string(digits, std::strcspn(digits, "\n")) : "a process";
}

}  // namespace

RunFolder::~RunFolder() {
  if (lock_ >= 0) ::close(lock_);
  if (folder_ >= 0) ::close(folder_);
}

void RunFolder::lock() {
  if (lock_ >= 0) return;
  make_folder(path_);
  const fs::path file = path_ / lock_name;
  if (folder_ >= 0) ::close(folder_);
  folder_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int fd =
      folder_ < 0 ? -1 : ::openat(folder_, lock_name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0)
    throw EnvironmentError(
        "{}: cannot be opened ({}); make the run folder writable, or change training.model_dir",
        file.string(), std::strerror(errno));
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    const std::string holder = lock_holder(fd);
    ::close(fd);
    if (error == EWOULDBLOCK) {
      throw EnvironmentError("{}: {} is training here; wait for it, stop it, or use another folder",
                             path_.string(), holder);
    }
    throw EnvironmentError("{}: cannot be locked ({})", file.string(), std::strerror(error));
  }
  lock_ = fd;
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, pid.data(), pid.size(), 0) < 0) {
    log::warning("{}: cannot be written ({})", file.string(), std::strerror(errno));
  }
  clear_all_leftovers();
  replace_copied_links();
}

void RunFolder::check_not_moved() const {
  if (lock_ < 0) return;
  struct stat locked = {};
  struct stat found = {};
  const bool same = ::fstat(lock_, &locked) == 0 &&
                    ::stat((path_ / lock_name).c_str(), &found) == 0 &&
                    locked.st_dev == found.st_dev && locked.st_ino == found.st_ino;
  if (same) return;
  throw EnvironmentError(
      "{}: the run folder of this training is no longer at its path; it was moved or deleted. "
      "Nothing more is written; move it back and run the same command to continue",
      path_.string());
}

void RunFolder::make_folder_inside(const std::string& name) const {
  if (lock_ < 0) throw std::logic_error("the run folder is not locked");
  if (::mkdirat(folder_, name.c_str(), 0777) == 0) return;
  const int error = errno;
  struct stat found = {};
  const bool exists = error == EEXIST && ::fstatat(folder_, name.c_str(), &found, 0) == 0;
  if (exists && S_ISDIR(found.st_mode)) return;
  throw EnvironmentError("{}: cannot create the folder ({})", (path_ / name).string(),
                         exists ? "a file has this name" : std::strerror(error));
}

void RunFolder::make_checkpoints_folder() const {
  make_folder_inside(checkpoints_name);
}

void RunFolder::clear_all_leftovers() const {
  const fs::path folder = path_ / checkpoints_name;
  for (const std::string& file : names_in(folder)) {
    const fs::path name(file);  // `.step-00001000.regard-lock`
    if (name.extension() != ".regard-lock" || !file.starts_with('.')) continue;
    const std::string step_folder = name.stem().string().substr(1);
    if (step_of(step_folder)) clear_leftovers(folder / step_folder);
  }
}

// Restores the links `last` and `best`, which `cp -rL` of a run replaces by copies of checkpoints.
// A copy stays in place if its checkpoint was not copied.
void RunFolder::replace_copied_links() {
  for (const char* link : {"last", "best"}) {
    const auto target = target_of(link);
    if (!is_real_folder(path_ / link) || target.empty() || !is_checkpoint(path_ / target)) continue;
    set_link(link, *step_of(target.filename().string()));
  }
}

// Moves the folder `last` or `best`, a copy of a checkpoint, away, so that a link can take its
// name.
void RunFolder::move_copy_away(const char* link) const {
  const fs::path path = path_ / link;
  const fs::path to = unused_name(path, ".copied");
  std::error_code error;
  fs::rename(path, to, error);
  if (error) {
    throw EnvironmentError("{}: found a folder, expected a link; the folder cannot be moved ({})",
                           path.string(), error.message());
  }
  log::info("{}: found a folder, expected a link; moved to {}, which may be removed", path.string(),
            to.string());
}

fs::path RunFolder::checkpoint(std::int64_t step) const {
  return path_ / checkpoints_name / fmt::format("{}{:08}", step_prefix, step);
}

std::vector<std::int64_t> RunFolder::checkpoint_steps() const {
  std::vector<std::int64_t> steps;
  for (const std::string& name : names_in(path_ / checkpoints_name)) {
    const auto step = step_of(name);
    if (!step) continue;
    const auto path = checkpoint(*step);
    if (path.filename() == name && is_checkpoint(path)) steps.push_back(*step);
  }
  std::ranges::sort(steps);
  return steps;
}

// Returns the target of the link, relative to the run folder. Without the link, returns the
// checkpoint that the file names; empty without both, or if the file names none.
fs::path RunFolder::target_of(const char* link) const {
  std::error_code error;
  auto target = fs::read_symlink(path_ / link, error);
  if (!error) return target;
  const auto file = path_ / checkpoints_name / link;
  if (!is_file(file)) return {};
  std::string name;
  std::getline(std::ifstream(file), name);
  return step_of(name) ? fs::path(checkpoints_name) / name : fs::path();
}

// Returns the target of the link or, for a checkpoint copied by `cp -rL`, the link's own path.
// Returns nullopt if there is no checkpoint, with a warning if the link leads nowhere.
std::optional<fs::path> RunFolder::follow(const char* link) const {
  const fs::path path = path_ / link;
  if (is_real_folder(path) && is_checkpoint(path)) return path;
  const auto target = target_of(link);
  if (target.empty()) return std::nullopt;
  if (is_checkpoint(path_ / target)) return path_ / target;
  log::warning("{}: points to {}, which is missing or not a checkpoint", path.string(),
               target.string());
  return std::nullopt;
}

std::optional<fs::path> RunFolder::last() const {
  if (std::optional<fs::path> linked = follow("last")) return linked;
  const std::vector<std::int64_t> steps = checkpoint_steps();
  if (steps.empty()) return std::nullopt;
  return checkpoint(steps.back());
}

std::optional<fs::path> RunFolder::incomplete_last() const {
  const auto target = target_of("last");
  if (target.empty() || !is_real_folder(path_ / target) || is_checkpoint(path_ / target)) {
    return std::nullopt;
  }
  return path_ / target;
}

std::optional<fs::path> RunFolder::best() const {
  return follow("best");
}
bool RunFolder::is_best(std::int64_t step) const {
  std::error_code ignored;
  const auto target = has_links_ ? fs::read_symlink(path_ / "best", ignored) : target_of("best");
  return target == checkpoint(step).lexically_relative(path_);
}
std::optional<std::int64_t> RunFolder::best_step() const {
  const auto linked = best();
  return linked ? step_of_checkpoint(*linked) : std::nullopt;
}
void RunFolder::set_last(std::int64_t step) {
  set_link("last", step);
}
void RunFolder::set_best(std::int64_t step) {
  set_link("best", step);
}

// Replaces the file checkpoints/LINK atomically, also if the run folder was moved.
void RunFolder::record(const char* link, const std::string& checkpoint_name) const {
  const auto file = fmt::format("{}/{}", checkpoints_name, link);
  const auto temporary = fmt::format("{}/.{}.tmp", checkpoints_name, link);
  const auto text = checkpoint_name + "\n";
  const int fd = ::openat(folder_, temporary.c_str(),
                          O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  bool done =
      fd >= 0 && ::write(fd, text.data(), text.size()) == std::ssize(text) && ::fsync(fd) == 0;
  auto error = errno;
  if (fd >= 0) ::close(fd);
  if (done && ::renameat(folder_, temporary.c_str(), folder_, file.c_str()) != 0) {
    done = false;
    error = errno;
  }
  if (done) return sync_to_disk(path_ / checkpoints_name);
  ::unlinkat(folder_, temporary.c_str(), 0);
  throw EnvironmentError("{}: cannot be written ({})", (path_ / file).string(),
                         std::strerror(error));
}

void RunFolder::set_link(const char* link, std::int64_t step) {
  if (!is_checkpoint(checkpoint(step))) {
    throw CheckpointError("{}: the link `{}` needs a complete checkpoint, but there is none",
                          checkpoint(step).string(), link);
  }
  if (lock_ < 0) throw std::logic_error("the run folder is not locked");
  const auto temporary = fmt::format(".{}.tmp", link);
  ::unlinkat(folder_, temporary.c_str(), 0);
  if (is_real_folder(path_ / link)) move_copy_away(link);
  const auto target = checkpoint(step).lexically_relative(path_);
  record(link, target.filename().string());
  if (::symlinkat(target.c_str(), folder_, temporary.c_str()) != 0) {
    // EPERM: exFAT, for example. The others: network file systems.
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) {
      throw EnvironmentError("{}: the link cannot be set ({})", (path_ / link).string(),
                             std::strerror(errno));
    }
    if (std::exchange(has_links_, false)) {
      log::warning("{}: the file system has no symbolic links; {}/{} names the checkpoint instead",
                   (path_ / link).string(), checkpoints_name, link);
    }
  } else if (::renameat(folder_, temporary.c_str(), folder_, link) != 0) {
    throw EnvironmentError("{}: the link cannot be set ({})", (path_ / link).string(),
                           std::strerror(errno));
  }
  // EINVAL: the file system cannot flush folders.
  if (::fsync(folder_) != 0 && errno != EINVAL) {
    throw EnvironmentError("{}: cannot be written ({})", path_.string(), std::strerror(errno));
  }
}

void RunFolder::prune(std::size_t keep_newest, std::size_t keep_best,
                      const std::vector<std::int64_t>& ranking) {
  const std::vector<std::int64_t> steps = checkpoint_steps();
  const std::size_t newest = std::min(keep_newest, steps.size());
  std::set<std::int64_t> kept(steps.end() - static_cast<std::ptrdiff_t>(newest), steps.end());

  std::vector<std::int64_t> ranked = ranking;
  std::erase_if(ranked, [&](auto step) { return !std::ranges::binary_search(steps, step); });
  ranked.resize(std::min(ranked.size(), keep_best));
  kept.insert(ranked.begin(), ranked.end());
  for (const std::optional<fs::path>& linked : {last(), best()}) {
    if (linked) kept.insert(step_of_checkpoint(*linked).value_or(-1));  // -1: no step
  }
  for (const std::int64_t step : steps) {
    if (kept.contains(step)) continue;
    try {
      remove_checkpoint(checkpoint(step));
    } catch (const EnvironmentError& error) {
      log::warning("{}", error.what());
    }
  }
}

}  // namespace regard
