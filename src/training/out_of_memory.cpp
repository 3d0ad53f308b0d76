#include "training/out_of_memory.h"

#include <utility>

namespace regard {

bool halve(std::vector<Batch>& batches) {
  std::vector<Batch> halves;
  for (auto& batch : batches) {
    if (batch.size() < 2) {
      halves.push_back(std::move(batch));
    } else {
      halves.push_back(batch.share(0, 2));
      halves.push_back(batch.share(1, 2));
    }
  }
  const bool any = halves.size() > batches.size();
  batches = std::move(halves);
  return any;
}

}  // namespace regard
