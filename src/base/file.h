// Reads whole small files and replaces files atomically.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

#include "base/error.h"

namespace regard {

inline constexpr std::size_t unlimited_size = std::numeric_limits<std::size_t>::max();

// Returns the bytes of a file: read_file<InputError>(path, "vocabulary"). Throws `Exception`, a
// class of base/error.h, if the file is missing, a folder, not readable or larger than `max_size`
// bytes. `role` names the file's purpose in the message.
template <typename Exception>
std::string read_file(const std::filesystem::path& path, std::string_view role,
                      std::size_t max_size = unlimited_size);

// Replaces `path` atomically by a temporary file with the permissions of the old one. The temporary
// file has no name until commit() if the file system supports that, so a killed process leaves
// nothing behind. Otherwise its name is PATH.part-PID, or PATH.part-PID-N if that is taken. Without
// commit(), the destructor removes it. Throws EnvironmentError (disk full, no permission) and
// leaves the old file untouched.
class FileReplacement {
 public:
  explicit FileReplacement(const std::filesystem::path& path);
  ~FileReplacement();
  FileReplacement(const FileReplacement&) = delete;
  FileReplacement& operator=(const FileReplacement&) = delete;

  // Returns the descriptor of the temporary file, for writing. This object closes it.
  int descriptor() const { return descriptor_; }
  // Syncs the file, renames it to `path` and syncs the folder. Call it once, after the last write.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty if the file has no name
  int descriptor_;
};

// Replaces a file by these bytes, as FileReplacement does.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// Writes all bytes to an open descriptor. Throws EnvironmentError, which names `path`.
void write_all(int descriptor, std::string_view bytes, const std::filesystem::path& path);

// True for an empty name and for "-", which mean standard input or output.
bool is_standard_stream(std::string_view path) noexcept;

// True if `path` is a regular file or a link to one. False on any error.
bool is_file(const std::filesystem::path& path) noexcept;

// Creates a folder and its parents. Throws EnvironmentError.
void make_folder(const std::filesystem::path& path);

// Flushes a file, or the entries of a folder, to disk. Does nothing for a folder that this
// process may not read. Throws EnvironmentError.
void sync_to_disk(const std::filesystem::path& path);

}  // namespace regard
