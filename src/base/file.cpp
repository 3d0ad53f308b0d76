#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

namespace regard {
namespace fs = std::filesystem;
namespace {

// Throws EnvironmentError with the reason in errno: throw_file_error(path, "written").
[[noreturn]] void throw_file_error(const fs::path& path, std::string_view action) {
  throw EnvironmentError("{}: cannot be {} ({})", path.string(), action, std::strerror(errno));
}

// Returns false with errno set if a file cannot be flushed. Ignores EINVAL (a file that cannot be
// synced, such as a pipe) and EROFS (a read-only file system).
bool flush_to_disk(int descriptor) {
  return ::fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS;
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// Returns the i-th candidate for the name of a temporary file.
fs::path temporary_name(const fs::path& path, int i) {
  return path.string() + fmt::format(".part-{}", ::getpid()) + (i > 0 ? fmt::format("-{}", i) : "");
}

// Copies the permissions of the file at `path`, if it exists, to an open file.
void copy_permissions(const fs::path& path, int descriptor) noexcept {
  struct stat before = {};
  if (::stat(path.c_str(), &before) == 0) ::fchmod(descriptor, before.st_mode & 07777);
}

// Opens a file without a name, or with the name `temporary` if the file system does not support
// that. Returns the descriptor, or -1 with errno set.
int open_temporary(const fs::path& path, fs::path& temporary) {
  // Fails for a name that is too long; otherwise only commit() would find the error.
  if (::access(temporary_name(path, 0).c_str(), F_OK) != 0 && errno == ENAMETOOLONG) return -1;
  const bool can_link = ::access("/proc/self/fd", X_OK) == 0;  // for link_name()
  int descriptor =
      can_link ? ::open(folder_of(path).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666) : -1;
  for (int i = 0; descriptor < 0; ++i) {
    temporary = temporary_name(path, i);
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) return -1;
  }
  copy_permissions(path, descriptor);
  return descriptor;
}

// Links a file without a name to a temporary name.
void link_name(int descriptor, const fs::path& path, fs::path& temporary) {
  const auto self = fmt::format("/proc/self/fd/{}", descriptor);
  for (int i = 0;; ++i) {
    const auto name = temporary_name(path, i);
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary = name;
      return;
    }
    if (errno != EEXIST) throw_file_error(path, "written");
  }
}

}  // namespace

template <typename Exception>
std::string read_file(const fs::path& path, std::string_view role, std::size_t max_size) {
  std::error_code ignored;  // opening the file reports other errors
  const auto type = fs::status(path, ignored).type();
  if (type == fs::file_type::not_found) {
    throw Exception("{}: no such file; expected the {}", path.string(), role);
  }
  if (type == fs::file_type::directory) {
    throw Exception("{}: found a folder, expected a file (the {})", path.string(), role);
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw Exception("{}: the {} cannot be read ({})", path.string(), role, std::strerror(errno));
  }
  std::string bytes;
  std::vector<char> piece(std::size_t{1} << 16);
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    bytes.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (bytes.size() > max_size) {
      throw Exception("{}: larger than {} bytes, the limit for the {}", path.string(), max_size,
                      role);
    }
  }
  if (in.bad()) throw Exception("{}: reading the {} failed", path.string(), role);
  return bytes;
}

template std::string read_file<ConfigError>(const fs::path&, std::string_view, std::size_t);
template std::string read_file<InputError>(const fs::path&, std::string_view, std::size_t);
template std::string read_file<CheckpointError>(const fs::path&, std::string_view, std::size_t);
template std::string read_file<EnvironmentError>(const fs::path&, std::string_view, std::size_t);

void write_all(int descriptor, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw_file_error(path, "written");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

FileReplacement::FileReplacement(const fs::path& path)
    : path_(path), descriptor_(open_temporary(path_, temporary_)) {
  if (descriptor_ < 0) throw_file_error(path_, "written");
}

FileReplacement::~FileReplacement() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void FileReplacement::commit() {
  if (!flush_to_disk(descriptor_)) throw_file_error(path_, "flushed to disk");
  if (temporary_.empty()) link_name(descriptor_, path_, temporary_);
  ::close(std::exchange(descriptor_, -1));
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) throw_file_error(path_, "replaced");
  temporary_.clear();
  sync_to_disk(folder_of(path_));
}

void write_file(const fs::path& path, std::string_view bytes) {
  FileReplacement file(path);
  write_all(file.descriptor(), bytes, path);
  file.commit();
}

bool is_standard_stream(std::string_view path) noexcept {
  return path.empty() || path == "-";
}

bool is_file(const fs::path& path) noexcept {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

void make_folder(const fs::path& path) {
  std::error_code error;
  std::vector<fs::path> parents;  // of the folders to be made
  for (auto folder = fs::absolute(path, error); !error && !fs::exists(folder, error);
       folder = folder_of(folder)) {
    parents.push_back(folder_of(folder));
  }
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path)) {
    throw EnvironmentError("{}: cannot create the folder ({}); choose another place", path.string(),
                           error ? error.message() : "a file has this name");
  }
  for (const auto& parent : parents) sync_to_disk(parent);
}

void sync_to_disk(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::error_code ignored;
  if (descriptor < 0 && errno == EACCES && fs::is_directory(path, ignored)) return;
  if (descriptor < 0) throw_file_error(path, "written");
  const bool is_flushed = flush_to_disk(descriptor);
  const int error = errno;
  ::close(descriptor);
  errno = error;
  if (!is_flushed) throw_file_error(path, "flushed to disk");
}

}  // namespace regard
