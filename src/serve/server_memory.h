// The memory that requests may hold: each one, and all together. It is counted from the sizes of
// texts, not measured.
#pragma once

#include <atomic>
#include <cstddef>

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

  // The bytes of one request, returned when it is destroyed. The functions are thread-safe.
  class Lease {
   public:
    explicit Lease(ServerMemory& memory) : memory_(memory) {}
    ~Lease() { memory_.used_ -= bytes_; }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    // Adds to the bytes of the request. Throws HttpError 413 if the request would have too many,
    // and 429 if all requests together would.
    void add(std::size_t bytes) {
      if (bytes_.fetch_add(bytes) + bytes > memory_.limits_.request) {
        bytes_ -= bytes;
        throw HttpError(413, "too_large",
                        fmt::format("the request and its answer need more than the {} MB that the "
                                    "server allows; send fewer or shorter lines, or ask for less",
                                    memory_.limits_.request >> 20));
      }
      if (memory_.used_.fetch_add(bytes) + bytes > memory_.limits_.all) {
        memory_.used_ -= bytes;
        bytes_ -= bytes;
        throw HttpError(429, "busy",
                        "the requests of all clients need the memory that the server allows; try "
                        "again in a second",
                        1);
      }
    }

   private:
    ServerMemory& memory_;
    std::atomic<std::size_t> bytes_ = 0;
  };

 private:
  const MemoryLimits limits_;
  std::atomic<std::size_t> used_ = 0;
};

}  // namespace regard
