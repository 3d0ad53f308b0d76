// The size and SHA-256 of files, computed while a file is written or read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/sha256.h"

namespace regard {

struct FileChecksum {
  std::uint64_t size = 0;
  std::string sha256;

  bool operator==(const FileChecksum&) const = default;
};

// Writes a new file and computes its checksum. Throws EnvironmentError with the path on failure
// (disk full, no permission); the caller removes the incomplete file.
class ChecksummedFile {
 public:
  explicit ChecksummedFile(std::filesystem::path path);
  ~ChecksummedFile();
  ChecksummedFile(const ChecksummedFile&) = delete;
  ChecksummedFile& operator=(const ChecksummedFile&) = delete;

  void append(std::string_view bytes);
  // Flushes the file to the disk and closes it. The file is durable only after this.
  FileChecksum close();

 private:
  std::filesystem::path path_;
  int fd_;
  std::uint64_t size_ = 0;
  Sha256 hash_;
};

// Returns the checksum of an existing file. Throws CheckpointError if it cannot be read.
FileChecksum checksum_of(const std::filesystem::path& path);

}  // namespace regard
