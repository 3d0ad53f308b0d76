#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace regard {

FileLock::FileLock(std::filesystem::path path, const std::string& busy) : path_(std::move(path)) {
  // If the last holder removes the file between open() and flock(), the lock is on no name.
  do {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      throw EnvironmentError("{}: cannot be created ({})", path_.string(), std::strerror(errno));
    }
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      ::close(descriptor_);
      if (error == EWOULDBLOCK) throw EnvironmentError("{}", busy);
      throw EnvironmentError("{}: cannot be locked ({})", path_.string(), std::strerror(error));
    }
  } while (!is_named());
}

FileLock::~FileLock() {
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

// True if the path still names the locked file.
bool FileLock::is_named() const {
  struct stat opened = {}, named = {};
  return ::fstat(descriptor_, &opened) == 0 && ::stat(path_.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace regard
