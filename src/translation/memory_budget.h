// Limits the memory of new tensors while a model is built from an untrusted configuration, because
// the configuration could request any size.
#pragma once

#include <cstdint>
#include <string>

namespace regard {

// Returns a limit in bytes for building a model whose file has `weights` numbers: enough for its
// parameters and for their initialisation (orthogonal matrices in ten steps), but proportional to
// the size of the file.
std::uint64_t model_budget(std::uint64_t weights);

// While an object lives, the tensors that this thread allocates on the CPU may have `bytes` bytes
// in total, including tensors that were freed again. An allocation beyond that throws
// CheckpointError with a message that begins with `what`. Other threads are not counted. A thread
// has one budget at a time.
class MemoryBudget {
 public:
  MemoryBudget(std::uint64_t bytes, std::string what);
  ~MemoryBudget();
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // Throws CheckpointError if fewer bytes are left.
  void allocate(std::uint64_t bytes);

 private:
  std::uint64_t bytes_;
  std::uint64_t left_;
  std::string what_;
};

}  // namespace regard
