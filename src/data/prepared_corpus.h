// A corpus that `regard prepare` tokenized: a folder from which training reads the pairs that it
// needs, in place, so that the corpus may be larger than memory.
//
//     prepared.json      corpora, counts, and size and SHA-256 of every other file; written last
//     config.yaml        the configuration of prepare
//     source.tokenizer, target.tokenizer   only if the tokenizer has a file
//     shard-00000.bin …  the pairs (data/prepared_shard.h), in the order of the corpora
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/thread_pool.h"
#include "config/options.h"
#include "data/corpus_pairs.h"
#include "data/prepared_shard.h"
#include "data/text_codec.h"
#include "data/text_files.h"

namespace regard {

inline constexpr const char* prepared_manifest_name = "prepared.json";
inline constexpr const char* prepared_config_name = "config.yaml";
// Returns the name of the shard of this number.
std::string shard_name(std::size_t number);
// True for the names of the configuration and the tokenizers.
bool is_codec_file(std::string_view name);

// prepared.json.
struct PreparedManifest {
  struct Shard {
    std::string file;
    std::size_t corpus = 0;  // index in data.train
    CorpusReport report;     // of the lines from the end of the shard before
    std::uint64_t bytes = 0;
    std::string sha256;
  };
  struct File {
    std::string name;
    std::string sha256;
  };
  std::vector<File> files;       // config.yaml and tokenizers
  std::vector<TextDigest> text;  // source and target file of each corpus of data.train
  std::vector<Shard> shards;

  CorpusReport report() const;
  // Returns the JSON text, which ends with the SHA-256 of the text with 64 zeros in its place.
  std::string text_of_file() const;
};

// Immutable, so threads can share it.
class PreparedCorpus {
 public:
  // Opens the folder and verifies the manifest, the tokenizers, and the header of each shard; the
  // pairs are verified when they are read. Throws InputError if a file is missing, damaged or of
  // another version.
  explicit PreparedCorpus(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const { return folder_; }
  const Options& options() const { return options_; }
  const TextCodec& codec() const { return codec_; }
  const CorpusReport& report() const { return report_; }
  // Returns the number of pairs up to the end of each corpus of data.train.
  const std::vector<std::int64_t>& corpus_ends() const { return corpus_ends_; }
  bool has_text() const { return has_text_; }
  // Returns a hash of everything in the folder, and the number of pairs of lines that were read.
  TextDigest digest() const { return digest_; }
  // Returns the digests of the text files of corpus `i`, by the paths in options().
  TextDigests text_digests() const;

  std::int64_t size() const { return corpus_ends_.empty() ? 0 : corpus_ends_.back(); }
  // Return the lengths in tokens and the line of pair i. Not verified.
  std::int64_t source_length(std::int64_t i) const;
  std::int64_t target_length(std::int64_t i) const;
  std::int64_t line(std::int64_t i) const;
  // Makes the processor load the lengths of a pair.
  void prefetch_length(std::int64_t i) const;
  // Makes the system read these pairs from the disk in the background, if the corpus may not fit
  // into memory.
  void prefetch(std::span<const std::int64_t> pairs) const;
  // Verifies and returns a pair. Throws InputError if it is damaged.
  CorpusPair pair(std::int64_t i) const;

  // Throws ConfigError if an option that decides which pairs a prepared corpus has was different.
  // With `tokenizer_training`, this includes the options with which tokenizers are trained, and
  // without it only those that say how they encode.
  void check_options(const Options& now, bool tokenizer_training) const;

  // Verifies the hash of every file, on all threads. Throws InputError for the first shard that is
  // damaged.
  void verify(ThreadPool& pool) const;

 private:
  struct Place {
    std::size_t shard;
    std::int64_t i;  // in the shard
  };
  Place place(std::int64_t i) const;

  std::filesystem::path folder_;
  PreparedManifest manifest_;
  Options options_;
  TextCodec codec_;
  CorpusReport report_;
  TextDigest digest_;
  bool has_text_ = false;
  bool exceeds_memory_ = false;
  std::vector<MappedFile> files_;
  std::vector<PreparedShard> shards_;
  std::vector<std::int64_t> shard_ends_;   // number of pairs up to the end of each shard
  std::vector<std::int64_t> corpus_ends_;  // of each corpus of data.train
};

}  // namespace regard
