// The instructions of AMX for amx_tiles.h, on tiles 0 to 7. Must not call any function with
// external linkage (product_loops.h).
#pragma once

#include <cstdint>

#include "kernels/loops/amx_tile_shapes.h"

namespace regard::kernels {
namespace {

inline void set_tile_shapes(const TileShapes& shapes) {
  asm volatile("ldtilecfg %0" ::"m"(shapes) : "memory");
}
inline void release_tiles() {
  asm volatile("tilerelease" ::: "memory");
}

template <int tile>
[[gnu::always_inline]] inline void clear() {
  asm volatile("tilezero %%tmm%c0" ::"i"(tile));
}

// `row` is the distance of the rows in bytes.
template <int tile>
[[gnu::always_inline]] inline void load_tile(const std::uint32_t* from, std::int64_t row) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(row), "i"(tile) : "memory");
}

template <int tile>
[[gnu::always_inline]] inline void store_tile(void* to) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(std::int64_t(64)), "i"(tile)
               : "memory");
}

// Tile `sum` += x w: of bfloat16 numbers, and of unsigned times signed bytes.
template <int sum, int x, int w>
[[gnu::always_inline]] inline void dot_bf16_tiles() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sum), "i"(x), "i"(w));
}
template <int sum, int x, int w>
[[gnu::always_inline]] inline void dot_byte_tiles() {
  asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sum), "i"(x), "i"(w));
}

}  // namespace
}  // namespace regard::kernels
