// What one training needs, made from its options in order: device, workers, tokenizers, data,
// model.
#pragma once

#include <torch/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/workers.h"
#include "checkpoint/folder.h"
#include "config/options.h"
#include "data/batches.h"
#include "data/corpus.h"
#include "data/tokenizers.h"
#include "model/seq2seq.h"

namespace regard {

struct Setup {
  Options options;
  torch::Device device = torch::kCPU;
  std::unique_ptr<Workers> workers;
  std::optional<FolderReader> checkpoint;  // what the run goes on from
  Tokenizers tokenizers;
  std::optional<Corpus> corpus;
  std::optional<Corpus> dev;
  std::shared_ptr<Seq2Seq> model;
};

// To go on from the checkpoint `last`; else to begin, with the weights and tokenizers of the model
// `init_from` where that is not empty. Logs what the data and the model are, and what has changed
// since the run last trained; CheckpointError where it cannot go on with these options.
Setup make_setup(const Options& options, const std::optional<std::filesystem::path>& last,
                 const std::string& init_from);

// data.tokenizer.sampling, as far as the model has positions.
Sampling sampling_for(const Options& options, const Seq2Seq& model);

// To this checkpoint of the run, as if it had been resumed from there.
void go_back(Setup& setup, const std::filesystem::path& checkpoint);

}  // namespace regard
