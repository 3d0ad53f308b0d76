#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "base/error.h"

namespace regard {

FileLock::FileLock(std::filesystem::path path, const std::string& busy,
                   std::chrono::milliseconds patience)
    : path_(std::move(path)) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + patience;
  // If the last holder removes the file between open() and flock(), the lock is on no name.
  const auto deadline_of_name = deadline + std::chrono::seconds(1);
  while (true) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (descriptor_ < 0) {
      throw EnvironmentError("{}: cannot be written ({})", path_.string(), std::strerror(errno));
    }
    const int error = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (error == 0 && is_named()) return;
    ::close(descriptor_);
    if (error != 0 && error != EWOULDBLOCK && error != EINTR) {
      throw EnvironmentError("{}: cannot be locked ({})", path_.string(), std::strerror(error));
    }
    if (Clock::now() >= (error == EWOULDBLOCK ? deadline : deadline_of_name)) {
      throw EnvironmentError("{}", busy);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

FileLock::~FileLock() {
  if (!is_kept_) ::unlink(path_.c_str());
  ::close(descriptor_);
}

// True if the path still names the locked file.
bool FileLock::is_named() const {
  struct stat opened = {}, named = {};
  return ::fstat(descriptor_, &opened) == 0 && ::lstat(path_.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace regard
