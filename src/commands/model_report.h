// The report of `regard info` about a model folder and the training run that it belongs to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "config/model_options.h"
#include "report/run_logs.h"
#include "translation/model_folder.h"

namespace regard {

struct RunReport {
  std::filesystem::path path;
  Json manifest;  // data, versions, command of the run; an empty object if there is none
  ValidationTable validations;
  std::vector<std::int64_t> checkpoints;
  std::optional<std::filesystem::path> best;
  std::optional<std::filesystem::path> last;
};

struct ModelReport {
  std::filesystem::path path;  // the folder with the weights
  TranslationModel model;
  Json checkpoint;  // step and epoch; an empty object if the folder has none
  std::optional<RunReport> run;
};

// `path` is a run folder or a model folder. Throws the errors of resolve_model() and load_model().
ModelReport read_model_report(const std::filesystem::path& path);

std::string to_text(const ModelReport& report);
Json to_json(const ModelReport& report);

// Describes the layers: "attention  additive, size 512\nencoder  …\ndecoder  …\n"
std::string layers_text(const ModelOptions& options);

// Returns the kind of the attention to the source; multi_head for a Transformer decoder.
std::string attention_kind(const ModelOptions& options);

}  // namespace regard
