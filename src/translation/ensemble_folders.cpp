#include "translation/ensemble_folders.h"

#include <cmath>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "checkpoint/run_folder.h"
#include "data/corpus_statistics.h"
#include "model/ensemble.h"

namespace regard {
namespace {

EnsembleMean mean_of(const EnsembleSettings& settings) {
  if (settings.mean == "log_linear") return EnsembleMean::log_linear;
  if (settings.mean == "linear") return EnsembleMean::linear;
  throw ConfigError("{}mean: found `{}`, expected log_linear or linear", settings.options,
                    settings.mean);
}

void check_compatible(const TranslationModel& first, const std::filesystem::path& first_path,
                      const TranslationModel& other, const std::filesystem::path& other_path) {
  const auto reject = [&](const std::string& what, const char* remedy) {
    throw ConfigError("the {} of {} differs from that of {}, so they cannot be an ensemble; {}",
                      what, other_path.string(), first_path.string(), remedy);
  };
  const auto differ = [](const auto& a, const auto& b) {
    return a->serialized() != b->serialized();
  };
  constexpr auto share_vocabulary =
      "train both with the same data.tokenizer.src_file and trg_file, or one with --init-from the "
      "other";
  if (differ(first.codec.source, other.codec.source)) {
    reject("source vocabulary", share_vocabulary);
  }
  if (differ(first.codec.target, other.codec.target)) {
    reject("target vocabulary", share_vocabulary);
  }
  constexpr auto same_value = "train both with the same value";
  const auto &a = first.options.model.encoder, &b = other.options.model.encoder;
  if (first.codec.output != other.codec.output) reject("model.output.kind", same_value);
  if (a.numbers != b.numbers) reject("model.encoder.numbers", same_value);
  if (first.options.data.source != other.options.data.source) reject("data.source", same_value);
  if (frames_per_state(a) != frames_per_state(b)) {
    reject("number of frames of an encoder state (model.encoder.frame_stacking, layers)",
           same_value);
  }
  if (a.image_height != b.image_height) reject("model.encoder.image_height", same_value);
  if (grid_of(a) != grid_of(b)) {
    reject("grid of encoder states (model.encoder.image_channels, layers)", same_value);
  }
  if (first.options.data.tokenizer.lowercase != other.options.data.tokenizer.lowercase) {
    reject("data.tokenizer.lowercase", same_value);
  }
}

// Models of opposite directions with a joint vocabulary are compatible otherwise.
void warn_of_other_direction(const TranslationModel& first, const std::filesystem::path& first_path,
                             const TranslationModel& other,
                             const std::filesystem::path& other_path) {
  const auto [source, target] = languages(first.options);
  const auto [from, to] = languages(other.options);
  if (source.empty() || source != to || target != from) return;
  log::warning("{}: trained from {} to {}, but {} from {} to {}; an ensemble needs one direction",
               other_path.string(), from, to, first_path.string(), source, target);
}

}  // namespace

void check_ensemble(const EnsembleSettings& settings, std::size_t models) {
  mean_of(settings);
  const auto& weights = settings.weights;
  if (!weights.empty() && weights.size() != models) {
    throw ConfigError("{}weights: found {}, expected one for each of {}", settings.options,
                      weights.size(), counted(models, "model"));
  }
  double sum = 0;
  for (const auto weight : weights) {
    sum += weight;
    if (weight > 0 && std::isfinite(sum)) continue;
    throw ConfigError("{}weights: found {}, expected numbers above 0 with a finite sum",
                      settings.options, weight);
  }
}

TranslationModel load_ensemble(std::vector<std::filesystem::path>& models, torch::Device device,
                               const EnsembleSettings& settings) {
  check_ensemble(settings, models.size());
  const auto load = [&](std::filesystem::path& path) {
    return retry_if_removed([&, given = path] {
      path = resolve_model(given);
      auto model = load_model(path, device);
      require_decoder(model, path);
      return model;
    });
  };
  auto first = load(models.at(0));
  if (models.size() == 1) return first;
  std::vector<std::shared_ptr<Seq2Seq>> members = {first.model};
  for (std::size_t m = 1; m < models.size(); ++m) {
    auto other = load(models[m]);
    check_compatible(first, models[0], other, models[m]);
    warn_of_other_direction(first, models[0], other, models[m]);
    members.push_back(std::move(other.model));
  }
  first.model = std::make_shared<Ensemble>(std::move(members), mean_of(settings), settings.weights);
  first.model->eval();
  return first;
}

std::pair<std::string, std::string> languages(const Options& options) {
  const auto& train = options.data.train;
  if (train.empty()) return {};
  const std::pair both = {language_from_path(train[0].src), language_from_path(train[0].trg)};
  return both.first == both.second ? std::pair<std::string, std::string>() : both;
}

}  // namespace regard
