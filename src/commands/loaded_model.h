// Loads the models named on the command line, ready to translate.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "metrics/alignment.h"
#include "translation/model_folder.h"
#include "translation/translator.h"

namespace regard {

// An ensemble is one model, with the path, options and codec of its first member.
struct LoadedModel {
  std::filesystem::path path;
  std::size_t members = 1;
  torch::Device device;
  kernels::Precision precision;
  std::unique_ptr<ThreadPool> pool;
  TranslationModel contents;  // of the model folder

  // Throws the errors of Shortlist and check_shortlist() if a shortlist is given.
  Translator translator(const ShortlistOptions& shortlist = {}) const;
};

// Must be called before the first tensor is created, because it creates the thread pool
// (make_thread_pool()). Throws the errors of resolve_model(), find_device(), find_precision() and
// load_model(), and ConfigError if the models of an ensemble, or the language model of a fusion,
// differ in their vocabularies. Warns of an ensemble of opposite directions.
LoadedModel load_models(const ModelArguments& arguments);

// Returns how to read `source`: as features if it is a file of features and the first model reads
// features, which its configuration says, else as text. Throws the errors of resolve_model() and
// read_model_options().
SourceKind source_kind(const ModelArguments& arguments, const std::string& source);

// Return the lines of the file `path` as the model reads them: cut lines that are too long to be
// sentences, with a warning. Throw InputError for a line with too many elements
// (data/line_checks.h).
std::vector<std::string> truncate_source_lines(const LoadedModel& model,
                                               std::vector<std::string> lines,
                                               const std::string& path);
std::vector<std::string> truncate_target_lines(const LoadedModel& model,
                                               std::vector<std::string> lines,
                                               const std::string& path);

// Throws ConfigError if `output` is one of the `models` that the command reads, or a training run.
// Throws the errors of check_output_path() and check_replaceable(). `command` is named in messages.
void check_model_output(std::string_view command, const std::vector<std::filesystem::path>& models,
                        const std::filesystem::path& output);

// Throws ConfigError, with the name of the command, for a language model, which translates nothing.
void require_translation(const LoadedModel& model, const char* command);

// Returns the word alignments of the best hypotheses, empty without a hypothesis. Needs their
// attention weights.
std::vector<Alignment> alignments_of(const LoadedModel& model,
                                     const std::vector<Translation>& translations);

}  // namespace regard
