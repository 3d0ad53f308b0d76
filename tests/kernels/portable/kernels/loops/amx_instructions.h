// The instructions of AMX that amx_tiles.h uses, one element after the other. Takes the place of
// src/kernels/loops/amx_instructions.h for the sources of portable_*.cpp. Rows that a shape does
// not have are 0, and are neither read nor stored.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "kernels/loops/amx_tile_shapes.h"

namespace regard::kernels {
namespace {

struct TileRegisters {
  TileShapes shapes;
  std::uint32_t tiles[8][16][16];
};
thread_local TileRegisters registers;

inline void set_tile_shapes(const TileShapes& shapes) {
  registers = {shapes, {}};
}
inline void release_tiles() {
  registers = {};
}

template <int tile>
void clear() {
  std::memset(registers.tiles[tile], 0, sizeof registers.tiles[tile]);
}

template <int tile>
void load_tile(const std::uint32_t* from, std::int64_t row) {
  clear<tile>();
  for (int r = 0; r < registers.shapes.rows[tile]; ++r) {
    std::memcpy(registers.tiles[tile][r], reinterpret_cast<const char*>(from) + r * row,
                registers.shapes.row_bytes[tile]);
  }
}

template <int tile>
void store_tile(void* to) {
  for (int r = 0; r < registers.shapes.rows[tile]; ++r) {
    std::memcpy(static_cast<char*>(to) + r * 64, registers.tiles[tile][r],
                registers.shapes.row_bytes[tile]);
  }
}

// sum_rc = dot(sum_rc, x_rg, w_gc) for all groups g.
template <int sum, int x, int w, typename Number, typename Dot>
void add_products(const Dot& dot) {
  for (int r = 0; r < registers.shapes.rows[sum]; ++r) {
    for (int c = 0; c < 16; ++c) {
      Number total;
      std::memcpy(&total, &registers.tiles[sum][r][c], sizeof total);
      for (int g = 0; g < registers.shapes.rows[w]; ++g) {
        total = dot(total, registers.tiles[x][r][g], registers.tiles[w][g][c]);
      }
      std::memcpy(&registers.tiles[sum][r][c], &total, sizeof total);
    }
  }
}

template <int sum, int x, int w>
void dot_bf16_tiles() {
  add_products<sum, x, w, float>(portable::dot_bf16);
}
template <int sum, int x, int w>
void dot_byte_tiles() {
  add_products<sum, x, w, std::int32_t>(portable::dot_bytes);
}

}  // namespace
}  // namespace regard::kernels
