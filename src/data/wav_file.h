// Reads sound.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/mapped_file.h"

namespace regard {

// A WAV file with one channel of 16-bit PCM.
class WavFile {
 public:
  // Throws InputError, with the path, what was found and what was expected, for any other file, and
  // for a file that ends too early.
  explicit WavFile(const std::string& path);

  std::int64_t rate() const { return rate_; }  // samples per second
  std::int64_t size() const { return static_cast<std::int64_t>(samples_.size() / 2); }
  // Returns sample i < size(), from -1 to 1.
  double sample(std::int64_t i) const;

 private:
  MappedFile file_;
  std::int64_t rate_ = 0;
  std::string_view samples_;  // little-endian
};

}  // namespace regard
