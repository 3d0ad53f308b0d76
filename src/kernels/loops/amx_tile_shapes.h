// The operand of the AMX instruction that sets the shapes of the tiles 0 to 7.
#pragma once

#include <cstdint>

namespace regard::kernels {
namespace {

struct alignas(64) TileShapes {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

}  // namespace
}  // namespace regard::kernels
