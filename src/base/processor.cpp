#include "base/processor.h"

#include <sys/utsname.h>

namespace regard {

Generation processor_generation() {
#if defined(__x86_64__)
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? Generation::v4 : v3 ? Generation::v3 : Generation::baseline;
#else
  return Generation::baseline;
#endif
}

std::string kernels_text() {
  switch (processor_generation()) {
    case Generation::v4:
      return "x86-64-v4 (AVX-512)";
    case Generation::v3:
      return "x86-64-v3 (AVX2)";
    case Generation::baseline:
      break;
  }
  utsname machine = {};
  if (uname(&machine) != 0) return "unknown";
  return std::string(machine.machine) == "x86_64" ? "x86-64 (SSE2)" : machine.machine;
}

}  // namespace regard
