// What this process has used.
#pragma once

#include <cstdint>

namespace regard {

// The most resident memory it ever had, in bytes; 0 where the system does not say.
std::uint64_t peak_memory();

}  // namespace regard
