// Matrix products y = x W, y += x W or y = x W + b, for matrices W that are multiplied with many x,
// each of few rows, as in training and search.
//
// W [K, N] is copied ("packed") into panels of a few columns, in the order in which the loop reads
// it. x is packed a few rows at a time during the product. The loop multiplies a tile of rows with
// one panel and keeps the sums in registers for a range of k (Goto and van de Geijn 2008). Each
// element of y is summed independently, over k in order, so that a row does not depend on the other
// rows.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cpu.h"

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

// The number format of the factors x and W in a product of matrices of type T. Sums are in T or at
// least in single precision.
enum class Precision {
  full,  // T, not rounded
  bf16,  // rounded to 8 bits of precision
  int8,  // scaled by row of x and column of W, and rounded to 8 bits (loops/product_int8.cpp)
};

// The functions for one number format and one instruction set.
template <typename T>
struct ProductLoops {
  // Returns the size of a packed W [K, N] in bytes.
  std::int64_t (*packed_bytes)(std::int64_t K, std::int64_t N);
  // W [K, N] -> packed, aligned to 64 bytes.
  void (*pack)(std::int64_t K, std::int64_t N, MatrixView<const T> W, void* packed);
  // x [M, K] with contiguous rows or columns, packed W [K, N], addend [M, N] or null
  //   -> y = x W + addend [M, N].
  // Rows of the addend and of y are contiguous, and addend_row or y_row elements apart. The addend
  // may be y; with addend_row = 0, it is one row for all rows of y.
  void (*multiply_add)(std::int64_t M, std::int64_t K, std::int64_t N, MatrixView<const T> x,
                       const void* packed, const T* addend, std::int64_t addend_row, T* y,
                       std::int64_t y_row);

  // y = x W, or y += x W if `add` is true.
  void multiply(std::int64_t M, std::int64_t K, std::int64_t N, MatrixView<const T> x,
                const void* packed, T* y, std::int64_t y_row, bool add) const {
    multiply_add(M, K, N, x, packed, add ? y : nullptr, y_row, y, y_row);
  }
};

// Returns the loops that this processor can run, fastest first. Returns none if the processor has
// no instruction for the precision, or if T is double and the precision is not Precision::full.
template <typename T>
std::vector<ProductLoops<T>> runnable_product_loops(Precision precision = Precision::full);

// Returns the first of runnable_product_loops(). Throws std::out_of_range if there are none.
template <typename T>
const ProductLoops<T>& fastest_product_loops(Precision precision = Precision::full);

// Returns true if this processor can multiply in this precision.
bool can_multiply(Precision precision);

// Returns true if the loops of this folder are faster than LibTorch's matrix products for matrices
// of any size: on AMD processors with AVX-512, where LibTorch's BLAS uses AVX2.
inline bool has_faster_products_than_libtorch() {
#if defined(__x86_64__)
  return cpu_level() == CpuLevel::v4 && __builtin_cpu_is("amd");
#else
  return false;
#endif
}

// The loops for each instruction set newer than baseline x86-64, each compiled from its own source
// file.
template <typename T>
ProductLoops<T> product_v3();
template <typename T>
ProductLoops<T> product_v4();
ProductLoops<float> product_bf16();
ProductLoops<float> product_bf16_amx();
ProductLoops<float> product_int8();
ProductLoops<float> product_int8_amx();

}  // namespace regard::kernels
