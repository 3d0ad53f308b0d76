// The bytes of a WAV file for tests: 16-bit PCM, one channel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace regard {

inline std::string wav_bytes(const std::vector<std::int16_t>& samples, std::int64_t rate) {
  std::string bytes;
  const auto add = [&](std::uint64_t number, int count) {
    for (int i = 0; i < count; ++i) bytes += static_cast<char>(number >> 8 * i & 0xff);
  };
  const auto size = 2 * samples.size();
  bytes += "RIFF";
  add(36 + size, 4);
  bytes += "WAVEfmt ";
  add(16, 4);
  add(1, 2);  // PCM
  add(1, 2);  // channel
  add(static_cast<std::uint64_t>(rate), 4);
  add(static_cast<std::uint64_t>(2 * rate), 4);
  add(2, 2);
  add(16, 2);
  bytes += "data";
  add(size, 4);
  for (const auto sample : samples) add(static_cast<std::uint16_t>(sample), 2);
  return bytes;
}

}  // namespace regard
