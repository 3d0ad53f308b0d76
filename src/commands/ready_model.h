// Loads the models named on the command line, ready to translate.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "metrics/alignment.h"
#include "translation/model_folder.h"
#include "translation/translator.h"

namespace regard {

// An ensemble is one model, with the path, options and tokenizers of its first member.
struct ReadyModel {
  std::filesystem::path path;
  std::size_t members = 1;
  torch::Device device;
  kernels::Precision precision;
  std::unique_ptr<ThreadPool> pool;
  TranslationModel loaded;

  Translator translator() const {
    return {loaded.model, loaded.tokenizers, device, *pool, precision};
  }
};

// Also creates the thread pool, so it must be called before the first tensor is made. Throws the
// errors of resolve_model(), find_device() and load_model(), and ConfigError if models of an
// ensemble do not match.
ReadyModel prepare_model(const ModelArguments& arguments);

// Return the lines of the file `path` as the model reads them. Cut lines that are too long to be
// sentences, with a warning, or throw InputError (data/line_checks.h).
std::vector<std::string> cut_source_lines(const ReadyModel& model, std::vector<std::string> lines,
                                          const std::string& path);
std::vector<std::string> cut_target_lines(const ReadyModel& model, std::vector<std::string> lines,
                                          const std::string& path);

// Returns the word alignments of the best hypotheses, empty without a hypothesis. Needs their
// attention weights.
std::vector<Alignment> alignments_of(const ReadyModel& model,
                                     const std::vector<Translation>& translations);

}  // namespace regard
