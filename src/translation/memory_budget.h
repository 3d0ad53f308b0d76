// A limit to the memory of new tensors, for a model that is made as a stranger's configuration
// says: made before its weights are looked at, it could ask for any amount.
#pragma once

#include <cstdint>
#include <string>

namespace regard {

// In bytes: enough to make any model of so many numbers, its parameters and what their first values
// are made of (orthogonal matrices by ten steps), and no more than its weights' size gives reason
// for.
std::uint64_t model_budget(std::uint64_t weights);

// While one lives, the tensors that this thread makes on the CPU, those already gone counted too,
// have no more bytes than `bytes`. What would go beyond throws a CheckpointError that begins with
// `what`. Other threads' tensors are not counted; a thread has one budget at a time.
class MemoryBudget {
 public:
  MemoryBudget(std::uint64_t bytes, std::string what);
  ~MemoryBudget();
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // CheckpointError where that is more than is left.
  void take(std::uint64_t bytes);

 private:
  std::uint64_t bytes_;
  std::uint64_t left_;
  std::string what_;
};

}  // namespace regard
