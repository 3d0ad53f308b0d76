// The model a command line names, loaded and ready to translate.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/model_arguments.h"
#include "metrics/alignment_error.h"
#include "translation/model_folder.h"
#include "translation/translator.h"

namespace regard {

// Of an ensemble the first model's path, options and tokenizers; its members are one model.
struct ReadyModel {
  std::filesystem::path path;
  std::size_t members = 1;
  torch::Device device;
  std::unique_ptr<Workers> workers;
  TranslationModel loaded;

  Translator translator() const { return {loaded.model, loaded.tokenizers, device, *workers}; }
};

// Makes the workers too, so it comes before the first tensor. Errors as of resolve_model(),
// find_device() and load_model(); ConfigError where models do not go together.
ReadyModel load_model(const ModelArguments& arguments);

// Returns the lines of the file `path` as the model reads them. Cuts those that are too long to be
// sentences, with a warning, or throws InputError (data/line_checks.h).
std::vector<std::string> readable_source(const ReadyModel& model, std::vector<std::string> lines,
                                         const std::string& path);
std::vector<std::string> readable_target(const ReadyModel& model, std::vector<std::string> lines,
                                         const std::string& path);

// The word alignments of the best hypotheses, whose weights were wanted; none where there is none.
std::vector<Alignment> alignments_of(const ReadyModel& model,
                                     const std::vector<Translation>& translations);

}  // namespace regard
