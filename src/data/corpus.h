// Pairs of sentences as token ids, in memory: 4 bytes a token and 20 a pair, and the text itself
// only where something needs it (sub-word sampling, references of the validation set).
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

// What was read, and what became of it. Lengths are in tokens, without </s>, of the pairs kept.
struct CorpusReport {
  struct Side {
    std::int64_t tokens = 0;
    std::int64_t unknown = 0;  // of these, <unk>
    std::int64_t max_length = 0;
  };
  std::int64_t read = 0;
  std::int64_t kept = 0;
  std::int64_t empty = 0;      // left out, but to validate: white space alone on either side
  std::int64_t too_long = 0;   // left out: above data.max_length or a LineLimit; or cut to that
  std::int64_t odd_ratio = 0;  // left out: lengths further apart than data.max_ratio
  Side source;
  Side target;

  double unknown_rate(const Side& side) const;
  double mean_length(const Side& side) const;
};

// Sequences end to end in one array.
template <typename T>
class Packed {
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
  // data.train, less the pairs of the reasons above. InputError when the two files of a corpus
  // differ in their numbers of lines (both files and counts are named), a line has too many
  // elements, or no pair is left; ConfigError when no corpus has a weight above 0, or
  // the weights leave an epoch less than one pair on average.
  static Corpus training(const DataOptions& options, const Tokenizers& tokenizers);
  // Every line of data.dev, with its text: pair i is line i + 1, even where it is empty, which is
  // counted and warned of. Of a line with too many bytes the beginning, with a warning. InputError
  // where a line has too many elements, or no pair has text on both sides.
  static Corpus validation(const DataOptions& options, const Tokenizers& tokenizers);

  std::int64_t size() const { return static_cast<std::int64_t>(source_.size()); }
  std::span<const std::int32_t> source(std::int64_t i) const { return source_[index(i)]; }
  std::span<const std::int32_t> target(std::int64_t i) const { return target_[index(i)]; }
  // As in SourceLine; empty where there are none.
  std::span<const float> numbers(std::int64_t i) const { return numbers_of(numbers_, i); }
  std::span<const std::int32_t> copies(std::int64_t i) const { return numbers_of(copies_, i); }
  // Of the corpus that pair i came from.
  double weight(std::int64_t i) const { return part_of(i).weight; }
  // The lines that these pairs came from: "data/train.en:12, 40, data/more.en:7".
  std::string source_places(std::span<const std::int64_t> pairs) const;

  bool has_text() const { return keep_text_; }
  std::string_view source_text(std::int64_t i) const { return text(source_text_, i); }
  std::string_view target_text(std::int64_t i) const { return text(target_text_, i); }

  const Tokenizers& tokenizers() const { return tokenizers_; }
  const CorpusReport& report() const { return report_; }

 private:
  // The pairs up to `end` are of this corpus.
  struct Part {
    std::int64_t end;
    double weight;
    std::string source_path;
  };
  struct Limits {
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
  static std::string_view text(const Packed<char>& texts, std::int64_t i);
  const Part& part_of(std::int64_t i) const;
  template <typename T>
  static std::span<const T> numbers_of(const Packed<T>& all, std::int64_t i) {
    return all.size() == 0 ? std::span<const T>() : all[index(i)];
  }

  // Throws ConfigError if the weights leave an epoch less than one pair on average.
  void check_epoch(const DataOptions& options) const;
  // Null limits: every pair is kept.
  void read(const std::string& source_path, const std::string& target_path, const Limits* limits);
  void add(const Line& source_line, const Line& target_line, const Limits* limits);
  // Cuts a line that has too many bytes, with a warning. True if it had.
  static bool cut(Line& line, const LineLimit& limit);

  Tokenizers tokenizers_;
  bool keep_text_;
  LineLimit source_limit_;
  LineLimit target_limit_;
  Packed<std::int32_t> source_;
  Packed<std::int32_t> target_;
  Packed<float> numbers_;
  Packed<std::int32_t> copies_;
  Packed<char> source_text_;
  Packed<char> target_text_;
  std::vector<std::uint32_t> lines_;  // from 1, of each pair
  std::vector<Part> parts_;
  CorpusReport report_;
};

// check_line_counts() of what both files have.
void check_parallel(const std::string& source_path, const std::string& target_path);

}  // namespace regard
