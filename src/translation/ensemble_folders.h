// Loads the models in one or several folders. Several are an ensemble: one model, with the options
// and the codec of the first.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "translation/model_folder.h"

namespace regard {

struct EnsembleSettings {
  std::string mean = "log_linear";      // of log-probabilities; or linear, of probabilities
  std::vector<double> weights = {};     // one for each model, above 0; empty: equal weights
  std::string options = "--ensemble-";  // the names of both begin with this in messages
};

// Throws ConfigError unless the settings are those of an ensemble of so many models.
void check_ensemble(const EnsembleSettings& settings, std::size_t models);

// Loads the models, each a run folder or a model folder, which it replaces by the folder of its
// model. Throws the errors of resolve_model(), load_model(), require_decoder() and
// check_ensemble(), and ConfigError if the models differ in vocabularies or in what they read.
// Warns of opposite directions.
TranslationModel load_ensemble(std::vector<std::filesystem::path>& models, torch::Device device,
                               const EnsembleSettings& settings = {});

// Returns source and target language (en, fr) from the names of the training files, or empty
// strings if the names do not tell.
std::pair<std::string, std::string> languages(const Options& options);

}  // namespace regard
