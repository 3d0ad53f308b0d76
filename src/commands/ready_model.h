// The model a command line names, loaded and ready to translate.
#pragma once

#include <filesystem>
#include <memory>

#include "cli/model_arguments.h"
#include "config/testing_options.h"
#include "translation/model_folder.h"
#include "translation/translator.h"

namespace regard {

struct ReadyModel {
  std::filesystem::path path;
  torch::Device device;
  std::unique_ptr<Workers> workers;
  TranslationModel loaded;

  Translator translator() const { return {loaded.model, loaded.tokenizers, device, *workers}; }
};

// Makes the workers too, so it comes before the first tensor. Errors as of resolve_model(),
// find_device() and load_model().
ReadyModel load_model(const ModelArguments& arguments);

// ConfigError where the options contradict each other or the model.
void check_search(const TestingOptions& options, const ReadyModel& model);

}  // namespace regard
