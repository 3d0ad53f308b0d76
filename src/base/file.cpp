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

class Descriptor {
 public:
  // Takes what open() returned; `path` is the path that an error names.
  Descriptor(int fd, const fs::path& path) : fd_(fd) {
    if (fd_ < 0) {
      throw EnvironmentError("{}: cannot be written ({})", path.string(), std::strerror(errno));
    }
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

void sync(int fd, const fs::path& path) {
  if (::fsync(fd) != 0 && errno != EINVAL && errno != EROFS) {
    throw EnvironmentError("{}: cannot be flushed to the disk ({})", path.string(),
                           std::strerror(errno));
  }
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// The i-th name to try for a file beside `path`.
fs::path name_beside(const fs::path& path, int i) {
  return path.string() + fmt::format(".part-{}", ::getpid()) + (i > 0 ? fmt::format("-{}", i) : "");
}

// Opens a file that has no name yet, or one of open_beside() where the file system has none such.
int open_nameless(const fs::path& path, fs::path& beside) {
  const int descriptor = ::open(folder_of(path).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (descriptor < 0) return open_beside(path, beside);
  take_permissions(path, descriptor);
  return descriptor;
}

// Names the file of open_nameless().
void give_name(int descriptor, const fs::path& path, fs::path& beside) {
  const auto self = fmt::format("/proc/self/fd/{}", descriptor);
  for (int i = 0;; ++i) {
    const auto name = name_beside(path, i);
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      beside = name;
      return;
    }
    if (errno == EEXIST) continue;
    throw EnvironmentError("{}: cannot be written ({})", path.string(), std::strerror(errno));
  }
}

}  // namespace

template <typename Problem>
std::string read_file(const fs::path& path, std::string_view what, std::size_t most) {
  std::error_code ignored;  // what hides the file from status() shows when it is opened
  const auto type = fs::status(path, ignored).type();
  if (type == fs::file_type::not_found) {
    throw Problem("{}: no such file (wanted: the {})", path.string(), what);
  }
  if (type == fs::file_type::directory) {
    throw Problem("{}: a folder, but the {} is a file", path.string(), what);
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw Problem("{}: the {} cannot be read ({})", path.string(), what, std::strerror(errno));
  }
  std::string bytes;
  std::vector<char> piece(std::size_t{1} << 16);
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    bytes.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (bytes.size() > most) {
      throw Problem("{}: more than {} bytes, which is no {}", path.string(), most, what);
    }
  }
  if (in.bad()) throw Problem("{}: reading the {} failed", path.string(), what);
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

void take_permissions(const fs::path& path, int descriptor) noexcept {
  struct stat before = {};
  if (::stat(path.c_str(), &before) == 0) ::fchmod(descriptor, before.st_mode & 07777);
}

int open_beside(const fs::path& path, fs::path& beside) {
  int descriptor = -1;
  for (int i = 0; descriptor < 0; ++i) {
    beside = name_beside(path, i);
    descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) return -1;
  }
  take_permissions(path, descriptor);
  return descriptor;
}

void write_file(const fs::path& path, std::string_view bytes) {
  fs::path beside;  // empty while the file has no name
  try {
    Descriptor file(open_nameless(path, beside), path);
    write_all(file.get(), bytes, path);
    sync(file.get(), path);
    if (beside.empty()) give_name(file.get(), path, beside);
  } catch (const EnvironmentError&) {
    if (!beside.empty()) ::unlink(beside.c_str());
    throw;
  }
  std::error_code error;
  fs::rename(beside, path, error);
  if (error) {
    ::unlink(beside.c_str());
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
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path)) {
    throw EnvironmentError("{}: the folder cannot be made ({}); choose one that you can write to",
                           path.string(), error ? error.message() : "a file has this name");
  }
}

void sync_to_disk(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC), path);
  sync(file.get(), path);
}

}  // namespace regard
