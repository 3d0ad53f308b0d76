// A parallel corpus in memory, as token ids: 4 bytes per token and 20 per pair. The text itself is
// kept only if it is needed (sub-word sampling, references of the validation set).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/data_options.h"
#include "data/line_checks.h"
#include "data/tokenizers.h"

namespace regard {

// Counts of the pairs read, kept and skipped. Lengths are those of the pairs kept, in tokens
// without </s>.
struct CorpusReport {
  struct Side {
    std::int64_t tokens = 0;
    std::int64_t unknown = 0;  // <unk> among the tokens
    std::int64_t max_length = 0;
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
};

// A list of lists, stored in one array.
template <typename T>
class FlatLists {
 public:
  void add(std::span<const T> items) {
    items_.insert(items_.end(), items.begin(), items.end());
    ends_.push_back(items_.size());
  }
  std::span<const T> operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::span<const T>(items_).subspan(begin, ends_[i] - begin);
  }
  std::size_t size() const { return ends_.size(); }

 private:
  std::vector<T> items_;
  std::vector<std::size_t> ends_;
};

class Corpus {
 public:
  // Reads data.train without the pairs skipped for the reasons in CorpusReport. Throws InputError
  // if the two files of a corpus differ in length, a line has too many elements, or no pair is
  // left; ConfigError if no corpus has a weight above 0, or if an epoch has less than one pair on
  // average.
  static Corpus training(const DataOptions& options, const Tokenizers& tokenizers);
  // Reads every line of data.dev and keeps its text: pair i is line i + 1. Logs a warning if lines
  // are empty, and for each line with too many bytes, which is truncated. Throws InputError if a
  // line has too many elements, or if no pair has text on both sides.
  static Corpus validation(const DataOptions& options, const Tokenizers& tokenizers);

  std::int64_t size() const { return static_cast<std::int64_t>(source_.size()); }
  std::span<const std::int32_t> source(std::int64_t i) const { return source_[index(i)]; }
  std::span<const std::int32_t> target(std::int64_t i) const { return target_[index(i)]; }
  // See SourceLine. Empty if the model does not use them.
  std::span<const float> numbers(std::int64_t i) const { return list_or_empty(numbers_, i); }
  std::span<const std::int32_t> extended_ids(std::int64_t i) const {
    return list_or_empty(extended_ids_, i);
  }
  // Returns the weight of the corpus that pair i belongs to.
  double weight(std::int64_t i) const { return part_of(i).weight; }
  // Returns the lines of these pairs: "data/train.en:12, 40, data/more.en:7".
  std::string source_locations(std::span<const std::int64_t> pairs) const;

  bool has_text() const { return keep_text_; }
  std::string_view source_text(std::int64_t i) const { return text(source_text_, i); }
  std::string_view target_text(std::int64_t i) const { return text(target_text_, i); }

  const Tokenizers& tokenizers() const { return tokenizers_; }
  const CorpusReport& report() const { return report_; }

 private:
  // A corpus of data.train: the pairs from the end of the previous one to `end`.
  struct Part {
    std::int64_t end;
    double weight;
    std::string source_path;
  };
  struct LengthLimits {
    std::int64_t max_length;
    double max_ratio;
  };
  struct Line {
    const std::string& path;
    std::int64_t number = 0;
    std::string text = {};
  };

  Corpus(const DataOptions& options, const Tokenizers& tokenizers, bool keep_text)
      : tokenizers_(tokenizers),
        keep_text_(keep_text),
        source_limit_(source_line_limit(tokenizers, options)),
        target_limit_(target_line_limit(tokenizers, options)) {}
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  static std::string_view text(const FlatLists<char>& texts, std::int64_t i);
  const Part& part_of(std::int64_t i) const;
  template <typename T>
  static std::span<const T> list_or_empty(const FlatLists<T>& lists, std::int64_t i) {
    return lists.size() == 0 ? std::span<const T>() : lists[index(i)];
  }

  // Throws ConfigError if the weights leave an epoch less than one pair on average.
  void check_epoch(const DataOptions& options) const;
  // Reads the pairs of two files. Keeps every pair if `limits` is null.
  void read(const std::string& source_path, const std::string& target_path,
            const LengthLimits* limits);
  void add(const Line& source_line, const Line& target_line, const LengthLimits* limits);
  // Truncates a line with too many bytes and logs a warning. Returns true if it did.
  static bool truncate(Line& line, const LineLimit& limit);

  Tokenizers tokenizers_;
  bool keep_text_;
  LineLimit source_limit_;
  LineLimit target_limit_;
  FlatLists<std::int32_t> source_;
  FlatLists<std::int32_t> target_;
  FlatLists<float> numbers_;
  FlatLists<std::int32_t> extended_ids_;
  FlatLists<char> source_text_;
  FlatLists<char> target_text_;
  std::vector<std::uint32_t> lines_;  // line number of each pair, from 1
  std::vector<Part> parts_;
  CorpusReport report_;
};

// Counts the lines of both files and calls check_line_counts().
void check_parallel(const std::string& source_path, const std::string& target_path);

}  // namespace regard
