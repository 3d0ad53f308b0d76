// The manifest of a checkpoint folder, and the checksums in it. folder.h describes the format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/sha256.h"

namespace regard {

// The size and SHA-256 of a file.
struct FileChecksum {
  std::uint64_t size = 0;
  std::string sha256;

  bool operator==(const FileChecksum&) const = default;
};

// Creates a file, or empties an existing one, and computes the checksum of the bytes written.
// Throws EnvironmentError with the path on failure (disk full, no permission); the caller removes
// the incomplete file.
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

inline constexpr const char* manifest_name = "manifest.json";

struct Manifest {
  std::string regard_version;  // the version of regard that wrote it
  std::map<std::string, FileChecksum> files;
  Json info = Json::object();  // see FolderWriter::commit()
};

std::string format_manifest(const Manifest& manifest);
// Returns the text of a manifest with its own hash in the place of the last 64 zeros, if it has
// any.
std::string sealed_manifest(const std::string& text);

// True if `name` names a file directly in a folder: no separators, not "." or "..".
bool is_plain_name(std::string_view name);
// Throws CheckpointError with the message that `path` is a symbolic link, which could lead out of
// an untrusted model folder.
[[noreturn]] void reject_link(const std::filesystem::path& path);

// Reads folder/manifest.json. Throws CheckpointError if it is missing, damaged, a link or in a
// newer format. All file names in the result are plain (is_plain_name()).
Manifest read_manifest(const std::filesystem::path& folder);

}  // namespace regard
