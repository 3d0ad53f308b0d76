#include "translation/memory_budget.h"

#include <c10/core/CPUAllocator.h>

#include <utility>

#include "base/error.h"

namespace regard {
namespace {

thread_local MemoryBudget* of_this_thread = nullptr;

// Stands before the allocator that was there, to which it hands on, from the first budget to the
// process's end: nobody can be left with one that is gone.
class Counting : public c10::Allocator {
 public:
  static void stand_before_all() {
    static Counting* const counting = [] {
      auto* made = new Counting;  // never deleted, see above
      c10::SetCPUAllocator(made);
      return made;
    }();
    static_cast<void>(counting);
  }

  c10::DataPtr allocate(std::size_t bytes) override {
    if (of_this_thread != nullptr) of_this_thread->take(bytes);
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
  Counting::stand_before_all();
  of_this_thread = this;
}

MemoryBudget::~MemoryBudget() {
  of_this_thread = nullptr;
}

void MemoryBudget::take(std::uint64_t bytes) {
  if (bytes > left_) {
    throw CheckpointError("{} asks for more than {} MB of memory", what_, bytes_ >> 20);
  }
  left_ -= bytes;
}

}  // namespace regard
