#include "base/version.h"

#include <fmt/format.h>

#include "base/cpu.h"

namespace regard {

const char* version() {
  return REGARD_VERSION;
}

const char* release_date() {
  return REGARD_DATE;
}

std::string version_report() {
  return fmt::format("regard {}\nLibTorch {}, built {}\nkernels for {}", REGARD_VERSION,
                     REGARD_LIBTORCH_VERSION, REGARD_LIBTORCH_CUDA, cpu_level_name());
}

}  // namespace regard
