// Writes the folder of a prepared corpus (data/prepared_corpus.h) for `regard prepare`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/thread_pool.h"
#include "config/options.h"
#include "data/corpus_pairs.h"

namespace regard {

struct PrepareResult {
  std::vector<CorpusReport> corpora;  // of data.train; of weight 0: nothing read
  CorpusReport all;
  std::size_t shards = 0;
  std::uint64_t bytes = 0;  // of all shards
};

// Limits on the size of a shard. It ends with the first range of lines that exceeds one.
struct ShardLimits {
  std::int64_t lines = std::int64_t{1} << 19;
  std::uint64_t bytes = std::uint64_t{64} << 20;  // about
};

// Trains or loads the tokenizers and encodes the corpora of data.train into the folder, on all
// threads. Writes prepared.json at the end. The bytes of the folder do not depend on the number of
// threads. Memory: two shards, 16 MB for each thread, the text of small corpora (TextFiles), and 9
// to 14 bytes for each pair with data.remove_duplicates.
//
// Throws ConfigError if the path is a file, or a folder with other files than those of a prepare
// that was stopped; EnvironmentError if it cannot be written or another process prepares it; and
// the errors of make_text_codec() and Corpus::training().
PrepareResult prepare_corpus(const Options& options, const std::filesystem::path& folder,
                             ThreadPool& pool, const ShardLimits& limits = {});

}  // namespace regard
