// Codecs and corpora of small files, which are read on one thread.
#pragma once

#include "base/thread_pool.h"
#include "data/corpus.h"
#include "data/text_codec.h"
#include "data/text_files.h"

namespace regard {

inline TextCodec make_text_codec(const DataOptions& options, const ModelOptions& model = {}) {
  ThreadPool pool;
  const TextFiles files(training_paths(options), pool, TextFiles::default_memory, options.source);
  return make_text_codec(options, model, files, pool, /*threads=*/0);
}

inline Corpus training_corpus(const DataOptions& options, const TextCodec& codec) {
  ThreadPool pool;
  const TextFiles files(training_paths(options), pool, TextFiles::default_memory, options.source);
  return Corpus::training(options, codec, files, pool);
}

inline Corpus validation_corpus(const DataOptions& options, const TextCodec& codec) {
  ThreadPool pool;
  const TextFiles files({options.dev.src, options.dev.trg}, pool, TextFiles::default_memory,
                        options.source);
  return Corpus::validation(options, codec, files, pool);
}

}  // namespace regard
