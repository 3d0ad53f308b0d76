// A limit to the memory of new tensors, for a model that is made as a stranger's configuration
// says: made before its weights are looked at, it could ask for any amount.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace regard {

// In bytes: enough to make any model of so many numbers, its parameters and what their first values
// are made of (orthogonal matrices by ten steps), and no more than its weights' size gives reason
// for.
std::uint64_t model_budget(std::uint64_t weights);

// While one lives, the tensors made on the CPU, those already gone counted too, have no more bytes
// than `bytes`. What would go beyond throws a CheckpointError that begins with `what`. Only one at
// a time, and only while no other thread makes tensors.
class MemoryBudget {
 public:
  MemoryBudget(std::uint64_t bytes, const std::string& what);
  ~MemoryBudget();
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

 private:
  class Counting;
  std::unique_ptr<Counting> counting_;
};

}  // namespace regard
