// Compiled for x86-64-v4 (CMakeLists.txt): 32 registers of 64 bytes, hence tiles of 12 rows.
#include "kernels/loops/head_loops.h"
#include "kernels/loops/product_loops.h"

namespace regard::kernels {

template <typename T>
ProductLoops<T> product_v4() {
  return Loops<T, 64, 12>::loops;
}
template <typename T>
HeadLoops<T> heads_v4() {
  return VectorHeadLoops<T, 64, 8>::loops;
}
template ProductLoops<float> product_v4();
template ProductLoops<double> product_v4();
template HeadLoops<float> heads_v4();
template HeadLoops<double> heads_v4();

}  // namespace regard::kernels
