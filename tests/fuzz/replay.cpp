// Runs a fuzz target on every file of a folder, as a test. No input may use more memory than its
// size plus a constant.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "tests/fuzz/target.h"

namespace {

constexpr std::int64_t max_megabytes = 256;

std::int64_t peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} FOLDER\n", argv[0]);
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  int failed = files.empty() ? 1 : 0;
  for (const auto& file : files) {
    fmt::print("{}\n", file.filename().string());
    std::fflush(stdout);
    const auto bytes = regard::bytes_of(file);
    const auto before = peak_megabytes();
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    const auto taken = peak_megabytes() - before;
    if (taken <= max_megabytes) continue;
    fmt::print("  {} bytes took {} MB, expected at most {}\n", bytes.size(), taken, max_megabytes);
    failed = 1;
  }
  fmt::print("{} files\n", files.size());
  return failed;
}
