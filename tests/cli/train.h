// A toy training in its own folder, for the tests of regard train.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
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
  // The loss of each logged step.
  std::vector<double> losses(const std::string& run_name) const {
    std::vector<double> losses;
    for (const auto& line : lines_of(read_text(folder_ / run_name / "train.jsonl"))) {
      losses.push_back(parse_json(line).at("loss").get<double>());
    }
    return losses;
  }

  std::filesystem::path folder_ = fresh_folder();
  std::filesystem::path config_ = toy_training(folder_);
};

}  // namespace regard
