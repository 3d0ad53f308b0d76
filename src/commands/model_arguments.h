// Which model, and where it runs: the options of every verb that loads one.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "translation/model_folder.h"
#include "translation/translator.h"

namespace regard {

struct ModelArguments {
  std::string model;
  std::string device = "auto";
  std::int64_t threads = 0;
};

// -m, --device and --threads. Returns -m.
CLI::Option* add_model_options(CLI::App& command, ModelArguments& arguments);

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

}  // namespace regard
