#include "training/initial_model.h"

#include <fmt/ranges.h>
#include <torch/utils.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "config/check.h"
#include "config/reader.h"
#include "config/writer.h"
#include "optim/optimizer.h"

namespace regard {
namespace {

// Returns a line for each option of a section that differs, except dropout.
std::string model_differences(const Options& before, const Options& options,
                              std::string_view section) {
  auto differences = option_differences(before, options);
  std::erase_if(differences, [&](const auto& difference) {
    return !difference.is_at(section) || difference.is_at("model.dropout");
  });
  return differences_text(differences);
}

// Returns true if the rows of `from` are the first ones of `to`: the tensor of a vocabulary that
// has been extended.
bool has_more_rows(const torch::Tensor& to, const torch::Tensor& from, std::int64_t added) {
  return added > 0 && to.dim() > 0 && to.dim() == from.dim() &&
         to.size(0) == from.size(0) + added && to.sizes().slice(1) == from.sizes().slice(1);
}

// Extends the tensors of an initial model whose vocabulary is smaller by new rows, with the initial
// values of the model. Returns their names.
std::vector<std::string> add_new_rows(const Seq2Seq& model, NamedTensors& weights,
                                      std::int64_t added_source, std::int64_t added_target) {
  std::vector<std::string> extended;
  const auto parameters = model.named_parameters();
  for (auto& [name, saved] : weights) {
    const auto* parameter = parameters.find(name);
    if (parameter == nullptr) continue;
    const bool is_source = name == "source_embedding";
    const auto added = is_source ? added_source : added_target;
    if (!has_more_rows(*parameter, saved, added)) continue;
    const auto new_rows = parameter->detach().narrow(0, saved.size(0), added);
    saved = torch::cat({saved, new_rows.to(saved.options())});
    extended.push_back(name);
  }
  return extended;
}

// The rows of new entries have random values, which a frozen tensor keeps. `extended`: the tensors
// with new rows.
void warn_of_frozen_rows(const Seq2Seq& model, const std::vector<std::string>& extended,
                         const TrainingOptions& options) {
  std::vector<std::string> frozen;
  const auto parameters = parameters_of(model);
  const auto factors = learning_rate_factors(options, parameters);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& name = parameters[i].first;
    if (factors[i] == 0 && std::ranges::count(extended, name) > 0) frozen.push_back(name);
  }
  if (frozen.empty()) return;
  log::warning(
      "training.freeze: the new rows of {} keep their random values, so the model learns nothing "
      "of the new entries; remove the pattern, or add no entries (data.tokenizer.extend_by, "
      "user_symbols)",
      fmt::join(frozen, ", "));
}

// Returns the symbols of the initial model, followed by those that the configuration adds.
std::vector<std::string> joined_symbols(std::vector<std::string> all,
                                        const std::vector<std::string>& added) {
  for (const auto& symbol : added) {
    if (std::ranges::count(all, symbol) == 0) all.push_back(symbol);
  }
  return all;
}

}  // namespace

std::vector<std::string> adopt_options(Options& options, const SourceLocations& set,
                                       Options initial) {
  const auto kind = options.model.kind;
  const auto of_initial = initial.model.kind;
  const auto is_language_model = [](ModelKind k) { return k == ModelKind::language_model; };
  if (kind != of_initial && (is_language_model(kind) || is_language_model(of_initial))) {
    throw ConfigError(
        "--init-from: found a model of kind {}, but model.kind is {}: a language model has only a "
        "target vocabulary; start from a model of the same kind",
        enum_name(of_initial), enum_name(kind));
  }
  auto& symbols = options.data.tokenizer.user_symbols;
  if (!symbols.empty()) symbols = joined_symbols(initial.data.tokenizer.user_symbols, symbols);
  // Paths on the machine where the model was trained, and options of this training.
  auto& tokenizer = initial.data.tokenizer;
  tokenizer.src_file = tokenizer.trg_file = "";
  tokenizer.sampling = options.data.tokenizer.sampling;
  tokenizer.extend_by = options.data.tokenizer.extend_by;
  auto adopted = adopt_unset(options, initial, set, "data.tokenizer");
  const bool is_same_kind = initial.model.kind == options.model.kind;
  initial.model.kind = options.model.kind;
  const auto of_model =
      adopt_unset(options, initial, set, is_same_kind ? "model" : "model.encoder");
  adopted.insert(adopted.end(), of_model.begin(), of_model.end());
  return adopted;
}

void keep_tokenizers_of(Options& options, const Options& model) {
  auto kept = model.data.tokenizer;
  const auto& own = options.data.tokenizer;
  kept.sampling = own.sampling;
  kept.extend_by = own.extend_by;
  kept.user_symbols = joined_symbols(kept.user_symbols, own.user_symbols);
  options.data.tokenizer = kept;
}

namespace {

std::string text_in(const Json& info, const char* key) {
  const auto found = info.value(key, Json());
  return found.is_string() ? found.get<std::string>() : "";
}

}  // namespace

std::string initial_model_of(const FolderReader& checkpoint) {
  return text_in(checkpoint.info(), initial_model_key);
}

std::string descent_of(const FolderReader& model) {
  return text_in(model.info(), descent_key);
}

InitialModel::InitialModel(const std::filesystem::path& path)
    : folder_(path), options_(read_model_options(folder_)), weights_(read_weights(folder_)) {
  check_not_quantized(folder_);
}

void InitialModel::copy_common_weights(Seq2Seq& model, const Options& options) const {
  const auto where = folder_.path().string();
  const auto kind = enum_name(options_.model.kind);
  const torch::NoGradGuard guard;
  const std::map<std::string, torch::Tensor> saved(weights_.begin(), weights_.end());
  std::vector<std::pair<torch::Tensor, torch::Tensor>> copies;  // to, from
  std::vector<std::string> started_anew;                        // modules
  for (const auto& [name, tensor] : parameters_of(model)) {
    const auto found = saved.find(name);
    if (found == saved.end() || name.starts_with("decoder.")) {
      const auto module = name.substr(0, name.find('.'));
      if (started_anew.empty() || started_anew.back() != module) started_anew.push_back(module);
      continue;
    }
    if (found->second.sizes() != tensor.sizes()) {
      throw CheckpointError(
          "{}: this model of kind {} has `{}` of the shape [{}], but this configuration expects "
          "[{}]; make the sizes of both models equal",
          where, kind, name, fmt::join(found->second.sizes(), ", "),
          fmt::join(tensor.sizes(), ", "));
    }
    copies.emplace_back(tensor, found->second);
  }
  if (copies.empty()) {
    throw CheckpointError("{}: this model of kind {} has no tensor that this configuration expects",
                          where, kind);
  }
  for (auto& [to, from] : copies) to.copy_(from);
  log::info("loaded {} from {}, a model of kind {}. New: {}",
            counted(copies.size(), "initial tensor"), where, kind,
            started_anew.empty() ? "none" : fmt::format("{}", fmt::join(started_anew, ", ")));
  const auto differences = model_differences(options_, options, "model.encoder");
  if (!differences.empty()) {
    log::warning("{}: the weights fit, but come from an encoder with other options:{}", where,
                 differences);
  }
}

void InitialModel::copy_weights(Seq2Seq& model, const Options& options) {
  const auto extended = add_new_rows(model, weights_, added_source_, added_target_);
  if (options.data.tokenizer.extend_by > 0 && added_source_ == 0 && added_target_ == 0) {
    log::warning(
        "data.tokenizer.extend_by: data.train teaches no new entry; the vocabularies remain those "
        "of {}",
        folder_.path().string());
  }
  if (!extended.empty()) {
    log::info("{} and {} are new in the vocabularies of source and target: new rows of {}",
              counted(added_source_, "entry"), added_target_, fmt::join(extended, ", "));
  }
  warn_of_frozen_rows(model, extended, options.training);
  if (options_.model.kind != options.model.kind) {
    return copy_common_weights(model, options);
  }
  const auto where = folder_.path().string();
  const auto differences = model_differences(options_, options, "model");
  try {
    load_weights(model, weights_, where);
  } catch (const CheckpointError& error) {
    if (differences.empty()) throw;
    throw CheckpointError("{}\nIts model options differ from this configuration:{}", error.what(),
                          differences);
  }
  log::info("loaded initial weights from {}: all {}", where, counted(weights_.size(), "tensor"));
  if (!differences.empty()) {
    log::warning("{}: the weights fit, but come from a model with other options:{}", where,
                 differences);
  }
}

TextCodec InitialModel::take_codec(Options& options, DataLoader& loader) {
  const Options before = options;
  keep_tokenizers_of(options, options_);
  options.data.tokenizer.src_file = options.data.tokenizer.trg_file = "";  // of another machine
  for (const auto& difference : option_differences(before, options)) {
    if (difference.is_at("data.tokenizer.user_symbols")) continue;  // the symbols of both
    log::warning("using the tokenizers of {}: {}", folder_.path().string(), difference.text());
  }
  check_options(options);
  const auto own = read_codec(folder_, options_);
  auto codec = read_codec(folder_, options);
  if (options.data.tokenizer.extend_by > 0) codec = loader.extend(options, codec);
  added_source_ = codec.source->size() - own.source->size();
  added_target_ = codec.target->size() - own.target->size();
  return codec;
}

}  // namespace regard
