#include "checkpoint/stamped_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace regard {
namespace {

[[noreturn]] void cannot_write(const std::filesystem::path& path, int error) {
  throw EnvironmentError("{}: cannot be written ({})", path.string(), std::strerror(error));
}

}  // namespace

StampedFile::StampedFile(std::filesystem::path path)
    : path_(std::move(path)),
      fd_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (fd_ < 0) cannot_write(path_, errno);
}

StampedFile::~StampedFile() {
  if (fd_ >= 0) ::close(fd_);
}

void StampedFile::append(std::string_view bytes) {
  hash_.update(bytes);
  size_ += bytes.size();
  write_all(fd_, bytes, path_);
}

FileStamp StampedFile::close() {
  // EINVAL: something that has no disk to be flushed to, such as a pipe.
  if (::fsync(fd_) != 0 && errno != EINVAL) cannot_write(path_, errno);
  if (::close(std::exchange(fd_, -1)) != 0) cannot_write(path_, errno);
  return {size_, hash_.hex_digest()};
}

FileStamp stamp_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw CheckpointError("{}: cannot be read ({})", path.string(), std::strerror(errno));
  FileStamp stamp;
  Sha256 hash;
  std::vector<char> piece(std::size_t{1} << 20);
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto got = static_cast<std::size_t>(in.gcount());
    hash.update({piece.data(), got});
    stamp.size += got;
  }
  if (in.bad()) throw CheckpointError("{}: reading failed", path.string());
  stamp.sha256 = hash.hex_digest();
  return stamp;
}

}  // namespace regard
