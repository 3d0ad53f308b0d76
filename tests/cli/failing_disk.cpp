// Preloaded library: makes the FAIL_AT-th and all later calls of write() to files below FAIL_BELOW
// fail with the error number FAIL_WITH. With FAIL_LINKS, symlinkat() fails with that number.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using Write = ssize_t (*)(int, const void*, size_t);

bool is_below(int descriptor, const char* folder) {
  char path[4096] = {};
  const auto link = "/proc/self/fd/" + std::to_string(descriptor);
  return readlink(link.c_str(), path, sizeof path - 1) > 0 && std::strstr(path, folder) != nullptr;
}

}  // namespace

extern "C" ssize_t write(int descriptor, const void* bytes, size_t size) {
  static const auto real = reinterpret_cast<Write>(dlsym(RTLD_NEXT, "write"));
  static long writes = 0;
  const char* folder = std::getenv("FAIL_BELOW");
  if (folder != nullptr && is_below(descriptor, folder) &&
      ++writes >= std::atol(std::getenv("FAIL_AT"))) {
    errno = std::atoi(std::getenv("FAIL_WITH"));
    return -1;
  }
  return real(descriptor, bytes, size);
}

extern "C" int symlinkat(const char* target, int folder, const char* name) {
  using Link = int (*)(const char*, int, const char*);
  static const auto real = reinterpret_cast<Link>(dlsym(RTLD_NEXT, "symlinkat"));
  const char* error = std::getenv("FAIL_LINKS");
  if (error == nullptr) return real(target, folder, name);
  errno = std::atoi(error);
  return -1;
}
