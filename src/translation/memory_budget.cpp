#include "translation/memory_budget.h"

#include <c10/core/CPUAllocator.h>

#include <limits>

#include "base/error.h"

namespace regard {
namespace {

constexpr auto highest_priority = std::numeric_limits<std::uint8_t>::max();

}  // namespace

// Hands on to the allocator that was there, so that the memory can outlive this.
class MemoryBudget::Counting : public c10::Allocator {
 public:
  Counting(std::uint64_t bytes, std::string what)
      : inner_(c10::GetCPUAllocator()), bytes_(bytes), left_(bytes), what_(std::move(what)) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes > left_) {
      throw CheckpointError("{} asks for more than {} MB of memory", what_, bytes_ >> 20);
    }
    left_ -= bytes;
    return inner_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return inner_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    inner_->copy_data(to, from, bytes);
  }
  c10::Allocator* inner() const { return inner_; }

 private:
  c10::Allocator* inner_;
  std::uint64_t bytes_;
  std::uint64_t left_;
  std::string what_;
};

std::uint64_t model_budget(std::uint64_t weights) {
  constexpr std::uint64_t factor = 16;
  return factor * sizeof(float) * weights + (std::uint64_t{64} << 20);
}

MemoryBudget::MemoryBudget(std::uint64_t bytes, const std::string& what)
    : counting_(std::make_unique<Counting>(bytes, what)) {
  c10::SetCPUAllocator(counting_.get(), highest_priority);
}

MemoryBudget::~MemoryBudget() {
  c10::SetCPUAllocator(counting_->inner(), highest_priority);
}

}  // namespace regard
