// Preloaded library: makes starting the FAIL_AT-th and all later threads fail, as under a limit on
// processes or memory.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*begin)(void*), void* argument) {
  static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  static std::atomic<long> threads = 0;
  const char* fail_at = std::getenv("FAIL_AT");
  if (fail_at != nullptr && ++threads >= std::atol(fail_at)) return EAGAIN;
  return real(thread, attributes, begin, argument);
}
