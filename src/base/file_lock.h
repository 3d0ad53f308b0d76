// Keeps other processes from writing the same output.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace regard {

// Locks a file of its own for its lifetime, or that of the process: the file is created, locked by
// flock(2) and removed at the end. A killed process leaves the file without a lock. A symbolic link
// is not followed.
class FileLock {
 public:
  // Waits up to `patience` for another process. Throws EnvironmentError: with the message `busy` if
  // it still holds the lock, with the system's reason if the file cannot be created or locked.
  FileLock(std::filesystem::path path, const std::string& busy,
           std::chrono::milliseconds patience = {});
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  // Returns the descriptor of the file, open for reading and writing.
  int descriptor() const { return descriptor_; }
  // Leaves the file at the end, if `is_kept`, without a lock.
  void keep_file(bool is_kept) { is_kept_ = is_kept; }

 private:
  bool is_named() const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  bool is_kept_ = false;
};

}  // namespace regard
