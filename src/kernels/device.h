// The device of the tensors, and the threads that compute on it.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/thread_pool.h"

namespace regard {

// Returns the device of this name: "auto" (cuda:0 if there is one, else cpu), "cpu", "cuda" or
// "cuda:N". Throws ConfigError for any other name, EnvironmentError for a missing device.
torch::Device find_device(const std::string& name);

// Creates a pool of `threads` threads, or, if it is 0, of one thread for each processor that this
// process may use (base/cpu.h); a single thread on other devices than the CPU. Disables LibTorch's
// own threads. Must be called before the first tensor is created. Warns of more threads than
// processors.
std::unique_ptr<ThreadPool> make_thread_pool(std::int64_t threads, torch::Device device);

}  // namespace regard
