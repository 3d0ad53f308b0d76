// Products of matrices, y = x W or y += x W, made for what training and search are full of: few
// rows x, and a W that many of them are multiplied with.
//
// W [K, N] is copied ("packed") into panels of a few columns each, in the order in which the loop
// reads it, and so is x, a handful of rows at a time, as the product goes on. Such a handful meets
// one panel with its sums held in registers for a run of k (Goto and van de Geijn 2008). Each
// element of y is summed by itself, over k in order: what a row comes to does not depend on the
// rows that go with it.
#pragma once

#include <cstdint>
#include <vector>

namespace regard::kernels {

// A matrix in memory: element (i, j) is data[i · row + j · column].
template <typename T>
struct MatrixView {
  T* data;
  std::int64_t row;
  std::int64_t column;
  MatrixView at(std::int64_t i, std::int64_t j) const {
    return {data + i * row + j * column, row, column};
  }
};

// Elements that the packed form of a [K, N] takes: it has whole panels.
template <typename T>
std::int64_t packed_size(std::int64_t K, std::int64_t N);

// W [K, N] -> packed, aligned to 64 bytes.
template <typename T>
void pack_rows(std::int64_t K, std::int64_t N, MatrixView<const T> W, T* packed);

// x [M, K], in which rows or columns lie side by side, packed W [K, N] -> y [M, N], whose columns
// do.
template <typename T>
void multiply_rows(std::int64_t M, std::int64_t K, std::int64_t N, MatrixView<const T> x,
                   const T* packed, T* y, std::int64_t y_row, bool add);

// The loops as compiled for one generation of processors.
template <typename T>
struct ProductLoops {
  std::int64_t panel;  // columns
  void (*pack)(std::int64_t, std::int64_t, MatrixView<const T>, T*);
  void (*multiply)(std::int64_t, std::int64_t, std::int64_t, MatrixView<const T>, const T*, T*,
                   std::int64_t, bool);
};

// Those that this processor can run, the fastest first: that is the one which serves above.
template <typename T>
std::vector<ProductLoops<T>> runnable_product_loops();

}  // namespace regard::kernels
