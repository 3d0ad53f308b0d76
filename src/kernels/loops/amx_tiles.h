// Products of low-precision factors with AMX: the processor multiplies tiles of 16 rows of 64
// bytes. Included only by loops/product_bf16.cpp and loops/product_int8.cpp, for processors with
// has_amx_products() (base/cpu.h). Must not call any function with external linkage
// (product_loops.h).
//
// The packed W is that of product_low_precision_loops.h: 16 groups of 16 columns of a panel are a
// tile. A tile of x is 16 rows of 16 groups, side by side in memory. Each sum is over k in order,
// and no row depends on another.
#pragma once

#include <cstdint>

#include "kernels/loops/amx_instructions.h"
#include "kernels/loops/product_low_precision_loops.h"

namespace regard::kernels {
namespace {

constexpr std::int64_t tile_size = 256;  // elements of 32 bits in a tile

// The shapes for up to 16 rows of x: tiles 0 to 3 are sums, 4 and 5 are of x, and the others of W.
struct TileShapesByRows {
  TileShapes shapes[lanes + 1];
  constexpr TileShapesByRows() {
    for (int rows = 1; rows <= lanes; ++rows) {
      for (int tile = 0; tile < 8; ++tile) {
        shapes[rows].row_bytes[tile] = 64;
        shapes[rows].rows[tile] = static_cast<std::uint8_t>(tile < 6 ? rows : lanes);
      }
    }
  }
};
constexpr TileShapesByRows tile_shapes;

// While an object lives, this thread has tiles for an x of `rows` rows, up to 16 at once.
class Tiles {
 public:
  explicit Tiles(std::int64_t rows) {
    const auto& shapes = tile_shapes.shapes[rows < lanes ? rows : lanes];
    set_tile_shapes(shapes);
  }
  ~Tiles() { release_tiles(); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

// Tile `sum` += x w.
struct Bf16Tiles {
  using Sum = __m512;
  template <int sum, int x, int w>
  [[gnu::always_inline]] static void dot() {
    dot_bf16_tiles<sum, x, w>();
  }
};
struct Int8Tiles {
  using Sum = __m512i;
  template <int sum, int x, int w>
  [[gnu::always_inline]] static void dot() {
    dot_byte_tiles<sum, x, w>();
  }
};

// Sums of up to 2 tiles of rows with 2 tiles of columns, or of 1 with 4, in the order of the tiles.
using TileSums = std::uint32_t[4][tile_size];

inline void clear_sums() {
  clear<0>();
  clear<1>();
  clear<2>();
  clear<3>();
}

inline void store_sums(TileSums& sums) {
  store_tile<0>(sums[0]);
  store_tile<1>(sums[1]);
  store_tile<2>(sums[2]);
  store_tile<3>(sums[3]);
}

constexpr std::int64_t panel_row = panel_columns * 4;  // bytes

// Multiplies two tiles of rows, one after the other in memory, with half a panel. There are
// `blocks` tiles along k, x_step elements apart in x.
template <typename Number>
inline void multiply_two_by_two(std::int64_t blocks, const std::uint32_t* x, std::int64_t x_step,
                                const std::uint32_t* panel, TileSums& sums) {
  clear_sums();
  for (std::int64_t b = 0; b < blocks; ++b, x += x_step, panel += lanes * panel_columns) {
    load_tile<4>(x, 64);
    load_tile<6>(panel, panel_row);
    Number::template dot<0, 4, 6>();
    load_tile<7>(panel + lanes, panel_row);
    Number::template dot<1, 4, 7>();
    load_tile<5>(x + tile_size, 64);
    Number::template dot<2, 5, 6>();
    Number::template dot<3, 5, 7>();
  }
  store_sums(sums);
}

// Multiplies one tile of rows with a panel.
template <typename Number>
inline void multiply_one_by_four(std::int64_t blocks, const std::uint32_t* x, std::int64_t x_step,
                                 const std::uint32_t* panel, TileSums& sums) {
  clear_sums();
  for (std::int64_t b = 0; b < blocks; ++b, x += x_step, panel += lanes * panel_columns) {
    load_tile<4>(x, 64);
    load_tile<6>(panel, panel_row);
    Number::template dot<0, 4, 6>();
    load_tile<7>(panel + lanes, panel_row);
    Number::template dot<1, 4, 7>();
    load_tile<6>(panel + 2 * lanes, panel_row);
    Number::template dot<2, 4, 6>();
    load_tile<7>(panel + 3 * lanes, panel_row);
    Number::template dot<3, 4, 7>();
  }
  store_sums(sums);
}

// Sets the rows of the last tile of x that follow its `rows` rows to 0, in each of `blocks` tiles
// along k, which are `capacity` rows apart.
inline void clear_last_rows(std::int64_t rows, std::int64_t blocks, std::uint32_t* x,
                            std::int64_t capacity) {
  for (std::int64_t b = 0; b < blocks; ++b) {
    for (std::int64_t r = rows; r < round_up(rows, lanes); ++r) {
      _mm512_store_si512(x + (b * capacity + r) * lanes, _mm512_setzero_si512());
    }
  }
}

// Multiplies `rows` rows of x with a panel of `columns` columns. Tiles of rows follow one another;
// rows of the last tile that x does not have must be readable. Tiles along k are x_step elements
// apart. Calls finish(r, v, sum) for the 16 sums of row r from column 16 v.
template <typename Number, typename Finish>
[[gnu::always_inline]] inline void multiply_tiles(std::int64_t rows, std::int64_t blocks,
                                                  const std::uint32_t* x, std::int64_t x_step,
                                                  const std::uint32_t* panel, std::int64_t columns,
                                                  const Finish& finish) {
  alignas(64) TileSums sums;
  const auto finish_tile = [&](int tile, std::int64_t first, std::int64_t v) {
    if (v * lanes >= columns) return;
    const auto end = rows - first < lanes ? rows - first : lanes;
    for (std::int64_t r = 0; r < end; ++r) {
      typename Number::Sum sum;
      __builtin_memcpy(&sum, sums[tile] + r * lanes, sizeof sum);
      finish(first + r, v, sum);
    }
  };
  const auto tiles = (rows + lanes - 1) / lanes;
  const auto paired = tiles / 2 * 2;
  for (std::int64_t v = 0; v < vectors && v * lanes < columns;
       v += 2) {  // half a panel stays in L1
    for (std::int64_t t = 0; t < paired; t += 2) {
      multiply_two_by_two<Number>(blocks, x + t * tile_size, x_step, panel + v * lanes, sums);
      for (int i = 0; i < 4; ++i) finish_tile(i, (t + i / 2) * lanes, v + i % 2);
    }
  }
  if (paired == tiles) return;
  multiply_one_by_four<Number>(blocks, x + paired * tile_size, x_step, panel, sums);
  for (int i = 0; i < 4; ++i) finish_tile(i, paired * lanes, i);
}

}  // namespace
}  // namespace regard::kernels
