// A batch that the memory does not hold is learnt in halves: the same update, in smaller bites.
#pragma once

#include <exception>
#include <vector>

#include "data/batch.h"

namespace regard {

// The processor's memory or the device's was not enough, and nobody has dealt with it yet.
bool is_out_of_memory(const std::exception& error);

// Each batch of two sentences or more becomes two; false where there was none.
bool halve(std::vector<Batch>& batches);

}  // namespace regard
