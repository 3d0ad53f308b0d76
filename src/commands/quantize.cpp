// regard quantize: writes a copy of a model with weights of 8 bits.
#include <filesystem>

#include "base/log.h"
#include "checkpoint/folder.h"
#include "checkpoint/run_folder.h"
#include "commands/commands.h"
#include "commands/loaded_model.h"
#include "translation/model_folder.h"
#include "translation/quantized_weights.h"

namespace regard {
namespace {

namespace fs = std::filesystem;

struct OriginalModel {
  fs::path path;
  Options options;
  TextCodec codec;
  NamedTensors weights;
};

OriginalModel read_original(const fs::path& path) {
  OriginalModel original;
  original.path = resolve_model(path);
  const FolderReader folder(original.path);
  check_not_quantized(folder);
  original.options = read_model_options(folder);
  original.codec = read_codec(folder, original.options);
  original.weights = read_weights(folder);
  return original;
}

double megabytes(const NamedTensors& weights) {
  return static_cast<double>(safetensors_size(weights)) / 1e6;
}

}  // namespace

ExitCode quantize(const QuantizeArguments& arguments) {
  check_model_output("quantize", {resolve_model(arguments.model)}, arguments.output);
  const auto original = retry_if_removed([&] { return read_original(arguments.model); });
  const auto weights = quantize(original.weights);
  FolderWriter writer(arguments.output);
  add_model(writer, original.options, original.codec, weights);
  writer.commit({{"quantized_from", original.path.string()}});
  log::info("Wrote the weights of {} to {}: {:.1f} MB instead of {:.1f}", original.path.string(),
            arguments.output, megabytes(weights), megabytes(original.weights));
  return ExitCode::ok;
}

}  // namespace regard
