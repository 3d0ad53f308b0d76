// Where the tensors live, and how many workers there are.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/thread_pool.h"

namespace regard {

// "auto" (cuda:0 where there is one), "cpu", "cuda" or "cuda:N". ConfigError for any other name,
// EnvironmentError for a device that is not there.
torch::Device find_device(const std::string& name);

// `threads` workers, 0 for one for each processor that this process may use (base/process.h), each
// doing its arithmetic on one thread: LibTorch's own threads are turned off. On any other device
// than the CPU a single worker. To be called before the first tensor is made; warns of more threads
// than processors.
std::unique_ptr<ThreadPool> make_thread_pool(std::int64_t threads, torch::Device device);

}  // namespace regard
