// Encoded sentence pairs in memory, and the counts of what was read: 4 bytes per token and 20 per
// pair. The text itself is kept only if it is needed (sub-word sampling, references of the
// validation set).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "data/feature_file.h"

namespace regard {

// A pair of a corpus, in place. See SourceLine for `numbers`, `extended_ids` and `frames`, which
// are empty if the model does not use them.
struct CorpusPair {
  std::span<const std::int32_t> source = {};
  std::span<const std::int32_t> target = {};
  std::span<const float> numbers = {};
  std::span<const std::int32_t> extended_ids = {};
  Frames frames = {};
  std::string_view source_text = {};  // without a tag; empty if the corpus did not keep it
  std::string_view target_text = {};
};

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
  std::int64_t duplicates = 0;  // equal to an earlier pair (data.remove_duplicates); skipped
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

  std::size_t size() const { return source.size(); }
  void append(const CorpusPairs& other);
  // Appends pair i of `other`, but leaves the counts of the report as they are.
  void append_pair(const CorpusPairs& other, std::size_t i);
  bool operator==(const CorpusPairs&) const = default;
};

// The counts as JSON, and back. The latter throws Json::exception.
Json to_json(const CorpusReport& report);
CorpusReport corpus_report_from(const Json& json);

}  // namespace regard
