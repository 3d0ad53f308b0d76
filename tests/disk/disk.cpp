#include "tests/disk/disk.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <set>
#include <stdexcept>

namespace regard::disk {
namespace fs = std::filesystem;
namespace {

using Node = std::pair<dev_t, ino_t>;

struct State {
  std::string folder;
  std::map<std::string, int> counts;
  std::string failing_call;
  int failing_number = 0;
  int error = 0;
  bool has_failed = false;
  std::map<Node, std::string> files;    // with content that was not flushed, and their paths
  std::map<Node, std::string> folders;  // with entries that were not flushed
  std::set<int> written;                // descriptors that were opened for writing
  std::vector<std::string> named_too_early;
};
State* state = nullptr;  // null: nothing is watched

std::string path_of(int descriptor) {
  char path[4096] = {};
  const auto link = "/proc/self/fd/" + std::to_string(descriptor);
  return ::readlink(link.c_str(), path, sizeof path - 1) > 0 ? path : "";
}

std::string path_of(int folder, const char* name) {
  if (name[0] == '/') return name;
  return folder == AT_FDCWD ? fs::current_path() / name : fs::path(path_of(folder)) / name;
}

bool is_watched(const std::string& path) {
  return state != nullptr && path.starts_with(state->folder);
}

// Counts a call. Returns true if it must fail, and sets errno.
bool must_fail(const std::string& call) {
  const auto n = ++state->counts[call];
  if (call != state->failing_call || n != state->failing_number) return false;
  state->has_failed = true;
  errno = state->error;
  return true;
}

Node node_of(const struct stat& status) {
  return {status.st_dev, status.st_ino};
}

void entry_changed(const std::string& path) {
  const auto folder = fs::path(path).parent_path().string();
  struct stat status = {};
  if (::stat(folder.c_str(), &status) == 0) state->folders[node_of(status)] = folder;
}

bool is_flushed(const fs::path& path) {
  struct stat status = {};
  const bool is_descriptor = path.string().starts_with("/proc/self/fd/");
  if ((is_descriptor ? ::stat : ::lstat)(path.c_str(), &status) != 0) return true;
  if (state->files.contains(node_of(status)) || state->folders.contains(node_of(status))) {
    return false;
  }
  if (!S_ISDIR(status.st_mode)) return true;
  return std::ranges::all_of(fs::directory_iterator(path),
                             [](const auto& entry) { return is_flushed(entry.path()); });
}

// Called before `from` takes the name `to`.
void will_be_named(const std::string& from, const std::string& to) {
  if (!is_flushed(from)) state->named_too_early.push_back(to);
}

// Called before a folder is made: the lock that records its name must be on the disk.
void check_locks(const std::string& folder) {
  for (const auto& [node, path] : state->files) {
    if (path.ends_with(".regard-lock")) state->named_too_early.push_back(folder);
  }
}

int open_file(int folder, const char* name, int flags, mode_t mode) {
  const auto path = path_of(folder, name);
  const auto real = [&] {
    return static_cast<int>(::syscall(SYS_openat, folder, name, flags, mode));
  };
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  if (!is_watched(path) || !writes) return real();
  if (must_fail("open")) return -1;
  struct stat before = {};
  const bool is_new =
      (flags & O_CREAT) != 0 && ::fstatat(folder, name, &before, AT_SYMLINK_NOFOLLOW) != 0;
  const int descriptor = real();
  if (descriptor < 0) return descriptor;
  state->written.insert(descriptor);
  if (is_new) entry_changed(path);
  return descriptor;
}

// Calls real(), unless the call must fail. Then records that `from` (may be empty) has the name
// `to`.
template <typename Real>
int name_file(const std::string& call, const std::string& from, const std::string& to,
              const Real& real) {
  if (!is_watched(to)) return static_cast<int>(real());
  if (must_fail(call)) return -1;
  if (!from.empty()) will_be_named(from, to);
  if (call == "mkdir") check_locks(to);
  const auto result = static_cast<int>(real());
  if (result != 0) return result;
  entry_changed(to);
  if (call == "rename") entry_changed(from);
  return result;
}

}  // namespace

Watch::Watch(const fs::path& folder) {
  if (state != nullptr) throw std::logic_error("a folder is watched already");
  state = new State;
  state->folder = fs::canonical(folder).string();
}

Watch::~Watch() {
  delete state;
  state = nullptr;
}

void Watch::fail(const std::string& call, int n, int error) {
  state->failing_call = call;
  state->failing_number = state->counts[call] + n;
  state->error = error;
}

bool Watch::has_failed() const {
  return state->has_failed;
}

const std::map<std::string, int>& Watch::counts() const {
  return state->counts;
}

std::vector<std::string> Watch::unflushed() const {
  std::vector<std::string> found;
  const auto add = [&](const auto& nodes, const char* what) {
    for (const auto& [node, path] : nodes) {
      struct stat status = {};
      if (::lstat(path.c_str(), &status) == 0 && node_of(status) == node) {
        found.push_back(path + ": " + what);
      }
    }
  };
  add(state->files, "content");
  add(state->folders, "entries");
  std::sort(found.begin(), found.end());
  return found;
}

const std::vector<std::string>& Watch::named_too_early() const {
  return state->named_too_early;
}

}  // namespace regard::disk

using namespace regard::disk;  // NOLINT(google-build-using-namespace): the names above are used
                               // below

extern "C" {

int open(const char* name, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const auto mode = static_cast<mode_t>(va_arg(arguments, int));
  va_end(arguments);
  return open_file(AT_FDCWD, name, flags, mode);
}

int openat(int folder, const char* name, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const auto mode = static_cast<mode_t>(va_arg(arguments, int));
  va_end(arguments);
  return open_file(folder, name, flags, mode);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  if (state != nullptr && state->written.contains(descriptor)) {
    if (must_fail("write")) return -1;
    struct stat status = {};
    if (::fstat(descriptor, &status) == 0) state->files[node_of(status)] = path_of(descriptor);
  }
  return ::syscall(SYS_write, descriptor, bytes, size);
}

int ftruncate(int descriptor, off_t size) noexcept {
  if (state != nullptr && state->written.contains(descriptor)) {
    if (must_fail("truncate")) return -1;
    struct stat status = {};
    if (::fstat(descriptor, &status) == 0) state->files[node_of(status)] = path_of(descriptor);
  }
  return static_cast<int>(::syscall(SYS_ftruncate, descriptor, size));
}

int fsync(int descriptor) {
  if (is_watched(path_of(descriptor))) {
    if (must_fail("fsync")) return -1;
    struct stat status = {};
    if (::fstat(descriptor, &status) == 0) {
      state->files.erase(node_of(status));
      state->folders.erase(node_of(status));
    }
  }
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

int close(int descriptor) {
  const bool is_counted = state != nullptr && state->written.erase(descriptor) > 0;
  const auto result = static_cast<int>(::syscall(SYS_close, descriptor));
  return is_counted && must_fail("close") ? -1 : result;
}

int flock(int descriptor, int operation) noexcept {
  const bool locks = (operation & LOCK_UN) == 0;
  if (locks && is_watched(path_of(descriptor)) && must_fail("flock")) return -1;
  return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
}

int rename(const char* from, const char* to) noexcept {
  return name_file("rename", path_of(AT_FDCWD, from), path_of(AT_FDCWD, to),
                   [&] { return ::syscall(SYS_rename, from, to); });
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return name_file("rename", path_of(from_folder, from), path_of(to_folder, to),
                   [&] { return ::syscall(SYS_renameat, from_folder, from, to_folder, to); });
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  return name_file("rename", path_of(from_folder, from), path_of(to_folder, to), [&] {
    return ::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
  });
}

int link(const char* from, const char* to) noexcept {
  return name_file("link", path_of(AT_FDCWD, from), path_of(AT_FDCWD, to),
                   [&] { return ::syscall(SYS_link, from, to); });
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  return name_file("link", path_of(from_folder, from), path_of(to_folder, to),
                   [&] { return ::syscall(SYS_linkat, from_folder, from, to_folder, to, flags); });
}

int symlinkat(const char* target, int folder, const char* name) noexcept {
  return name_file("symlink", "", path_of(folder, name),
                   [&] { return ::syscall(SYS_symlinkat, target, folder, name); });
}

int mkdir(const char* name, mode_t mode) noexcept {
  return name_file("mkdir", "", path_of(AT_FDCWD, name),
                   [&] { return ::syscall(SYS_mkdir, name, mode); });
}

int mkdirat(int folder, const char* name, mode_t mode) noexcept {
  return name_file("mkdir", "", path_of(folder, name),
                   [&] { return ::syscall(SYS_mkdirat, folder, name, mode); });
}

}  // extern "C"
