// Sums of tensors on GPUs by NCCL, a backend of c10d beside Gloo: the GPUs exchange them without
// the host. Only in builds with CUDA that found NCCL's header (cmake/Torch.cmake).
#pragma once

#include <torch/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace regard {

// Returns a name of the GPU that no other GPU has, or "" if LibTorch has another version of NCCL
// than the header of this build.
std::string gpu_identity(torch::Device device);

// Connects this process with the others, which have other GPUs, when the first sum needs it. Throws
// the errors of c10d. A collective that takes longer than `timeout` ends the process.
c10::intrusive_ptr<c10d::Backend> connect_by_nccl(const c10::intrusive_ptr<c10d::Store>& store,
                                                  std::size_t rank, std::size_t size,
                                                  std::chrono::milliseconds timeout);

}  // namespace regard
