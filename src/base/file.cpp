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
  // `shown` is the path that an error names.
  Descriptor(const fs::path& path, int flags, const fs::path& shown)
      : fd_(::open(path.c_str(), flags, 0644)) {
    if (fd_ < 0) {
      throw EnvironmentError("{}: cannot be written ({})", shown.string(), std::strerror(errno));
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

void write_file(const fs::path& path, std::string_view bytes) {
  fs::path aside = path;
  aside += ".tmp";
  try {
    Descriptor file(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, path);
    take_permissions(path, file.get());
    write_all(file.get(), bytes, path);
    sync(file.get(), path);
  } catch (const EnvironmentError&) {
    ::unlink(aside.c_str());
    throw;
  }
  std::error_code error;
  fs::rename(aside, path, error);
  if (error) {
    ::unlink(aside.c_str());
    throw EnvironmentError("{}: cannot be replaced ({})", path.string(), error.message());
  }
  sync_to_disk(path.has_parent_path() ? path.parent_path() : fs::path("."));
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
  const Descriptor file(path, O_RDONLY | O_CLOEXEC, path);
  sync(file.get(), path);
}

}  // namespace regard
