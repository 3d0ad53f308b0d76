#include "translation/model_folder.h"

#include <torch/utils.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/strings.h"
#include "config/check.h"
#include "config/reader.h"
#include "config/scalar.h"
#include "config/writer.h"
#include "model/attention/table.h"
#include "model/build_model.h"
#include "model/initialisation.h"
#include "translation/memory_budget.h"
#include "translation/quantized_weights.h"

namespace regard {
namespace {

constexpr const char* config_file = "config.yaml";
constexpr const char* lengths_file = "line_lengths.json";
constexpr const char* weights_file = "model.safetensors";
constexpr const char* feature_settings_file = "source_features.txt";

// Uses SentencePiece's own ending, so that its tools accept the file.
std::string tokenizer_file(TokenizerKind kind, const std::string& side) {
  const bool pieces = kind == TokenizerKind::bpe || kind == TokenizerKind::unigram;
  return side + (pieces ? ".model" : ".vocabulary");
}

// Calls read() and turns ConfigError into DamagedError: an invalid configuration in a folder that
// regard wrote is damage, not a user's error.
template <typename Read>
auto as_damage(Read read) -> decltype(read()) {
  try {
    return read();
  } catch (const ConfigError& error) {
    throw DamagedError("{}", error.what());
  }
}

std::uint64_t count_numbers(const NamedTensors& weights) {
  std::uint64_t count = 0;
  for (const auto& [name, tensor] : weights) count += static_cast<std::uint64_t>(tensor.numel());
  return count;
}

// Folders of earlier versions have no lengths.
LineLengths read_lengths(const FolderReader& folder) {
  if (!folder.has(lengths_file)) return {};
  const auto json = parse_json(folder.text(lengths_file));
  const auto number = [&](const char* key) {
    const auto found = json.is_object() ? json.value(key, Json()) : Json();
    if (found.is_number() && found.get<double>() >= 0 && found.get<double>() <= 1e9) {
      return found.get<double>();
    }
    throw CheckpointError("{}: found no `{}`, a number of at least 0",
                          (folder.path() / lengths_file).string(), key);
  };
  return {static_cast<std::int64_t>(number("long_source")), number("low_ratio"), number("several")};
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
          "{}: `{}` has the shape [{}], but this configuration expects [{}]; it was trained with "
          "other options, or another vocabulary",
          where, item.key(), fmt::join(found->second.sizes(), ", "),
          fmt::join(item.value().sizes(), ", "));
    }
    saved.erase(found);
  }
  if (!saved.empty()) {
    throw CheckpointError(
        "{}: found the weights `{}`, which this configuration's model does not have", where,
        saved.begin()->first);
  }
  // Copies after all checks, so that an error leaves the model unchanged.
  for (const auto& [name, tensor] : weights) parameters.find(name)->copy_(tensor);
}

void add_model_options(FolderWriter& folder, const Options& options) {
  folder.add_text(config_file, write_options(options));
}

void add_model(FolderWriter& folder, const Options& options, const TextCodec& codec,
               const NamedTensors& weights) {
  const auto kind = options.data.tokenizer.kind;
  add_model_options(folder, options);
  if (codec.features) {
    folder.add_text(feature_settings_file, codec.source->serialized());
  } else if (!fixed_source_tokenizer(options.model)) {
    folder.add_text(tokenizer_file(kind, "source"), codec.source->serialized());
  }
  if (!options.data.tokenizer.joint && !fixed_target_tokenizer(options.model)) {
    folder.add_text(tokenizer_file(kind, "target"), codec.target->serialized());
  }
  if (const auto& lengths = codec.lengths; lengths.long_source > 0) {
    const Json json = {{"long_source", lengths.long_source},
                       {"low_ratio", lengths.low_ratio},
                       {"several", lengths.several}};
    folder.add_text(lengths_file, json.dump() + "\n");
  }
  folder.add_tensors(weights_file, weights);
}

NamedTensors read_weights(const FolderReader& folder) {
  return dequantize(folder.tensors(weights_file), (folder.path() / weights_file).string());
}

void check_not_quantized(const FolderReader& folder) {
  const auto source = folder.info().value("quantized_from", Json());
  if (!source.is_string()) return;
  throw CheckpointError(
      "{}: its weights are quantized, for translation only; use the model it was made from ({})",
      folder.path().string(), source.get<std::string>());
}

Options read_model_options(const FolderReader& folder, SourceLocations* locations) {
  return as_damage([&] {
    auto options = parse_options(folder.text(config_file), (folder.path() / config_file).string(),
                                 {}, locations);
    reset_unread(options);
    resolve_automatic(options.model);
    return options;
  });
}

TextCodec read_codec(const FolderReader& folder, const Options& options) {
  const auto read = [&](const std::string& side) {
    const auto& tokenizer = options.data.tokenizer;
    const auto name = tokenizer_file(tokenizer.kind, side);
    try {
      return load_tokenizer(tokenizer, folder.text(name), (folder.path() / name).string());
    } catch (const InputError& error) {
      throw CheckpointError("{}", error.what());
    }
  };
  if (options.data.source == SourceKind::features) {
    auto codec = feature_codec(options.model, folder.text(feature_settings_file));
    codec.target = read("target");
    return codec;
  }
  auto codec = load_text_codec(options.model, options.data.tokenizer.joint, read);
  codec.lengths = read_lengths(folder);
  return codec;
}

TranslationModel load_model(const std::filesystem::path& path, torch::Device device) {
  const FolderReader folder(path);
  TranslationModel loaded;
  SourceLocations locations;
  loaded.options = read_model_options(folder, &locations);
  as_damage([&] { check_options(loaded.options, locations); });
  loaded.codec = read_codec(folder, loaded.options);
  const auto weights = read_weights(folder);
  {
    const auto numbers = count_numbers(weights);
    const MemoryBudget budget(
        model_budget(numbers),
        fmt::format("{}: its model, for which {} has only {},", (path / config_file).string(),
                    weights_file, counted(numbers, "number")));
    const SkipInitialisation skip;  // load_weights() sets all parameters
    as_damage([&] { check_model(loaded.options.model, locations); });
    loaded.model =
        build_model(loaded.codec.source->size(), loaded.codec.target->size(), loaded.options.model);
  }
  try {
    load_weights(*loaded.model, weights, path.string());
  } catch (const CheckpointError& error) {
    // If a file has changed, the user probably edited config.yaml.
    if (is_intact(path, /*may_change=*/{})) throw;
    throw CheckpointError("{}\n{} has changed since it was written; undo the changes", error.what(),
                          (path / config_file).string());
  }
  loaded.model->to(device);
  loaded.model->eval();
  return loaded;
}

TextCodec tagged_codec(const TranslationModel& model, const NamedTag& source,
                       const NamedTag& target) {
  const auto& symbols = model.options.data.tokenizer.user_symbols;
  for (const auto& [option, tag] : {source, target}) {
    if (!tag || tag->empty() || std::ranges::count(symbols, *tag) > 0) continue;
    throw ConfigError("{}: found {}, expected one of the model's data.tokenizer.user_symbols, {}",
                      option, *tag, symbols.empty() ? "but it has none" : to_yaml(symbols));
  }
  return model.codec.with_tags(source.tag, target.tag);
}

void require_decoder(const TranslationModel& model, const std::filesystem::path& folder) {
  if (model.options.model.kind != ModelKind::masked_language_model) return;
  throw ConfigError(
      "{}: found a masked language model, which has no decoder, expected a model of kind "
      "translation or language_model; train a translation model with `regard train --init-from {}`",
      folder.string(), shell_word(folder.string()));
}

}  // namespace regard
