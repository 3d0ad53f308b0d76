// Loads the data of a run: codec and corpora, from the cache of the run folder
// (data/corpus_cache.h) if its inputs are still the same, or else from the text, of which each file
// is read once (data/text_files.h). With data.prepared, codec and pairs are those of a
// prepared corpus.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "base/thread_pool.h"
#include "config/options.h"
#include "data/corpus.h"
#include "data/corpus_cache.h"
#include "data/prepared_corpus.h"
#include "data/text_codec.h"
#include "data/text_files.h"

namespace regard {

class DataLoader {
 public:
  // Opens data.prepared, if it is set: its codec and pairs take the place of those of the
  // text. Otherwise hashes the files of data.train, or reads them if the cache in `run_folder` does
  // not have their text, and reads those of data.dev. Throws InputError if a file cannot be read or
  // the files of a corpus differ in their number of lines. The options and the pool must outlive
  // this.
  DataLoader(const Options& options, const std::filesystem::path& run_folder, ThreadPool& pool);

  // Sets an empty `train` to the corpora of data.prepared, so that a model knows its tags.
  void complete(DataOptions& data) const;
  // Throws as make_text_codec() does.
  TextCodec make_codec();
  // Returns the codec with data.tokenizer.extend_by more entries. Throws as
  // extend_text_codec() does, and ConfigError with data.prepared.
  TextCodec extend(const Options& options, const TextCodec& codec);
  // Throw as Corpus::training() and Corpus::validation() do. `options` may differ from those of the
  // constructor in data.tokenizer. training() throws CheckpointError if the pairs of data.prepared
  // were made by other tokenizers.
  Corpus training(const Options& options, const TextCodec& codec);
  Corpus validation(const Options& options, const TextCodec& codec);

  // Returns the digests of the files of data.train and data.dev, and of data.prepared.
  const TextDigests& digests() const { return digests_; }
  // True if training() did not tokenize, so that there is nothing to cache.
  bool used_cache() const { return used_cache_; }
  // True if the tokenizers were trained on the text of data.train, now or for the cache.
  bool trained_tokenizers() const { return trained_tokenizers_; }

 private:
  void read_training_files();
  const TextFiles& training_files();

  const Options& options_;
  ThreadPool& pool_;
  std::shared_ptr<const PreparedCorpus> prepared_;  // null without data.prepared
  CorpusCache cache_;
  TextDigests digests_;
  std::optional<TextFiles> files_;  // of data.train, if they were read
  std::optional<TextFiles> dev_files_;
  bool used_cache_ = false;
  bool trained_tokenizers_ = false;
};

}  // namespace regard
