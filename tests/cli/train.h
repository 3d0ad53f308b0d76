// A toy training in its own folder, for the tests of regard train.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "tests/cli/run.h"

namespace regard {

// Returns the bytes of each tensor of a safetensors file by its name.
inline std::map<std::string, std::string> tensors_of(const std::string& file) {
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, file.data(), sizeof header_size);
  std::map<std::string, std::string> tensors;
  const auto header = parse_json(file.substr(8, header_size));
  for (const auto& [name, tensor] : header.items()) {
    if (name == "__metadata__") continue;
    const auto begin = tensor.at("data_offsets")[0].get<std::size_t>();
    const auto end = tensor.at("data_offsets")[1].get<std::size_t>();
    tensors[name] = file.substr(8 + header_size + begin, end - begin);
  }
  return tensors;
}

class Train : public CliTest {
 protected:
  Finished train(const Words& more = {}) const {
    return run(Words{"train", "-c", config_.string()} + more);
  }
  std::string weights(const std::string& run_name = "run") const {
    return read_text(folder_ / run_name / "last" / "model.safetensors");
  }
  // Trains into folder_/run_name, and kills the training when it has the checkpoint of this step.
  void kill_after_checkpoint(const Words& arguments, const std::string& run_name, int step) const {
    const auto checkpoint = folder_ / run_name / "checkpoints" / fmt::format("step-{:08}", step);
    Running training(Words{"train", "-c", config_.string()} + arguments);
    bool is_saved = false;
    for (int waited = 0; waited < 60'000 && !is_saved; ++waited) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      is_saved = std::filesystem::exists(checkpoint);
    }
    ASSERT_TRUE(is_saved) << checkpoint;
    training.send(SIGKILL);
    EXPECT_EQ(training.finish().code, 128 + SIGKILL) << "it ended before it was killed";
  }
  // The loss of each logged step.
  std::vector<double> losses(const std::string& run_name) const {
    std::vector<double> losses;
    for (const auto& line : lines_of(read_text(folder_ / run_name / "train.jsonl"))) {
      losses.push_back(parse_json(line).at("loss").get<double>());
    }
    return losses;
  }

  std::filesystem::path config_ = toy_training(folder_);
};

}  // namespace regard
