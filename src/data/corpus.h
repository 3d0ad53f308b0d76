// A parallel corpus as token ids: in memory, or in the folder of a prepared corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "config/data_options.h"
#include "data/corpus_pairs.h"
#include "data/pair_encoder.h"
#include "data/prepared_corpus.h"
#include "data/text_codec.h"
#include "data/text_files.h"

namespace regard {

// A corpus of data.train: the pairs from the end of the previous one to `end`.
struct CorpusPart {
  std::int64_t end = 0;
  double weight = 1;  // how often an epoch uses each pair, on average
  std::string source_path = {};
  const FeatureFile* features = nullptr;  // of the source; null if it is text
  bool has_equal_sides = false;           // source and target are the same file
  std::string source_tag = {};            // the first source token of each pair; empty: none
  std::int32_t first_target = bos_id;     // see TextCodec
};

class Corpus {
 public:
  // Encodes data.train without the pairs skipped for the reasons in CorpusReport, on all threads of
  // the pool; pairs, counts and errors are the same with any number. `files` must contain the files
  // of training_paths(). Throws InputError if the two files of a corpus differ in length, a line
  // has too many elements, or no pair is left; ConfigError if no corpus has a weight above 0, or if
  // an epoch has less than one pair on average.
  static Corpus training(const DataOptions& options, const TextCodec& codec, const TextFiles& files,
                         ThreadPool& pool);
  // Returns the training corpus of data.prepared. The weights are those of data.train or, if that
  // is empty, those at the time of prepare. Throws ConfigError if data.train names other files than
  // prepare read, gives a weight to a corpus that had none, or has weights as above, if
  // sub-word sampling is on and prepare kept no text, and if another option decides which pairs
  // there are and differs.
  static Corpus training(const Options& options, std::shared_ptr<const PreparedCorpus> prepared);
  // Encodes every line of data.dev and keeps its text: pair i is line i + 1. Logs a warning if
  // lines are empty, and for each line with too many bytes, which is truncated. Throws InputError
  // if a line has too many elements, or if no pair has text on both sides.
  static Corpus validation(const DataOptions& options, const TextCodec& codec,
                           const TextFiles& files, ThreadPool& pool);

  std::int64_t size() const {
    return prepared_ ? prepared_->size() : static_cast<std::int64_t>(pairs_.source.size());
  }
  // Throws InputError if the pair is in a prepared corpus and damaged.
  CorpusPair pair(std::int64_t i) const;
  // Return the number of tokens or frames on a side of pair i. They do not read the tokens.
  std::int64_t source_length(std::int64_t i) const;
  std::int64_t target_length(std::int64_t i) const {
    return prepared_ ? prepared_->target_length(i) : std::ssize(pairs_.target[index(i)]);
  }
  // Makes the system read pairs of a large prepared corpus from the disk in the background.
  void prefetch(std::span<const std::int64_t> pairs) const {
    if (prepared_) prepared_->prefetch(pairs);
  }
  // Makes the processor load the lengths of a pair, which are needed soon.
  void prefetch_length(std::int64_t i) const {
    if (prepared_) prepared_->prefetch_length(i);
  }
  // Returns how often an epoch uses pair i, on average: the weight of its corpus, after
  // data.temperature.
  double weight(std::int64_t i) const { return part_of(i).weight; }
  // Returns the corpus of pair i.
  const CorpusPart& part_of(std::int64_t i) const;
  // Returns the corpora, in the order of their pairs.
  const std::vector<CorpusPart>& parts() const { return parts_; }
  // Returns the lines of these pairs: "data/train.en:12, 40, data/more.en:7".
  std::string source_locations(std::span<const std::int64_t> pairs) const;

  // True if the pairs have their text.
  bool has_text() const { return keep_text_; }

  // Those of a validation corpus have its tags.
  const TextCodec& codec() const { return codec_; }
  const CorpusReport& report() const { return pairs_.report; }
  // The pairs in memory; none if the corpus is prepared.
  const CorpusPairs& pairs() const { return pairs_; }
  bool is_prepared() const { return prepared_ != nullptr; }

 private:
  Corpus(const TextCodec& codec, bool keeps_text) : codec_(codec), keep_text_(keeps_text) {}
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  // Adds the part of the pairs up to `end`, which come from this corpus. Throws as
  // FeatureFiles::file() does.
  void add_part(std::int64_t end, const CorpusOptions& options);
  // Completes a training corpus: checks that it has enough pairs, and applies data.temperature.
  void complete(const DataOptions& options);
  void check_epoch(const DataOptions& options) const;

  TextCodec codec_;
  bool keep_text_;
  CorpusPairs pairs_;  // only the report if the corpus is prepared
  std::shared_ptr<const PreparedCorpus> prepared_;
  std::vector<CorpusPart> parts_;
};

}  // namespace regard
