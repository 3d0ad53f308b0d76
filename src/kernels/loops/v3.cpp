// Compiled for x86-64-v3 (CMakeLists.txt): 16 registers of 32 bytes, hence tiles of 6 rows.
#include "kernels/loops/head_loops.h"
#include "kernels/loops/product_loops.h"

namespace regard::kernels {

template <typename T>
ProductLoops<T> product_v3() {
  return Loops<T, 32, 6>::loops;
}
template <typename T>
HeadLoops<T> heads_v3() {
  return VectorHeadLoops<T, 32, 6>::loops;
}
template ProductLoops<float> product_v3();
template ProductLoops<double> product_v3();
template HeadLoops<float> heads_v3();
template HeadLoops<double> heads_v3();

}  // namespace regard::kernels
