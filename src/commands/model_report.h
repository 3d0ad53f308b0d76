// All there is to say about a model folder and, where it belongs to one, its training run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "report/journal.h"
#include "translation/model_folder.h"

namespace regard {

struct RunReport {
  std::filesystem::path path;
  Json manifest;  // of the run: data, versions, command; an empty object where there is none
  Validations validations;
  std::vector<std::int64_t> checkpoints;
  std::optional<std::filesystem::path> best;
  std::optional<std::filesystem::path> last;
};

struct ModelReport {
  std::filesystem::path path;  // the folder with the weights
  TranslationModel model;
  Json checkpoint;  // step and epoch; an empty object where the folder does not say
  std::optional<RunReport> run;
};

// `path` is a run folder or a model folder. Errors as of resolve_model() and load_model().
ModelReport report_on(const std::filesystem::path& path);

std::string to_text(const ModelReport& report);
Json to_json(const ModelReport& report);

}  // namespace regard
