// The loops of product_rows.h for newer generations of x86-64, each from a source of its own.
#pragma once

#include "kernels/product_rows.h"

namespace regard::kernels {

template <typename T>
ProductLoops<T> product_v3();
template <typename T>
ProductLoops<T> product_v4();

}  // namespace regard::kernels
