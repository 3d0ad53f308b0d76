// A parallel corpus in memory, as token ids: 4 bytes per token and 20 per pair. The text itself is
// kept only if it is needed (sub-word sampling, references of the validation set).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "config/data_options.h"
#include "data/text_files.h"
#include "data/tokenizers.h"

namespace regard {

// Counts of the pairs read, kept and skipped. Lengths are those of the pairs kept, in tokens
// without </s>.
struct CorpusReport {
  struct Side {
    std::int64_t tokens = 0;
    std::int64_t unknown = 0;  // <unk> among the tokens
    std::int64_t max_length = 0;
    bool operator==(const Side&) const = default;
  };
  std::int64_t read = 0;
  std::int64_t kept = 0;
  std::int64_t empty = 0;     // one side is blank; skipped in training
  std::int64_t too_long = 0;  // above data.max_length or a LineLimit; skipped, or cut (validation)
  std::int64_t high_ratio = 0;  // ratio of lengths above data.max_ratio; skipped
  Side source;
  Side target;

  double unknown_rate(const Side& side) const;
  double mean_length(const Side& side) const;
  // Adds the counts of other pairs.
  void add(const CorpusReport& other);
  bool operator==(const CorpusReport&) const = default;
};

// A list of lists, stored in one array.
template <typename T>
class FlatLists {
 public:
  FlatLists() = default;
  // `ends` has the end of each list in `items`, in ascending order up to the number of items.
  FlatLists(std::vector<T> items, std::vector<std::size_t> ends)
      : items_(std::move(items)), ends_(std::move(ends)) {}
  void add(std::span<const T> items) {
    items_.insert(items_.end(), items.begin(), items.end());
    ends_.push_back(items_.size());
  }
  void append(const FlatLists& other) {
    const auto offset = items_.size();
    items_.insert(items_.end(), other.items_.begin(), other.items_.end());
    for (const auto end : other.ends_) ends_.push_back(offset + end);
  }
  std::span<const T> operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::span<const T>(items_).subspan(begin, ends_[i] - begin);
  }
  std::size_t size() const { return ends_.size(); }
  const std::vector<T>& items() const { return items_; }
  const std::vector<std::size_t>& ends() const { return ends_; }
  bool operator==(const FlatLists&) const = default;

 private:
  std::vector<T> items_;
  std::vector<std::size_t> ends_;
};

// The pairs of a corpus, and the counts of those read. A list that the model does not use is empty.
struct CorpusPairs {
  FlatLists<std::int32_t> source;
  FlatLists<std::int32_t> target;
  FlatLists<float> numbers;
  FlatLists<std::int32_t> extended_ids;
  FlatLists<char> source_text;
  FlatLists<char> target_text;
  std::vector<std::uint32_t> lines;  // line number of each pair, from 1
  CorpusReport report;

  void append(const CorpusPairs& other);
  bool operator==(const CorpusPairs&) const = default;
};

class Corpus {
 public:
  // Encodes data.train without the pairs skipped for the reasons in CorpusReport, on all threads of
  // the pool; pairs, counts and errors are the same with any number. `files` must contain the files
  // of training_paths(). Throws InputError if the two files of a corpus differ in length, a line
  // has too many elements, or no pair is left; ConfigError if no corpus has a weight above 0, or if
  // an epoch has less than one pair on average.
  static Corpus training(const DataOptions& options, const Tokenizers& tokenizers,
                         const TextFiles& files, ThreadPool& pool);
  // Reads the files itself, on one thread.
  static Corpus training(const DataOptions& options, const Tokenizers& tokenizers);
  // Returns the training corpus with these pairs, encoded before from the same text by the same
  // tokenizers; `part_ends` as returned by part_ends(). Throws ConfigError as above.
  static Corpus training(const DataOptions& options, const Tokenizers& tokenizers,
                         CorpusPairs pairs, std::span<const std::int64_t> part_ends);
  // Encodes every line of data.dev and keeps its text: pair i is line i + 1. Logs a warning if
  // lines are empty, and for each line with too many bytes, which is truncated. Throws InputError
  // if a line has too many elements, or if no pair has text on both sides.
  static Corpus validation(const DataOptions& options, const Tokenizers& tokenizers,
                           const TextFiles& files, ThreadPool& pool);
  static Corpus validation(const DataOptions& options, const Tokenizers& tokenizers);

  std::int64_t size() const { return static_cast<std::int64_t>(pairs_.source.size()); }
  std::span<const std::int32_t> source(std::int64_t i) const { return pairs_.source[index(i)]; }
  std::span<const std::int32_t> target(std::int64_t i) const { return pairs_.target[index(i)]; }
  // See SourceLine. Empty if the model does not use them.
  std::span<const float> numbers(std::int64_t i) const { return list_or_empty(pairs_.numbers, i); }
  std::span<const std::int32_t> extended_ids(std::int64_t i) const {
    return list_or_empty(pairs_.extended_ids, i);
  }
  // Returns the weight of the corpus that pair i belongs to.
  double weight(std::int64_t i) const { return part_of(i).weight; }
  // Returns the lines of these pairs: "data/train.en:12, 40, data/more.en:7".
  std::string source_locations(std::span<const std::int64_t> pairs) const;

  bool has_text() const { return keep_text_; }
  std::string_view source_text(std::int64_t i) const { return text(pairs_.source_text, i); }
  std::string_view target_text(std::int64_t i) const { return text(pairs_.target_text, i); }

  const Tokenizers& tokenizers() const { return tokenizers_; }
  const CorpusReport& report() const { return pairs_.report; }
  const CorpusPairs& pairs() const { return pairs_; }
  // Returns the number of pairs up to the end of each corpus with a weight above 0.
  std::vector<std::int64_t> part_ends() const;

 private:
  // A corpus of data.train: the pairs from the end of the previous one to `end`.
  struct Part {
    std::int64_t end;
    double weight;
    std::string source_path;
  };
  Corpus(const Tokenizers& tokenizers, bool keeps_text)
      : tokenizers_(tokenizers), keep_text_(keeps_text) {}
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  static std::string_view text(const FlatLists<char>& texts, std::int64_t i);
  const Part& part_of(std::int64_t i) const;
  template <typename T>
  static std::span<const T> list_or_empty(const FlatLists<T>& lists, std::int64_t i) {
    return lists.size() == 0 ? std::span<const T>() : lists[index(i)];
  }

  // Throws if the training corpus has too few pairs.
  void check_training(const DataOptions& options) const;
  void check_epoch(const DataOptions& options) const;

  Tokenizers tokenizers_;
  bool keep_text_;
  CorpusPairs pairs_;
  std::vector<Part> parts_;
};

// Calls check_line_counts().
void check_parallel(const TextFile& source, const TextFile& target);

}  // namespace regard
