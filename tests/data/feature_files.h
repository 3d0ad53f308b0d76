// Writes feature files (data/feature_file.h) for tests.
#pragma once

#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "base/safetensors_header.h"

namespace regard {

// Items of frames of `width` numbers: items[i] has the numbers of all its frames.
struct FeatureItems {
  std::int64_t width = 1;
  std::vector<std::vector<float>> items = {};
  TensorMetadata metadata = {};
};

inline std::string feature_bytes(const FeatureItems& content) {
  std::vector<std::int64_t> lengths;
  std::string values;
  for (const auto& item : content.items) {
    lengths.push_back(std::ssize(item) / content.width);
    values.append(reinterpret_cast<const char*>(item.data()), item.size() * sizeof(float));
  }
  const std::string counts(reinterpret_cast<const char*>(lengths.data()), 8 * lengths.size());
  const auto frames = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  return encode_safetensors_header({{"lengths", "I64", {std::ssize(lengths)}, 0, counts.size()},
                                    {"features",
                                     "F32",
                                     {frames, content.width},
                                     counts.size(),
                                     counts.size() + values.size()}},
                                   content.metadata) +
         counts + values;
}

inline void write_features(const std::string& path, const FeatureItems& content) {
  std::ofstream(path, std::ios::binary) << feature_bytes(content);
}

}  // namespace regard
