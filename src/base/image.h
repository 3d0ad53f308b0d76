// An image in memory.
#pragma once

#include <cstdint>
#include <vector>

namespace regard {

struct Image {
  std::int64_t width = 0;  // in pixels
  std::int64_t height = 0;
  // Red, green and blue of each pixel, row by row from the top: [height, width, 3].
  std::vector<std::uint8_t> rgb = {};

  bool operator==(const Image&) const = default;
};

}  // namespace regard
