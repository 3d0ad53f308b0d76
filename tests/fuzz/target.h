// Helpers of the fuzz targets. A target accepts any bytes. It must succeed or throw an Error; a
// crash, another exception or a failed check is a finding.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/log.h"
#include "tests/checkpoint/scratch_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace regard::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Returns the temporary folder for all inputs, created in TMPDIR and removed at the end.
inline const ScratchFolder& scratch() {
  static const ScratchFolder folder;
  return folder;
}

// Disables warnings, which are useless when a million broken files are read.
inline void disable_warnings() {
  static const bool quiet = [] {
    log::set_level(log::Level::error);
    return true;
  }();
  static_cast<void>(quiet);
}

inline void check(bool holds, const char* what) {
  if (holds) return;
  fmt::print(stderr, "check failed: {}\n", what);
  std::abort();
}

// Calls `read`. Returns false if it throws an Error.
template <typename Read>
bool succeeds(Read read) {
  disable_warnings();
  try {
    read();
    return true;
  } catch (const Error& error) {
    check(error.what()[0] != '\0', "an error has a message");
    return false;
  }
}

}  // namespace regard::fuzz
