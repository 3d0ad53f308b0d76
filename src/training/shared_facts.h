// The facts that the processes of one training must share.
#pragma once

#include "base/json.h"
#include "training/setup.h"

namespace regard {

// Returns the facts that check_equal() (distributed.h) compares. Paths and folders may differ. On
// processors with other kernels, the same sums would be rounded differently, and the weights would
// drift apart.
Json facts_of(const Setup& setup);

}  // namespace regard
