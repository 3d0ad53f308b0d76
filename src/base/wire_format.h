// Encodes numbers as bytes: little-endian, and as fields of messages of Protocol Buffers. A field
// is a key, its number and the type of its value in the lowest 3 bits, and the value.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace regard {

// Returns the bytes of a value, the lowest first.
template <std::unsigned_integral T>
std::string little_endian(T value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(value); ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// Returns 7 bits in each byte, the lowest first. All but the last byte have the highest bit set.
inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

inline std::string integer_field(std::uint64_t number, std::uint64_t value) {
  return varint(number << 3) + varint(value);
}
inline std::string double_field(std::uint64_t number, double value) {
  return varint(number << 3 | 1) + little_endian(std::bit_cast<std::uint64_t>(value));
}
// For a string or a message.
inline std::string bytes_field(std::uint64_t number, std::string_view bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}
inline std::string float_field(std::uint64_t number, float value) {
  return varint(number << 3 | 5) + little_endian(std::bit_cast<std::uint32_t>(value));
}

}  // namespace regard
