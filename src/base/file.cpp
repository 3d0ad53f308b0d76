#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

namespace regard {
namespace fs = std::filesystem;
namespace {

class WriteDescriptor {
 public:
  // Owns the result of open(). Throws EnvironmentError, which names `path`, if it is negative.
  WriteDescriptor(int fd, const fs::path& path) : fd_(fd) {
    if (fd_ < 0) {
      throw EnvironmentError("{}: cannot be written ({})", path.string(), std::strerror(errno));
    }
  }
  ~WriteDescriptor() { ::close(fd_); }
  WriteDescriptor(const WriteDescriptor&) = delete;
  WriteDescriptor& operator=(const WriteDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Ignores EINVAL (a file that cannot be synced, such as a pipe) and EROFS (a read-only file
// system).
void sync(int fd, const fs::path& path) {
  if (::fsync(fd) != 0 && errno != EINVAL && errno != EROFS) {
    throw EnvironmentError("{}: cannot be flushed to disk ({})", path.string(),
                           std::strerror(errno));
  }
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// Returns the i-th candidate for the name of a temporary file.
fs::path temporary_name(const fs::path& path, int i) {
  return path.string() + fmt::format(".part-{}", ::getpid()) + (i > 0 ? fmt::format("-{}", i) : "");
}

// Opens a file without a name, or calls create_temporary() if the file system does not support
// that.
int open_unnamed(const fs::path& path, fs::path& temporary) {
  const int descriptor = ::open(folder_of(path).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (descriptor < 0) return create_temporary(path, temporary);
  copy_permissions(path, descriptor);
  return descriptor;
}

// Links the file of open_unnamed() to a temporary name.
void link_name(int descriptor, const fs::path& path, fs::path& temporary) {
  const auto self = fmt::format("/proc/self/fd/{}", descriptor);
  for (int i = 0;; ++i) {
    const auto name = temporary_name(path, i);
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary = name;
      return;
    }
    if (errno == EEXIST) continue;
    throw EnvironmentError("{}: cannot be written ({})", path.string(), std::strerror(errno));
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
    if (written <= 0) {
      throw EnvironmentError("{}: cannot be written ({})", path.string(), std::strerror(errno));
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void copy_permissions(const fs::path& path, int descriptor) noexcept {
  struct stat before = {};
  if (::stat(path.c_str(), &before) == 0) ::fchmod(descriptor, before.st_mode & 07777);
}

int create_temporary(const fs::path& path, fs::path& temporary) {
  int descriptor = -1;
  for (int i = 0; descriptor < 0; ++i) {
    temporary = temporary_name(path, i);
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) return -1;
  }
  copy_permissions(path, descriptor);
  return descriptor;
}

void write_file(const fs::path& path, std::string_view bytes) {
  fs::path temporary;  // empty as long as the file has no name
  try {
    WriteDescriptor file(open_unnamed(path, temporary), path);
    write_all(file.get(), bytes, path);
    sync(file.get(), path);
    if (temporary.empty()) link_name(file.get(), path, temporary);
  } catch (const EnvironmentError&) {
    if (!temporary.empty()) ::unlink(temporary.c_str());
    throw;
  }
  std::error_code error;
  fs::rename(temporary, path, error);
  if (error) {
    ::unlink(temporary.c_str());
    throw EnvironmentError("{}: cannot be replaced ({})", path.string(), error.message());
  }
  sync_to_disk(folder_of(path));
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
  const WriteDescriptor file(descriptor, path);
  sync(file.get(), path);
}

}  // namespace regard
