// Files under a name of their own that nobody wants when the process is ended by a signal: SIGINT,
// SIGTERM, SIGHUP (unless it is ignored), SIGPIPE; or by quick_exit() (base/failure.h).
#pragma once

#include <string>

namespace regard {

// While it lives, a signal that ends the process removes the file first. There may be 16 at once;
// what is beyond is not removed.
class UnfinishedFile {
 public:
  UnfinishedFile() = default;
  explicit UnfinishedFile(const std::string& path);
  ~UnfinishedFile();
  UnfinishedFile(UnfinishedFile&& other) noexcept;
  UnfinishedFile& operator=(UnfinishedFile&& other) noexcept;

 private:
  int slot_ = -1;
};

}  // namespace regard
