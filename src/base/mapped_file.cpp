#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
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

// The mapped files. A slot is free if `begin` is null.
struct Slot {
  std::atomic<const char*> begin = nullptr;
  std::size_t size = 0;
  std::array<char, 256> path{};
};
std::array<Slot, 1024> slots;
std::mutex slots_mutex;  // of writers

void enter(const char* begin, std::size_t size, const std::string& path) {
  const std::lock_guard lock(slots_mutex);
  const auto slot = std::ranges::find_if(slots, [](auto& s) { return s.begin == nullptr; });
  if (slot == slots.end()) return;
  slot->size = size;
  slot->path[path.copy(slot->path.data(), slot->path.size() - 1)] = '\0';
  slot->begin = begin;
}

void leave(const char* begin) {
  const std::lock_guard lock(slots_mutex);
  const auto slot = std::ranges::find_if(slots, [&](auto& s) { return s.begin == begin; });
  if (slot != slots.end()) slot->begin = nullptr;
}

}  // namespace

const char* path_of_mapped(const void* address) noexcept {
  for (const auto& slot : slots) {
    const char* begin = slot.begin;
    if (begin == nullptr || address < begin || address >= begin + slot.size) continue;
    return slot.path.data();
  }
  return nullptr;
}

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
  enter(data_, size_, path.string());
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  leave(data_);
  ::munmap(const_cast<char*>(data_), size_);
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

std::size_t physical_memory() {
  return static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace regard
