// Precompiled header. LibTorch's headers take 8 s in each file. <torch/torch.h> takes 17 s, and half of
// that again for its templates in each file that includes it, so only parts are included. Files
// still include what they use.
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <filesystem>
#include <fstream>
