// Compiled for x86-64-v4 (CMakeLists.txt): 32 registers of 64 bytes, hence tiles of 12 rows.
#include "kernels/loops/head_loops.h"
#include "kernels/loops/product_loops.h"

namespace regard::kernels {

template <>
ProductLoops<float> product_v4() {
  return Loops<float, 64, 12>::loops;
}
template <>
ProductLoops<double> product_v4() {
  return Loops<double, 64, 12>::loops;
}

template <>
HeadLoops<float> heads_v4() {
  return VectorHeadLoops<float, 64, 8>::loops;
}
template <>
HeadLoops<double> heads_v4() {
  return VectorHeadLoops<double, 64, 8>::loops;
}

}  // namespace regard::kernels
