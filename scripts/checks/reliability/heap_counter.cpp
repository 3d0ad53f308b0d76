// A library for LD_PRELOAD that replaces malloc and free. Counts the heap bytes that a program
// holds, in the first eight bytes of the file that the variable HEAP_COUNT names.
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

// The allocation functions of glibc, under names that this library does not replace.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);
}

namespace {

using Count = std::atomic<long>;

Count before_the_file{0};  // the count until open_file() has mapped the file
Count* held = &before_the_file;

__attribute__((constructor)) void open_file() {
  const char* path = std::getenv("HEAP_COUNT");
  if (path == nullptr) return;
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* shared = mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (shared == MAP_FAILED) return;
  auto* count = static_cast<Count*>(shared);
  *count = before_the_file.load();
  held = count;
}

void* taken(void* block) {
  if (block != nullptr) *held += static_cast<long>(malloc_usable_size(block));
  return block;
}

void given_back(void* block) {
  if (block != nullptr) *held -= static_cast<long>(malloc_usable_size(block));
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) {
  return taken(__libc_malloc(size));
}

void* calloc(std::size_t count, std::size_t size) {
  return taken(__libc_calloc(count, size));
}

void* realloc(void* block, std::size_t size) {
  given_back(block);
  void* moved = __libc_realloc(block, size);
  const bool failed = moved == nullptr && size > 0;  // the block stays
  taken(failed ? block : moved);
  return moved;
}

void* memalign(std::size_t alignment, std::size_t size) {
  return taken(__libc_memalign(alignment, size));
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  *block = memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}

void free(void* block) {
  given_back(block);
  __libc_free(block);
}

}  // extern "C"
