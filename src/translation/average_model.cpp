#include "translation/average_model.h"

#include <torch/utils.h>

#include <string>

#include "base/error.h"
#include "config/writer.h"

namespace regard {
namespace {

namespace fs = std::filesystem;

// Returns only the options that must be equal in all models.
Options shared_options(const Options& options) {
  Options common;
  common.model = options.model;
  common.model.dropout = {};
  common.data.tokenizer = options.data.tokenizer;
  common.data.tokenizer.sampling = {};
  return common;
}

std::string vocabularies(const TextCodec& codec) {
  return codec.source->serialized() + codec.target->serialized();
}

void check_same(const AverageModel& first, const fs::path& first_path, const FolderReader& folder) {
  const auto path = folder.path().string();
  const auto options = read_model_options(folder);
  const auto differing = option_differences(shared_options(first.options), shared_options(options));
  if (!differing.empty()) {
    throw ConfigError(
        "{}: differs from {} in {}; only models with the same options can be averaged", path,
        first_path.string(), differing[0].text());
  }
  if (vocabularies(read_codec(folder, options)) != vocabularies(first.codec)) {
    throw ConfigError(
        "{}: its vocabulary differs from that of {}, so their weights belong to different words; "
        "start such runs with --init-from, which keeps the vocabularies",
        path, first_path.string());
  }
}

// sums += weights, in double precision.
void add_weights(NamedTensors& sums, const NamedTensors& weights, const std::string& path) {
  const bool same_number = sums.size() == weights.size();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    auto& [name, sum] = sums[i];
    if (!same_number || weights[i].first != name || weights[i].second.sizes() != sum.sizes()) {
      throw CheckpointError(
          "{}: names or shapes of its weights differ from the other models, first at `{}`", path,
          name);
    }
    sum += weights[i].second;
  }
}

}  // namespace

AverageModel average_models(const std::vector<fs::path>& folders) {
  const torch::NoGradGuard guard;
  const FolderReader first(folders[0]);
  check_not_quantized(first);
  AverageModel average;
  average.options = read_model_options(first);
  average.codec = read_codec(first, average.options);
  const auto weights = read_weights(first);
  for (const auto& [name, tensor] : weights) {
    average.weights.emplace_back(name, tensor.to(torch::kDouble));  // sums, until the last loop
  }
  for (std::size_t i = 1; i < folders.size(); ++i) {
    const FolderReader folder(folders[i]);
    check_not_quantized(folder);
    check_same(average, folders[0], folder);
    add_weights(average.weights, read_weights(folder), folders[i].string());
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    auto& sum = average.weights[i].second;
    sum = (sum / static_cast<double>(folders.size())).to(weights[i].second.scalar_type());
  }
  return average;
}

}  // namespace regard
