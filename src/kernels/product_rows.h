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

// The numbers that a product multiplies. Sums are in the type of the matrices, T, or at least in
// single precision.
enum class Precision {
  full,  // T itself
  bf16,  // rounded to 8 bits of precision
  int8,  // scaled by row of x and column of W, and rounded to 8 bits (product_int8_rows.cpp)
};

// The loops of one kind of number and one generation of processors.
template <typename T>
struct ProductLoops {
  // The size of a packed [K, N].
  std::int64_t (*packed_bytes)(std::int64_t K, std::int64_t N);
  // W [K, N] -> packed, aligned to 64 bytes.
  void (*pack)(std::int64_t K, std::int64_t N, MatrixView<const T> W, void* packed);
  // x [M, K] with contiguous rows or columns, packed W [K, N] -> y [M, N] with contiguous rows,
  // y_row apart.
  void (*multiply)(std::int64_t M, std::int64_t K, std::int64_t N, MatrixView<const T> x,
                   const void* packed, T* y, std::int64_t y_row, bool add);
};

// Returns the loops that this processor can run, fastest first; none if it has no instruction for
// the precision. Only single precision has others than Precision::full.
template <typename T>
std::vector<ProductLoops<T>> runnable_product_loops(Precision precision = Precision::full);

// Returns the first of them. Throws std::out_of_range if there are none.
template <typename T>
const ProductLoops<T>& fastest_product_loops(Precision precision = Precision::full);

// Returns true if this processor can multiply in this precision.
bool can_multiply(Precision precision);

// Returns true if the loops of this folder are faster than the library of LibTorch's products for
// matrices of any size: on processors of AMD with AVX-512, where that library uses AVX2.
bool are_own_products_faster();

// The loops for newer generations of x86-64, each compiled from its own source.
template <typename T>
ProductLoops<T> product_v3();
template <typename T>
ProductLoops<T> product_v4();
ProductLoops<float> product_bf16();
ProductLoops<float> product_int8();

}  // namespace regard::kernels
