// A batch that the memory does not hold is learnt in halves: the same update, in smaller bites.
#pragma once

#include <vector>

#include "base/failure.h"
#include "data/batch.h"

namespace regard {

// Each batch of two sentences or more becomes two; false where there was none.
bool halve(std::vector<Batch>& batches);

}  // namespace regard
