// The calls of the C library that change a disk, as this test program makes them: recorded, checked
// and made to fail. disk.cpp defines the calls; those below the watched folder are watched.
//
// The model of a crash is strict: a file keeps its content if it was flushed (fsync), and a folder
// keeps an entry if the folder was flushed.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace regard::disk {

// Watches the calls below a folder during its lifetime. There may be one at a time.
class Watch {
 public:
  explicit Watch(const std::filesystem::path& folder);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // The n-th `call` from now on (1: the next) fails with this error number. A failed close()
  // closes.
  void fail(const std::string& call, int n, int error);
  bool has_failed() const;

  // The number of calls of each kind: open, write, fsync, close, flock, rename, link, symlink,
  // mkdir, truncate. Files that are only read do not count.
  const std::map<std::string, int>& counts() const;
  // Returns the losses of a crash now, sorted: "PATH: content" and "PATH: entries".
  std::vector<std::string> unflushed() const;
  // Files and folders that took a name before their content was flushed.
  const std::vector<std::string>& named_too_early() const;
};

}  // namespace regard::disk
