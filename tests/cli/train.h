// A toy training in its own folder, for the tests of regard train.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/run.h"

namespace regard {

class Train : public testing::Test {
 protected:
  Finished train(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"train", "-c", config_.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  std::string weights(const std::string& run_name = "run") const {
    return read_text(folder_ / run_name / "last" / "model.safetensors");
  }

  std::filesystem::path folder_ = fresh_folder();
  std::filesystem::path config_ = toy_training(folder_);
};

}  // namespace regard
