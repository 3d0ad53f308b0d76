// The loops of loops/products.h, for vectors of `bytes` bytes and tiles of rows_at_once rows: with
// two vectors of sums for each row, a tile fits the vector registers. Included only by one source
// for each generation of processors. Must not call any function with external linkage, not even
// std::min: the linker would share its code between generations. Those of vector_math.h are always
// inlined, so they leave no code.
#pragma once

#include "kernels/loops/products.h"
#include "kernels/loops/vector_math.h"

namespace regard::kernels {
namespace {

template <typename T, int bytes, int rows_at_once>
struct Loops {
  static constexpr int width = bytes / static_cast<int>(sizeof(T));
  static constexpr int panel = 2 * width;  // columns
  // Rows of W multiplied at once: this part of a panel fits the first-level cache.
  static constexpr std::int64_t run = 256;
  // Rows of x packed at once: `run` of their columns stay in the second-level cache for all panels.
  // A multiple of rows_at_once.
  static constexpr std::int64_t block = 96;

  static constexpr std::int64_t line = 64 / sizeof(T);  // numbers in a line of the caches
  // Prefetch distance in rows of W.
  static constexpr std::int64_t ahead = 24;

  typedef T Vector __attribute__((vector_size(bytes)));
  typedef T Unaligned __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));

  // Packs up to `few` rows of W from row k, one panel wide from column j. Missing columns are 0.
  static constexpr std::int64_t few = 16;
  static void pack_piece(std::int64_t K, std::int64_t N, MatrixView<const T> W, std::int64_t k,
                         std::int64_t j, T* packed) {
    const std::int64_t rows = K - k < few ? K - k : few;
    const std::int64_t columns = N - j < panel ? N - j : panel;
    const T* from = W.data + k * W.row + j * W.column;
    T* to = packed + j * K + k * panel;
    if (W.column == 1 && columns == panel) {
      for (std::int64_t r = 0; r < rows; ++r) {
        const auto* row = reinterpret_cast<const Unaligned*>(from + r * W.row);
        auto* packed_row = reinterpret_cast<Vector*>(to + r * panel);
        packed_row[0] = row[0];
        packed_row[1] = row[1];
      }
      return;
    }
    if (W.row == 1 && columns == panel && rows == few) {
      for (std::int64_t c = 0; c < panel; c += width) {
        for (std::int64_t r = 0; r < few; r += width) {
          Vector lines[width];
#pragma GCC unroll 16
          for (int i = 0; i < width; ++i) {
            lines[i] = *reinterpret_cast<const Unaligned*>(from + (c + i) * W.column + r);
          }
          transpose(lines);
#pragma GCC unroll 16
          for (int i = 0; i < width; ++i) {
            *reinterpret_cast<Vector*>(to + (r + i) * panel + c) = lines[i];
          }
        }
      }
      return;
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < panel; ++c) {
        to[r * panel + c] = c < columns ? from[c * W.column + r * W.row] : T(0);
      }
    }
  }

  // Packs W. The order of the loops follows the memory of W.
  static void pack(std::int64_t K, std::int64_t N, MatrixView<const T> W, void* to) {
    T* packed = static_cast<T*>(to);
    if (W.column == 1) {
      for (std::int64_t k = 0; k < K; k += few) {
        for (std::int64_t j = 0; j < N; j += panel) pack_piece(K, N, W, k, j, packed);
      }
    } else {
      for (std::int64_t j = 0; j < N; j += panel) {
        for (std::int64_t k = 0; k < K; k += few) pack_piece(K, N, W, k, j, packed);
      }
    }
  }

  // Packs rows of x, `length` wide, tile by tile of rows_at_once rows, in the order in which tile()
  // reads them: element (r, k) of a tile is to[k · rows_at_once + r]. Memory of later tiles is
  // prefetched: the processor does not foresee where their rows begin.
  static void pack_x(std::int64_t rows, std::int64_t length, MatrixView<const T> x, T* to) {
    for (std::int64_t i = 0; i < rows; i += rows_at_once, to += length * rows_at_once) {
      const std::int64_t here = rows - i < rows_at_once ? rows - i : rows_at_once;
      if (x.row == 1) {
        const T* from = x.data + i;
        for (std::int64_t k = 0; k < length; ++k, from += x.column) {
          __builtin_prefetch(from + 3 * rows_at_once);
          for (std::int64_t r = 0; r < here; ++r) to[k * rows_at_once + r] = from[r];
        }
        continue;
      }
      for (std::int64_t r = 0; r < here; ++r) {
        const T* from = x.data + (i + r) * x.row;
        for (std::int64_t k = 0; k < length; k += line) {
          __builtin_prefetch(from + rows_at_once * x.row + k * x.column);
        }
        for (std::int64_t k = 0; k < length; ++k) to[k * rows_at_once + r] = from[k * x.column];
      }
    }
  }

  // Multiplies R rows of packed x with one panel, k from 0 to `length`, and stores the sums, plus
  // the addend if it is not null, in the first `columns` columns of y.
  template <int R>
  static void tile(std::int64_t length, const T* x, const T* packed, const T* addend,
                   std::int64_t addend_row, T* y, std::int64_t y_row, std::int64_t columns) {
    Vector sums[R][2];
    for (int r = 0; r < R; ++r) {
      sums[r][0] = sums[r][1] = Vector{};
      __builtin_prefetch(y + r * y_row, 1);
      __builtin_prefetch(y + r * y_row + width, 1);
    }
    for (std::int64_t k = 0; k < length; ++k, packed += panel, x += rows_at_once) {
      const Vector w0 = *reinterpret_cast<const Vector*>(packed);
      const Vector w1 = *reinterpret_cast<const Vector*>(packed + width);
      __builtin_prefetch(packed + ahead * panel);
      __builtin_prefetch(packed + ahead * panel + width);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        sums[r][0] += x[r] * w0;
        sums[r][1] += x[r] * w1;
      }
    }
    for (int r = 0; r < R; ++r, y += y_row) {
      const T* added = addend ? addend + r * addend_row : nullptr;
      if (columns == panel) {
        const auto* from = reinterpret_cast<const Unaligned*>(added);
        auto* to = reinterpret_cast<Unaligned*>(y);
        to[0] = added ? from[0] + sums[r][0] : sums[r][0];
        to[1] = added ? from[1] + sums[r][1] : sums[r][1];
      } else {
        for (std::int64_t c = 0; c < columns; ++c) {
          const T sum = sums[r][c / width][c % width];
          y[c] = added ? added[c] + sum : sum;
        }
      }
    }
  }

  // tile() for a number of rows from 1 to R known at run time.
  template <int R>
  static void last_tile(std::int64_t rows, std::int64_t length, const T* x, const T* packed,
                        const T* addend, std::int64_t addend_row, T* y, std::int64_t y_row,
                        std::int64_t columns) {
    if constexpr (R > 1) {
      if (rows < R) {
        return last_tile<R - 1>(rows, length, x, packed, addend, addend_row, y, y_row, columns);
      }
    }
    tile<R>(length, x, packed, addend, addend_row, y, y_row, columns);
  }

  static void multiply_add(std::int64_t M, std::int64_t K, std::int64_t N, MatrixView<const T> x,
                           const void* panels, const T* addend, std::int64_t addend_row, T* y,
                           std::int64_t y_row) {
    const T* packed = static_cast<const T*>(panels);
    alignas(64) T packed_x[block * run];
    for (std::int64_t m = 0; m < M; m += block) {
      const std::int64_t rows = M - m < block ? M - m : block;
      for (std::int64_t k = 0; k < K; k += run) {
        const std::int64_t length = K - k < run ? K - k : run;
        const T* added = k > 0 ? y : addend;
        const std::int64_t added_row = k > 0 ? y_row : addend_row;
        pack_x(rows, length, x.at(m, k), packed_x);
        for (std::int64_t j = 0; j < N; j += panel) {
          const T* w = packed + j * K + k * panel;
          const std::int64_t columns = N - j < panel ? N - j : panel;
          for (std::int64_t i = 0; i < rows; i += rows_at_once) {
            last_tile<rows_at_once>(rows - i, length, packed_x + i * length, w,
                                    added ? added + (m + i) * added_row + j : nullptr, added_row,
                                    y + (m + i) * y_row + j, y_row, columns);
          }
        }
      }
    }
  }

  // N is rounded up to whole panels.
  static std::int64_t packed_bytes(std::int64_t K, std::int64_t N) {
    return K * ((N + panel - 1) / panel) * panel * static_cast<std::int64_t>(sizeof(T));
  }

  static constexpr ProductLoops<T> loops = {packed_bytes, pack, multiply_add};
};

}  // namespace
}  // namespace regard::kernels
