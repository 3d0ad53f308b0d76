#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"

namespace regard {
namespace {

struct ReadDescriptor {
  explicit ReadDescriptor(const std::filesystem::path& path)
      : value(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~ReadDescriptor() {
    if (value >= 0) ::close(value);
  }
  ReadDescriptor(const ReadDescriptor&) = delete;
  ReadDescriptor& operator=(const ReadDescriptor&) = delete;

  int value;
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const ReadDescriptor file(path);
  struct stat status {};
  if (file.value < 0 || ::fstat(file.value, &status) != 0) {
    throw InputError("{}: cannot be read ({})", path.string(), std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) throw InputError("{}: not a regular file", path.string());
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;
  void* data = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.value, 0);
  if (data == MAP_FAILED) {
    throw EnvironmentError("{}: cannot be mapped ({})", path.string(), std::strerror(errno));
  }
  data_ = static_cast<const char*>(data);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

void MappedFile::prefetch(std::size_t begin, std::size_t count) const {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto from = std::min(begin, size_) / page * page;
  const auto end = std::min(begin + count, size_);
  if (from < end) ::madvise(const_cast<char*>(data_) + from, end - from, MADV_WILLNEED);
}

void MappedFile::expect_random_access() const {
  if (size_ > 0) ::madvise(const_cast<char*>(data_), size_, MADV_RANDOM);
}

}  // namespace regard
