// Creates the parts of a training run from its options: device, threads, codec, data, model.
#pragma once

#include <torch/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/thread_pool.h"
#include "checkpoint/folder.h"
#include "checkpoint/safetensors.h"
#include "config/options.h"
#include "data/batch_sampler.h"
#include "data/corpus.h"
#include "data/hallucination.h"
#include "data/text_codec.h"
#include "data/text_files.h"
#include "model/seq2seq.h"
#include "training/process_group.h"

namespace regard {

struct Setup {
  Options options;
  torch::Device device = torch::kCPU;
  std::unique_ptr<ThreadPool> pool;
  std::optional<FolderReader> checkpoint;  // of a resumed run
  TextCodec codec;
  std::optional<Corpus> corpus;
  Hallucination hallucination;  // of `corpus`
  std::optional<Corpus> dev;
  TextDigests digests;  // of the files of data.train and data.dev
  std::shared_ptr<Seq2Seq> model;
  std::string descent;  // of the weights (initial_model.h); empty for weights drawn by this run
};

// Prepares a run. If `last` is given, the run resumes from this checkpoint. A new run starts with
// the weights and tokenizers of `init_from` (empty: none). A resumed run keeps those it started
// with. Logs tables of the data and the model, and options that changed since the last session.
// Throws CheckpointError if the run cannot resume with these options. `group` must be that of the
// trainer.
Setup make_setup(const Options& options, const std::optional<std::filesystem::path>& last,
                 const std::string& init_from, ProcessGroup& group);

// Returns the SHA-256 of the values.
std::string digest_of(const NamedTensors& tensors);

// Throws ConfigError if a pattern of training.freeze or training.learning_rates matches no
// parameter of the configured model. Reads no text, because the names do not depend on the
// vocabularies.
void check_parameter_patterns(const Options& options);

// Returns the batches of the training, with data.tokenizer.sampling limited to lengths for which
// the model has positions. `setup` must outlive it.
BatchSampler make_sampler(const Setup& setup);

// Loads this checkpoint of the run, as if the run had been resumed from it.
void roll_back(Setup& setup, const std::filesystem::path& checkpoint);

}  // namespace regard
