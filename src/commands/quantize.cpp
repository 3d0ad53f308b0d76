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

struct SourceModel {
  fs::path path;
  Options options;
  Tokenizers tokenizers;
  NamedTensors weights;
};

SourceModel read_source(const fs::path& path) {
  SourceModel source;
  source.path = resolve_model(path);
  const FolderReader folder(source.path);
  check_not_quantized(folder);
  source.options = read_model_options(folder);
  source.tokenizers = read_tokenizers(folder, source.options);
  source.weights = read_weights(folder);
  return source;
}

double megabytes(const NamedTensors& weights) {
  return static_cast<double>(safetensors_size(weights)) / 1e6;
}

}  // namespace

ExitCode quantize(const QuantizeArguments& arguments) {
  check_model_output("quantize", {resolve_model(arguments.model)}, arguments.output);
  const auto source = retry_if_removed([&] { return read_source(arguments.model); });
  const auto weights = quantize(source.weights);
  FolderWriter writer(arguments.output);
  add_model(writer, source.options, source.tokenizers, weights);
  writer.commit({{"quantized_from", source.path.string()}});
  log::info("Wrote the weights of {} to {}: {:.1f} MB instead of {:.1f}", source.path.string(),
            arguments.output, megabytes(weights), megabytes(source.weights));
  return ExitCode::ok;
}

}  // namespace regard
