// Files with a stamp, their size and SHA-256, taken in the same pass that writes or reads them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/sha256.h"

namespace regard {

struct FileStamp {
  std::uint64_t size = 0;
  std::string sha256;

  bool operator==(const FileStamp&) const = default;
};

// A new file, written piece by piece. Failures (disk full, no permission) are EnvironmentErrors
// that name the path; removing what was begun is the caller's.
class StampedFile {
 public:
  explicit StampedFile(std::filesystem::path path);
  ~StampedFile();
  StampedFile(const StampedFile&) = delete;
  StampedFile& operator=(const StampedFile&) = delete;

  void append(std::string_view bytes);
  // Flushes to the disk and closes. Only after this is the file surely there.
  FileStamp close();

 private:
  std::filesystem::path path_;
  int fd_;
  std::uint64_t size_ = 0;
  Sha256 hash_;
};

// The stamp of a file as it stands now; CheckpointError if it cannot be read.
FileStamp stamp_of(const std::filesystem::path& path);

}  // namespace regard
