#include "training/out_of_memory.h"

#include <new>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace regard {

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  if (dynamic_cast<const Error*>(&error) != nullptr) return false;
  // LibTorch's allocator for the processor has no class of error of its own.
  const std::string_view message = error.what();
  for (const auto* phrase : {"can't allocate memory", "out of memory"}) {
    if (message.find(phrase) != std::string_view::npos) return true;
  }
  return false;
}

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
