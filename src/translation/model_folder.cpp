#include "translation/model_folder.h"

#include <torch/utils.h>

#include <fmt/ranges.h>

#include <map>

#include "base/counted.h"
#include "base/error.h"
#include "config/check.h"
#include "config/reader.h"
#include "config/writer.h"
#include "model/build_model.h"
#include "model/initialisation.h"
#include "translation/memory_budget.h"

namespace regard {
namespace {

constexpr const char* config_file = "config.yaml";
constexpr const char* weights_file = "model.safetensors";

// SentencePiece's own ending, so that its tools take the file.
std::string tokenizer_file(TokenizerKind kind, const std::string& side) {
  const bool pieces = kind == TokenizerKind::bpe || kind == TokenizerKind::unigram;
  return side + (pieces ? ".model" : ".vocabulary");
}

// A configuration that makes no sense is the user's error on a command line, but damage in a folder
// that regard has written.
template <typename Read>
auto as_damage(Read read) -> decltype(read()) {
  try {
    return read();
  } catch (const ConfigError& error) {
    throw DamagedError("{}", error.what());
  }
}

std::uint64_t count_of(const NamedTensors& weights) {
  std::uint64_t count = 0;
  for (const auto& [name, tensor] : weights) count += static_cast<std::uint64_t>(tensor.numel());
  return count;
}

}  // namespace

void load_weights(Seq2Seq& model, const NamedTensors& weights, const std::string& where) {
  const torch::NoGradGuard guard;
  const auto parameters = model.named_parameters();
  std::map<std::string, torch::Tensor> saved(weights.begin(), weights.end());
  for (const auto& item : parameters) {
    const auto found = saved.find(item.key());
    if (found == saved.end()) {
      throw CheckpointError("{}: the model has no weights `{}`; it was trained with other options",
                            where, item.key());
    }
    if (found->second.sizes() != item.value().sizes()) {
      throw CheckpointError(
          "{}: `{}` has the shape [{}], but this configuration wants [{}]; it was trained with "
          "other options, or another vocabulary",
          where, item.key(), fmt::join(found->second.sizes(), ", "),
          fmt::join(item.value().sizes(), ", "));
    }
    saved.erase(found);
  }
  // Both are complete now; a second pass copies, so that an error has changed nothing.
  if (!saved.empty()) {
    throw CheckpointError("{}: the weights `{}` have no place in this configuration's model", where,
                          saved.begin()->first);
  }
  for (const auto& [name, tensor] : weights) parameters.find(name)->copy_(tensor);
}

void add_model_options(FolderWriter& folder, const Options& options) {
  folder.add_text(config_file, write_options(options));
}

void add_model(FolderWriter& folder, const Options& options, const Tokenizers& tokenizers,
               const NamedTensors& weights) {
  const auto kind = options.data.tokenizer.kind;
  add_model_options(folder, options);
  if (!fixed_source(options.model)) {
    folder.add_text(tokenizer_file(kind, "source"), tokenizers.source->serialized());
  }
  if (!options.data.tokenizer.joint && !fixed_target(options.model)) {
    folder.add_text(tokenizer_file(kind, "target"), tokenizers.target->serialized());
  }
  folder.add_tensors(weights_file, weights);
}

NamedTensors read_weights(const FolderReader& folder) {
  return folder.tensors(weights_file);
}

Options read_model_options(const FolderReader& folder, Origins* origins) {
  return as_damage([&] {
    return parse_options(folder.text(config_file), (folder.path() / config_file).string(), {},
                         origins);
  });
}

Tokenizers read_tokenizers(const FolderReader& folder, const Options& options) {
  const auto read = [&](const std::string& side) -> std::shared_ptr<const Tokenizer> {
    const auto& tokenizer = options.data.tokenizer;
    const auto name = tokenizer_file(tokenizer.kind, side);
    try {
      return load_tokenizer(tokenizer, folder.text(name), (folder.path() / name).string());
    } catch (const InputError& error) {
      throw CheckpointError("{}", error.what());
    }
  };
  Tokenizers tokenizers;
  tokenizers.output = options.model.output.kind;
  tokenizers.source = fixed_source(options.model);
  if (!tokenizers.source) tokenizers.source = read("source");
  tokenizers.target = fixed_target(options.model);
  if (tokenizers.target) return tokenizers;
  tokenizers.target = options.data.tokenizer.joint ? tokenizers.source : read("target");
  return tokenizers;
}

TranslationModel load_model(const std::filesystem::path& path, torch::Device device) {
  const FolderReader folder(path);
  TranslationModel loaded;
  Origins origins;
  loaded.options = read_model_options(folder, &origins);
  as_damage([&] { check_options(loaded.options, origins); });
  loaded.tokenizers = read_tokenizers(folder, loaded.options);
  const auto weights = read_weights(folder);
  {
    const auto numbers = count_of(weights);
    const MemoryBudget budget(
        model_budget(numbers),
        fmt::format("{}: its model, of which {} has only {},", (path / config_file).string(),
                    weights_file, counted(numbers, "number")));
    const WithoutInitialisation weights_follow;
    as_damage([&] { check_model(loaded.options.model, origins); });
    loaded.model = build_model(loaded.tokenizers.source->size(), loaded.tokenizers.target->size(),
                               loaded.options.model);
  }
  try {
    load_weights(*loaded.model, weights, path.string());
  } catch (const CheckpointError& error) {
    if (is_sound(path, /*may_change=*/{})) throw;
    throw CheckpointError("{}\n{} has changed since it was written; take back what has changed",
                          error.what(), (path / config_file).string());
  }
  loaded.model->to(device);
  loaded.model->eval();
  return loaded;
}

}  // namespace regard
