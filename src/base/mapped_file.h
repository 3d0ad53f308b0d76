// A file that is read through the page cache of the system, without a copy in the memory of the
// process.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace regard {

class MappedFile {
 public:
  // Maps a regular file. Throws InputError if it is missing, not a regular file or not readable,
  // and EnvironmentError if the system cannot map it.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) = delete;

  // The bytes begin at the start of a page. A read of bytes of a file that was cut after it was
  // mapped raises SIGBUS, which ends the process.
  std::string_view bytes() const { return {data_, size_}; }

  // Makes the system read `count` bytes from `begin` in the background.
  void prefetch(std::size_t begin, std::size_t count) const;
  // Makes the system read single pages, instead of many around each page that is needed. For files
  // that do not fit into memory.
  void expect_random_access() const;

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace regard
