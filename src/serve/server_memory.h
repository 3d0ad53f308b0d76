// The memory that requests may hold: each one, and all together. It is counted from the sizes of
// texts, not measured.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "base/error.h"
#include "base/strings.h"
#include "serve/http_message.h"

namespace regard {

struct MemoryLimits {
  std::size_t request = std::size_t{64} << 20;  // bytes of one request
  std::size_t all = std::size_t{512} << 20;     // bytes of all requests
};

// Thread-safe.
class ServerMemory {
 public:
  explicit ServerMemory(MemoryLimits limits) : limits_(limits) {}
  std::size_t used() const { return used_; }
  // Returns the largest used() since the last call.
  std::size_t take_peak() { return peak_.exchange(0); }

  // The bytes of one request, returned when it is destroyed. The functions are thread-safe.
  class Lease {
   public:
    explicit Lease(ServerMemory& memory) : memory_(memory) {}
    ~Lease() { memory_.used_ -= bytes_; }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    // Throws HttpError 413 if the request would have too many bytes with so many more.
    void check(std::size_t bytes) const {
      if (bytes_ + bytes <= memory_.limits_.request) return;
      throw HttpError(413, "too_large",
                      fmt::format("the request and its answer need more than the {} MB that the "
                                  "server allows; send fewer or shorter lines, or ask for less",
                                  memory_.limits_.request >> 20));
    }
    // Adds to the bytes of the request. Throws HttpError 413 if the request would have too many,
    // and 429 if all requests together would. A quarter of the memory is kept for small requests,
    // so that large ones cannot keep them out.
    void add(std::size_t bytes) {
      check(bytes);
      bytes_ += bytes;
      const auto all = bytes_ <= small_request ? memory_.limits_.all : memory_.limits_.all / 4 * 3;
      const auto used = memory_.used_.fetch_add(bytes) + bytes;
      if (used > all) {
        memory_.used_ -= bytes;
        bytes_ -= bytes;
        throw HttpError(429, "busy",
                        "the requests of all clients need the memory that the server allows; try "
                        "again in a second",
                        1);
      }
      auto peak = memory_.peak_.load();
      while (used > peak && !memory_.peak_.compare_exchange_weak(peak, used)) {
      }
    }

   private:
    ServerMemory& memory_;
    std::atomic<std::size_t> bytes_ = 0;
  };

 private:
  static constexpr std::size_t small_request = std::size_t{256} << 10;

  const MemoryLimits limits_;
  std::atomic<std::size_t> used_ = 0;
  std::atomic<std::size_t> peak_ = 0;
};

// Memory that is freed when the system refuses more, as under `ulimit -v`. A request that needed a
// large block then ends with an error, and the small allocations inside of Asio and Beast, where an
// exception would end the program, succeed. One object at a time.
class MemoryReserve {
 public:
  MemoryReserve() {
    fill();
    std::set_new_handler([] {
      void* block = block_.exchange(nullptr);
      if (block == nullptr) throw std::bad_alloc();
      std::free(block);
    });
  }
  ~MemoryReserve() {
    std::set_new_handler(nullptr);
    std::free(block_.exchange(nullptr));
  }
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;

  // Allocates the memory again if it was freed and the system has it.
  void fill() {
    if (block_ == nullptr) block_ = std::malloc(size);
  }

 private:
  static constexpr std::size_t size = std::size_t{16} << 20;
  inline static std::atomic<void*> block_ = nullptr;
};

}  // namespace regard
