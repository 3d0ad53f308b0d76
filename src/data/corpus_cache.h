// The tokenized training corpus and the tokenizers that were trained on it, in one file of the run
// folder, so that a later start of the run neither trains nor tokenizes again.
//
//     "regard corpus cache\n", SHA-256 of the header, length of the header, "\n"   (fixed size)
//     header: JSON with the inputs, the tokenizers, and size and SHA-256s of each array
//     arrays: tokens, ends, line numbers, …, each at a multiple of 64 bytes
//
// The header names everything that determines the content: the SHA-256 of each corpus file, the
// tokenizers, the options, and the versions of regard and of this format. The cache is used only if
// all of it is the same now, and every byte is verified: 8 MB at a time, on all threads. A file
// that is missing, damaged or made from other inputs is no error; it is as if there were none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/thread_pool.h"
#include "config/data_options.h"
#include "config/model_options.h"
#include "data/corpus.h"
#include "data/text_codec.h"
#include "data/text_files.h"

namespace regard {

// Increase it when the same text and options lead to other tokens or tokenizers than before.
inline constexpr int corpus_cache_format = 2;

// The name of the file in a run folder.
inline constexpr const char* corpus_cache_name = "corpus.cache";

class CorpusCache {
 public:
  // Reads and verifies the header.
  explicit CorpusCache(std::filesystem::path path);

  // Returns the digests of these files. Returns nullopt if a file is not one that the cache was
  // made from: then all must be read.
  std::optional<TextDigests> digests_of(const std::vector<std::string>& paths,
                                        ThreadPool& pool) const;

  // Return what the cache was made for, if it was made from the same inputs; `digests` must have
  // the files of data.train.
  std::optional<TextCodec> codec(const DataOptions& options, const ModelOptions& model,
                                 const TextDigests& digests, ThreadPool& pool) const;
  std::optional<Corpus> corpus(const DataOptions& options, const ModelOptions& model,
                               const TextCodec& codec, const TextDigests& digests,
                               ThreadPool& pool) const;

  // Replaces the file, atomically. `trained`: the tokenizers were trained on these files. Throws
  // EnvironmentError.
  static void write(const std::filesystem::path& path, const DataOptions& options,
                    const ModelOptions& model, const Corpus& corpus, bool trained,
                    const TextDigests& digests, ThreadPool& pool);

 private:
  std::filesystem::path path_;
  Json header_;                                // null if there is no usable file
  std::uint64_t begin_ = 0;                    // of the arrays in the file
  std::map<std::string, std::int64_t> lines_;  // of each corpus file, by its SHA-256
};

}  // namespace regard
