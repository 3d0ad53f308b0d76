#include "translation/memory_budget.h"

#include <c10/core/CPUAllocator.h>

#include <utility>

#include "base/error.h"

namespace regard {
namespace {

thread_local MemoryBudget* thread_budget = nullptr;

// Counts allocations and passes them to the previous allocator. Installed by the first budget and
// never removed, because tensors may refer to it until the process ends.
class CountingAllocator : public c10::Allocator {
 public:
  static void install() {
    static CountingAllocator* const allocator = [] {
      auto* created = new CountingAllocator;  // never deleted
      c10::SetCPUAllocator(created);
      return created;
    }();
    static_cast<void>(allocator);
  }

  c10::DataPtr allocate(std::size_t bytes) override {
    if (thread_budget != nullptr) thread_budget->count_allocation(bytes);
    return inner_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return inner_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    inner_->copy_data(to, from, bytes);
  }

 private:
  c10::Allocator* inner_ = c10::GetCPUAllocator();
};

}  // namespace

std::uint64_t model_budget(std::uint64_t weights) {
  constexpr std::uint64_t factor = 16;
  return factor * sizeof(float) * weights + (std::uint64_t{64} << 20);
}

MemoryBudget::MemoryBudget(std::uint64_t bytes, std::string what)
    : bytes_(bytes), left_(bytes), what_(std::move(what)) {
  CountingAllocator::install();
  thread_budget = this;
}

MemoryBudget::~MemoryBudget() {
  thread_budget = nullptr;
}

void MemoryBudget::count_allocation(std::uint64_t bytes) {
  if (bytes > left_) {
    throw CheckpointError("{} needs more than {} MB of memory", what_, bytes_ >> 20);
  }
  left_ -= bytes;
}

}  // namespace regard
