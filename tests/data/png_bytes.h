// The bytes of PNG files for tests, of every colour type.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace regard {

inline std::string big_endian(std::uint64_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

inline std::string png_chunk(const std::string& name, const std::string& data) {
  const auto checked = name + data;
  const auto crc =
      crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return big_endian(data.size()) + checked + big_endian(crc);
}

// `rows` has the bytes of all rows without their filter types. colour_type: 0 gray, 2 RGB, 3
// palette, 4 gray and alpha, 6 RGB and alpha. `more` are chunks before the pixels.
inline std::string png_bytes(std::uint32_t width, std::uint32_t height, int depth, int colour_type,
                             const std::string& rows, const std::string& more = "") {
  std::string filtered;
  const auto row_bytes = height == 0 ? 0 : rows.size() / height;
  for (std::uint32_t y = 0; y < height && row_bytes > 0; ++y) {
    filtered += '\0' + rows.substr(y * row_bytes, row_bytes);
  }
  auto size = compressBound(filtered.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(filtered.data()), filtered.size());
  packed.resize(size);
  const auto header = big_endian(width) + big_endian(height) + static_cast<char>(depth) +
                      static_cast<char>(colour_type) + std::string(3, '\0');
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + more + png_chunk("IDAT", packed) +
         png_chunk("IEND", "");
}

// An RGB image whose pixels depend on `seed`.
inline std::string png_of(std::uint32_t width, std::uint32_t height, unsigned seed = 1) {
  std::string rows;
  for (std::uint32_t i = 0; i < 3 * width * height; ++i) {
    seed = seed * 1664525 + 1013904223;
    rows += static_cast<char>(seed >> 24);
  }
  return png_bytes(width, height, 8, 2, rows);
}

}  // namespace regard
