// The model of --init-from, with whose options, tokenizers and weights a new run starts
// (docs/transfer.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "checkpoint/folder.h"
#include "config/options.h"
#include "data/text_codec.h"
#include "model/seq2seq.h"
#include "training/data_loader.h"
#include "translation/model_folder.h"

namespace regard {

// Gives each key of `model` and `data.tokenizer` that was not set the value of the initial model,
// or of a checkpoint of a run that started from one. If the kinds of the models differ, of `model`
// only the encoder. Returns the keys whose value changed. Throws ConfigError if one of the models
// is a language model and the other is not.
std::vector<std::string> adopt_options(Options& options, const SourceLocations& set,
                                       Options initial);

// Replaces the options of the tokenizers by those of a model whose tokenizers are used, except
// those of the training: sampling, extend_by and more user symbols.
void keep_tokenizers_of(Options& options, const Options& model);

// The key of a checkpoint's info that names the initial model of its run.
inline constexpr const char* initial_model_key = "initial_model";
// Returns the initial model of the run of a checkpoint; empty if it had none, and if the checkpoint
// is of a version that did not record it.
std::string initial_model_of(const FolderReader& checkpoint);

// The key of a checkpoint's info for the first weights of its run, or of the run from whose model
// it started. Only weights of the same descent have a meaningful mean.
inline constexpr const char* descent_key = "descent";
// Returns the descent of a model, a SHA-256; empty if the folder records none.
std::string descent_of(const FolderReader& model);

class InitialModel {
 public:
  // Throws CheckpointError if the weights are quantized, and the errors of read_model_options() and
  // read_weights().
  explicit InitialModel(const std::filesystem::path& folder);

  const Options& options() const { return options_; }
  std::string descent() const { return descent_of(folder_); }

  // Returns the codec of this model, with the user symbols and the new entries that the
  // options ask for. Calls keep_tokenizers_of(), and warns of options that change. Throws
  // ConfigError if the options contradict each other, and the errors of DataLoader::extend().
  TextCodec take_codec(Options& options, DataLoader& loader);

  // Copies the weights into a model with this codec, whose options may differ as long as the
  // shapes fit. New entries of the vocabularies keep the values of the model. Of a model of another
  // kind, copies the encoder and the embedding: those of a masked language model, whose head has
  // the place of the decoder but is not one. Logs which weights were copied. Throws CheckpointError
  // if names or shapes differ, or if the models have nothing in common.
  void copy_weights(Seq2Seq& model, const Options& options);

 private:
  void copy_common_weights(Seq2Seq& model, const Options& options) const;

  FolderReader folder_;
  Options options_;
  NamedTensors weights_;
  // Entries that take_codec() added to the vocabularies, at their ends.
  std::int64_t added_source_ = 0;
  std::int64_t added_target_ = 0;
};

}  // namespace regard
