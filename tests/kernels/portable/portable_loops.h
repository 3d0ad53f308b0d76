// The loops for processors that this one need not be: the same sources, with portable instructions.
#pragma once

#include "kernels/loops/heads.h"
#include "kernels/loops/products.h"

namespace regard::kernels {

template <typename T>
ProductLoops<T> portable_v3();
template <typename T>
ProductLoops<T> portable_v4();
ProductLoops<float> portable_bf16();
ProductLoops<float> portable_bf16_amx();
ProductLoops<float> portable_int8();
ProductLoops<float> portable_int8_amx();
template <typename T>
HeadLoops<T> portable_heads_v3();
template <typename T>
HeadLoops<T> portable_heads_v4();

}  // namespace regard::kernels
