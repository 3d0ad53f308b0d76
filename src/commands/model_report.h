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

struct RunSummary {
  std::filesystem::path path;
  Json manifest;  // data, versions, command of the run; an empty object if there is none
  ValidationTable validations;
  std::vector<std::int64_t> checkpoints;      // their steps, ascending
  std::optional<std::filesystem::path> best;  // folder of the checkpoint
  std::optional<std::filesystem::path> last;
};

struct ModelReport {
  std::filesystem::path path;  // the folder with the weights
  TranslationModel model;
  Json checkpoint;                // step and epoch; an empty object if the folder has none
  std::optional<RunSummary> run;  // empty if `path` is not a run folder
};

// Reads the report of `path`, a run folder or a model folder. Throws the errors of resolve_model(),
// load_model(), read_run_manifest() and read_validations().
ModelReport read_model_report(const std::filesystem::path& path);

std::string to_text(const ModelReport& report);
Json to_json(const ModelReport& report);

// Describes the layers: "attention  additive, size 512\nencoder  …\ndecoder  …\n"
std::string layers_text(const ModelOptions& options);

// Returns the number of parameters, each counted once.
std::int64_t parameter_count(const Seq2Seq& model);

// Returns the kind of the attention to the source; multi_head for a Transformer decoder.
std::string attention_kind(const ModelOptions& options);

}  // namespace regard
