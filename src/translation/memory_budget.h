// Limits the memory of new tensors while a model is built from an untrusted configuration, because
// the configuration could request any size.
#pragma once

#include <cstdint>
#include <string>

namespace regard {

// Returns a limit in bytes for building a model whose file of weights has `weights` numbers. It is
// 16 times their size, plus 64 MiB: enough for the parameters and for temporary tensors while they
// are initialised, but proportional to the file, so that a small file cannot claim much memory.
std::uint64_t model_budget(std::uint64_t weights);

// While an object lives, the tensors that this thread allocates on the CPU may have `bytes` bytes
// in total, including tensors that were freed again. An allocation beyond that throws
// CheckpointError with the message "`what` needs more than … MB of memory". Other threads are not
// counted. A thread has one budget at a time.
class MemoryBudget {
 public:
  MemoryBudget(std::uint64_t bytes, std::string what);
  ~MemoryBudget();
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // Subtracts an allocation from the budget; allocates nothing. Throws CheckpointError if fewer
  // bytes are left.
  void count_allocation(std::uint64_t bytes);

 private:
  std::uint64_t bytes_;
  std::uint64_t left_;
  std::string what_;
};

}  // namespace regard
