#include "kernels/product_rows.h"

#include "base/cpu.h"
#include "kernels/product_loops.h"

namespace regard::kernels {

template <typename T>
std::vector<ProductLoops<T>> runnable_product_loops() {
  std::vector<ProductLoops<T>> runnable = {Loops<T, 16, 6>::loops};
#if defined(__x86_64__)
  const auto generation = cpu_level();
  if (generation >= CpuLevel::v3) runnable.insert(runnable.begin(), product_v3<T>());
  if (generation >= CpuLevel::v4) runnable.insert(runnable.begin(), product_v4<T>());
#endif
  return runnable;
}

namespace {

template <typename T>
const ProductLoops<T>& loops() {
  static const auto fastest = runnable_product_loops<T>().front();
  return fastest;
}

}  // namespace

template <typename T>
std::int64_t packed_size(std::int64_t K, std::int64_t N) {
  const auto panel = loops<T>().panel;
  return K * ((N + panel - 1) / panel) * panel;
}

template <typename T>
void pack_rows(std::int64_t K, std::int64_t N, MatrixView<const T> W, T* packed) {
  loops<T>().pack(K, N, W, packed);
}

template <typename T>
void multiply_rows(std::int64_t M, std::int64_t K, std::int64_t N, MatrixView<const T> x,
                   const T* packed, T* y, std::int64_t y_row, bool add) {
  loops<T>().multiply(M, K, N, x, packed, y, y_row, add);
}

template std::vector<ProductLoops<float>> runnable_product_loops();
template std::vector<ProductLoops<double>> runnable_product_loops();
template std::int64_t packed_size<float>(std::int64_t, std::int64_t);
template std::int64_t packed_size<double>(std::int64_t, std::int64_t);
template void pack_rows(std::int64_t, std::int64_t, MatrixView<const float>, float*);
template void pack_rows(std::int64_t, std::int64_t, MatrixView<const double>, double*);
template void multiply_rows(std::int64_t, std::int64_t, std::int64_t, MatrixView<const float>,
                            const float*, float*, std::int64_t, bool);
template void multiply_rows(std::int64_t, std::int64_t, std::int64_t, MatrixView<const double>,
                            const double*, double*, std::int64_t, bool);

}  // namespace regard::kernels
