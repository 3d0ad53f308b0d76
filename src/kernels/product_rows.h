// Matrix products y = x W or y += x W, for few rows x and a W that many x are multiplied with, as
// in training and search.
//
// W [K, N] is copied ("packed") into panels of a few columns, in the order in which the loop reads
// it. x is packed a few rows at a time during the product. The loop multiplies a tile of rows with
// one panel and keeps the sums in registers for a range of k (Goto and van de Geijn 2008). Each
// element of y is summed independently, over k in order, so that a row does not depend on the other
// rows.
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

// The number of elements of a packed [K, N], in whole panels.
template <typename T>
std::int64_t packed_size(std::int64_t K, std::int64_t N);

// W [K, N] -> packed, aligned to 64 bytes.
template <typename T>
void pack_rows(std::int64_t K, std::int64_t N, MatrixView<const T> W, T* packed);

// x [M, K] with contiguous rows or columns, packed W [K, N] -> y [M, N] with contiguous rows, y_row
// apart.
template <typename T>
void multiply_rows(std::int64_t M, std::int64_t K, std::int64_t N, MatrixView<const T> x,
                   const T* packed, T* y, std::int64_t y_row, bool add);

// The loops, compiled for one generation of processors.
template <typename T>
struct ProductLoops {
  std::int64_t panel;  // columns
  void (*pack)(std::int64_t, std::int64_t, MatrixView<const T>, T*);
  void (*multiply)(std::int64_t, std::int64_t, std::int64_t, MatrixView<const T>, const T*, T*,
                   std::int64_t, bool);
};

// The loops that this processor can run, fastest first. The functions above use the first.
template <typename T>
std::vector<ProductLoops<T>> runnable_product_loops();

// The loops for newer generations of x86-64, each compiled from its own source.
template <typename T>
ProductLoops<T> product_v3();
template <typename T>
ProductLoops<T> product_v4();

}  // namespace regard::kernels
