// Where the tensors live, and how many threads work on them.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>

namespace regard {

// "auto" (cuda:0 where there is one), "cpu", "cuda" or "cuda:N". ConfigError for any other name,
// EnvironmentError for a device that is not there.
torch::Device find_device(const std::string& name);

// 0 takes one for each core. To be called before the first tensor is made.
void set_threads(std::int64_t threads);

}  // namespace regard
