// What the fuzz targets share. A target takes any bytes; an answer or a foreseen Error is right,
// and anything else is a finding: a crash, another exception, a promise that does not hold.
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

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// The same folder for all inputs, gone at the end. TMPDIR says where it is made.
inline const ScratchFolder& scratch() {
  static const ScratchFolder folder;
  return folder;
}

// Warnings of a program that reads a million broken files are of no use.
inline void be_quiet() {
  static const bool quiet = [] {
    log::set_level(log::Level::error);
    return true;
  }();
  static_cast<void>(quiet);
}

inline void promise(bool holds, const char* what) {
  if (holds) return;
  fmt::print(stderr, "promise broken: {}\n", what);
  std::abort();
}

// Whether `read` came to its end; false when it threw a foreseen Error.
template <typename Read>
bool answers(Read read) {
  be_quiet();
  try {
    read();
    return true;
  } catch (const Error& error) {
    promise(error.what()[0] != '\0', "an error says what is wrong");
    return false;
  }
}

}  // namespace regard::fuzz
