#include "checkpoint/file_checksum.h"

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

[[noreturn]] void throw_write_error(const std::filesystem::path& path, int error) {
  throw EnvironmentError("{}: cannot be written ({})", path.string(), std::strerror(error));
}

}  // namespace

ChecksummedFile::ChecksummedFile(std::filesystem::path path)
    : path_(std::move(path)),
      fd_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (fd_ < 0) throw_write_error(path_, errno);
}

ChecksummedFile::~ChecksummedFile() {
  if (fd_ >= 0) ::close(fd_);
}

void ChecksummedFile::append(std::string_view bytes) {
  hash_.update(bytes);
  size_ += bytes.size();
  write_all(fd_, bytes, path_);
}

FileChecksum ChecksummedFile::close() {
  // EINVAL: the file has no disk, for example a pipe.
  if (::fsync(fd_) != 0 && errno != EINVAL) throw_write_error(path_, errno);
  if (::close(std::exchange(fd_, -1)) != 0) throw_write_error(path_, errno);
  return {size_, hash_.hex_digest()};
}

FileChecksum checksum_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw CheckpointError("{}: cannot be read ({})", path.string(), std::strerror(errno));
  FileChecksum checksum;
  Sha256 hash;
  std::vector<char> buffer(std::size_t{1} << 20);
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto count = static_cast<std::size_t>(in.gcount());
    hash.update({buffer.data(), count});
    checksum.size += count;
  }
  if (in.bad()) throw CheckpointError("{}: reading failed", path.string());
  checksum.sha256 = hash.hex_digest();
  return checksum;
}

}  // namespace regard
