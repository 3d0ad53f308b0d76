// Compiled for x86-64-v3 (CMakeLists.txt): 16 registers of 32 bytes, hence tiles of 6 rows.
#include "kernels/loops/head_loops.h"
#include "kernels/loops/product_loops.h"

namespace regard::kernels {

template <>
ProductLoops<float> product_v3() {
  return Loops<float, 32, 6>::loops;
}
template <>
ProductLoops<double> product_v3() {
  return Loops<double, 32, 6>::loops;
}

template <>
HeadLoops<float> heads_v3() {
  return VectorHeadLoops<float, 32, 6>::loops;
}
template <>
HeadLoops<double> heads_v3() {
  return VectorHeadLoops<double, 32, 6>::loops;
}

}  // namespace regard::kernels
