#include "kernels/loops/products.h"

#include <array>
#include <cstddef>
#include <type_traits>

#include "base/cpu.h"
#include "kernels/loops/product_loops.h"

namespace regard::kernels {

bool can_multiply(Precision precision) {
#if defined(__x86_64__)
  if (precision == Precision::bf16) return has_bf16_products();
  if (precision == Precision::int8) return has_int8_products();
#endif
  return precision == Precision::full;
}

template <typename T>
std::vector<ProductLoops<T>> runnable_product_loops(Precision precision) {
  std::vector<ProductLoops<T>> runnable;
#if defined(__x86_64__)
  if constexpr (std::is_same_v<T, float>) {
    if (precision == Precision::bf16 && has_bf16_products()) {
      if (has_amx_products()) runnable.push_back(product_bf16_amx());
      runnable.push_back(product_bf16());
    } else if (precision == Precision::int8 && has_int8_products()) {
      if (has_amx_products()) runnable.push_back(product_int8_amx());
      runnable.push_back(product_int8());
    }
  }
#endif
  if (precision != Precision::full) return runnable;
  // Vectors of 16 bytes: every x86-64 and AArch64 processor has them.
  runnable.push_back(Loops<T, 16, 6>::loops);
#if defined(__x86_64__)
  const auto generation = cpu_level();
  if (generation >= CpuLevel::v3) runnable.insert(runnable.begin(), product_v3<T>());
  if (generation >= CpuLevel::v4) runnable.insert(runnable.begin(), product_v4<T>());
#endif
  return runnable;
}

template <typename T>
const ProductLoops<T>& fastest_product_loops(Precision precision) {
  static const std::array<std::vector<ProductLoops<T>>, 3> loops = {
      runnable_product_loops<T>(Precision::full), runnable_product_loops<T>(Precision::bf16),
      runnable_product_loops<T>(Precision::int8)};
  return loops.at(static_cast<std::size_t>(precision)).at(0);
}

template std::vector<ProductLoops<float>> runnable_product_loops(Precision);
template std::vector<ProductLoops<double>> runnable_product_loops(Precision);
template const ProductLoops<float>& fastest_product_loops(Precision);
template const ProductLoops<double>& fastest_product_loops(Precision);

}  // namespace regard::kernels
