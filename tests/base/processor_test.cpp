#include "base/processor.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace regard {
namespace {

// True if the kernel lists the instruction set among the processor's.
bool has(const std::string& set) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (word == set) return true;
    }
    return false;
  }
  return false;
}

TEST(Processor, ItsGenerationIsWhatTheKernelSaysOfIt) {
  const bool v3 = has("avx2") && has("fma") && has("bmi1") && has("bmi2");
  const bool v4 = v3 && has("avx512f") && has("avx512bw") && has("avx512cd") && has("avx512dq") &&
                  has("avx512vl");
  const auto expected = v4 ? Generation::v4 : v3 ? Generation::v3 : Generation::baseline;
  EXPECT_EQ(processor_generation(), expected);
  EXPECT_EQ(kernels_text().ends_with("v4 (AVX-512)"), v4);
  EXPECT_EQ(kernels_text().ends_with("v3 (AVX2)"), v3 && !v4);
}

}  // namespace
}  // namespace regard
