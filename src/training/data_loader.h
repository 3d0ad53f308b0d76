// Loads the data of a run: codec and corpora, from the text, of which each file is read once
// (data/text_files.h). With data.prepared, codec and pairs are those of a prepared corpus.
#pragma once

#include <memory>
#include <optional>

#include "base/thread_pool.h"
#include "config/options.h"
#include "data/corpus.h"
#include "data/prepared_corpus.h"
#include "data/text_codec.h"
#include "data/text_files.h"

namespace regard {

class DataLoader {
 public:
  // Opens data.prepared, if it is set: its codec and pairs take the place of those of the
  // text. Otherwise reads the files of data.train. Reads those of data.dev. Throws InputError if a
  // file cannot be read or the files of a corpus differ in their number of lines. The options and
  // the pool must outlive this.
  DataLoader(const Options& options, ThreadPool& pool);

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

 private:
  const Options& options_;
  ThreadPool& pool_;
  std::shared_ptr<const PreparedCorpus> prepared_;  // null without data.prepared
  TextDigests digests_;
  std::optional<TextFiles> files_;  // of data.train; none with data.prepared
  std::optional<TextFiles> dev_files_;
};

}  // namespace regard
