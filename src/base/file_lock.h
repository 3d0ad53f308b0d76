// Keeps other processes from writing the same output.
#pragma once

#include <filesystem>
#include <string>

namespace regard {

// Locks a file of its own for its lifetime, or that of the process: the file is created, locked by
// flock(2) and removed at the end. A killed process leaves the file without a lock.
class FileLock {
 public:
  // Does not wait. Throws EnvironmentError: with the message `busy` if another process holds the
  // lock, with the system's reason if the file cannot be created or locked.
  FileLock(std::filesystem::path path, const std::string& busy);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  bool is_named() const;

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace regard
