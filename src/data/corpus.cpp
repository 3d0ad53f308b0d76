#include "data/corpus.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "data/line_checks.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

namespace regard {
namespace {

// The average number of pairs, with a tolerance for the rounding of decimal weights.
constexpr double min_pairs_per_epoch = 1 - 1e-9;

bool exceeds_max_ratio(std::size_t a, std::size_t b, double max_ratio) {
  if (max_ratio == 0) return false;
  return static_cast<double>(std::max(a, b)) > max_ratio * static_cast<double>(std::min(a, b));
}

struct LengthLimits {
  std::int64_t max_length;
  double max_ratio;
};

struct Line {
  const std::string& path;
  std::int64_t number;
  std::string_view text;
};

// Returns encode(). Prepends the path and the number of the line to an InputError.
template <typename Encode>
auto with_location(const Line& line, const Encode& encode) {
  try {
    return encode();
  } catch (const InputError& error) {
    throw InputError("{}:{}: {}", line.path, line.number, error.what());
  }
}

void count(CorpusReport::Side& side, std::span<const std::int32_t> ids) {
  side.tokens += static_cast<std::int64_t>(ids.size());
  side.unknown += std::count(ids.begin(), ids.end(), unk_id);
  side.max_length = std::max(side.max_length, static_cast<std::int64_t>(ids.size()));
}

// How pairs of lines become pairs of a corpus. Immutable, so threads can share it.
class PairEncoder {
 public:
  // Keeps every pair if `limits` is null, and truncates lines with too many bytes.
  PairEncoder(const DataOptions& options, const Tokenizers& tokenizers, bool keeps_text,
              const LengthLimits* limits)
      : tokenizers_(tokenizers),
        keep_text_(keeps_text),
        limits_(limits),
        source_limit_(source_line_limit(tokenizers, options)),
        target_limit_(target_line_limit(tokenizers, options)) {}

  // Adds a pair to `pairs`, and warnings of truncated lines to `warnings`.
  void add(Line source, Line target, CorpusPairs& pairs, std::vector<std::string>& warnings) const {
    std::string cut_source;
    std::string cut_target;
    if (limits_ == nullptr) {
      const bool is_cut = truncate(source, source_limit_, cut_source, warnings);
      pairs.report.too_long += truncate(target, target_limit_, cut_target, warnings) || is_cut;
    }
    add_line(source, target, pairs);
  }

 private:
  // Returns true if the line has too many bytes; `line` then refers to `buffer`.
  static bool truncate(Line& line, const LineLimit& limit, std::string& buffer,
                       std::vector<std::string>& warnings) {
    buffer = line.text;
    auto warning = cut_long_line(buffer, limit, line.path, line.number);
    line.text = buffer;
    if (!warning) return false;
    warnings.push_back(std::move(*warning));
    return true;
  }

  void add_line(const Line& source_line, const Line& target_line, CorpusPairs& pairs) const;

  const Tokenizers& tokenizers_;
  bool keep_text_;
  const LengthLimits* limits_;
  LineLimit source_limit_;
  LineLimit target_limit_;
};

void PairEncoder::add_line(const Line& source_line, const Line& target_line,
                           CorpusPairs& pairs) const {
  CorpusReport& report = pairs.report;
  ++report.read;
  const bool empty = is_blank(source_line.text) || is_blank(target_line.text);
  const bool too_many_bytes = source_line.text.size() > source_limit_.bytes ||
                              target_line.text.size() > target_limit_.bytes;
  check_elements(source_line.text, source_limit_, source_line.path, source_line.number);
  check_elements(target_line.text, target_limit_, target_line.path, target_line.number);
  if (empty || too_many_bytes) {
    ++(empty ? report.empty : report.too_long);
    if (limits_ != nullptr) return;
  }
  const auto line =
      with_location(source_line, [&] { return tokenizers_.encode_source(source_line.text); });
  const auto& source = line.tokens;
  const auto target =
      with_location(target_line, [&] { return tokenizers_.encode_target(target_line.text, line); });
  if (limits_ != nullptr) {
    const auto longest = static_cast<std::int64_t>(std::max(source.size(), target.size()));
    std::int64_t* reason = source.empty() || target.empty() ? &report.empty
                           : longest > limits_->max_length  ? &report.too_long
                           : exceeds_max_ratio(source.size(), target.size(), limits_->max_ratio)
                               ? &report.high_ratio
                               : nullptr;
    if (reason != nullptr) {
      ++*reason;
      return;
    }
  }
  ++report.kept;
  count(report.source, source);
  count(report.target, target);
  pairs.source.add(source);
  pairs.target.add(target);
  pairs.lines.push_back(static_cast<std::uint32_t>(source_line.number));
  if (!line.numbers.empty()) pairs.numbers.add(line.numbers);
  if (!line.extended_ids.empty()) pairs.extended_ids.add(line.extended_ids);
  if (!keep_text_) return;
  pairs.source_text.add(source_line.text);
  pairs.target_text.add(target_line.text);
}

// The next blocks of a file, from the first line that is not paired yet.
class BlockQueue {
 public:
  explicit BlockQueue(const TextFile& file) : file_(file), reader_(file) {}

  // Reads blocks until the queue has this many bytes. An error counts as the end of the file.
  void fill(std::size_t bytes) {
    try {
      while (!at_end_ && bytes_ < bytes) {
        auto block = reader_.next();
        at_end_ = !block;
        if (at_end_) break;
        bytes_ += block->bytes();
        blocks_.push_back(std::move(block));
      }
    } catch (...) {
      error_ = std::current_exception();
      at_end_ = true;
    }
  }
  bool empty() const { return blocks_.empty(); }
  const std::shared_ptr<const LineBlock>& front() const { return blocks_.front(); }
  std::size_t next_line() const { return next_line_; }  // in front()
  std::size_t lines_in_front() const { return front()->size() - next_line_; }
  void skip(std::size_t lines) {
    next_line_ += lines;
    if (next_line_ < front()->size()) return;
    bytes_ -= front()->bytes();
    blocks_.pop_front();
    next_line_ = 0;
  }
  // Throws the error that ended the queue, if any.
  void check() const {
    if (error_) std::rethrow_exception(error_);
  }
  const std::string& path() const { return file_.path(); }

 private:
  const TextFile& file_;
  TextFile::Reader reader_;
  std::deque<std::shared_ptr<const LineBlock>> blocks_;
  std::size_t bytes_ = 0;
  std::size_t next_line_ = 0;
  bool at_end_ = false;
  std::exception_ptr error_;
};

// Consecutive pairs of lines, from one block of each file.
struct PairRange {
  std::shared_ptr<const LineBlock> source;
  std::shared_ptr<const LineBlock> target;
  std::size_t source_begin;
  std::size_t target_begin;
  std::size_t size;
};

// Takes the lines that both queues have.
std::vector<PairRange> take_pairs(BlockQueue& source, BlockQueue& target) {
  std::vector<PairRange> ranges;
  while (!source.empty() && !target.empty()) {
    const auto size = std::min(source.lines_in_front(), target.lines_in_front());
    ranges.push_back(
        {source.front(), target.front(), source.next_line(), target.next_line(), size});
    source.skip(size);
    target.skip(size);
  }
  return ranges;
}

// The result of a range, up to its first error.
struct EncodedRange {
  CorpusPairs pairs;
  std::vector<std::string> warnings;
  std::exception_ptr error;
};

// Appends the pairs of two files to `pairs`. While the threads encode some blocks, two of them read
// the next ones. Warnings and the first error are those of the lines in order.
void encode_files(const TextFile& source_file, const TextFile& target_file,
                  const PairEncoder& encoder, ThreadPool& pool, CorpusPairs& pairs) {
  const std::size_t bytes_ahead = pool.count() * (std::size_t{1} << 20);  // of each file
  BlockQueue source(source_file);
  BlockQueue target(target_file);
  BlockQueue* const queues[] = {&source, &target};
  std::vector<PairRange> ranges;
  do {
    std::vector<EncodedRange> encoded(ranges.size());
    const auto encode = [&](const PairRange& range, EncodedRange& result) {
      try {
        for (std::size_t i = 0; i < range.size; ++i) {
          const auto s = range.source_begin + i;
          const auto t = range.target_begin + i;
          const auto number = range.source->number(s);
          const Line source_line{source.path(), number, range.source->line(s, source.path())};
          const Line target_line{target.path(), number, range.target->line(t, target.path())};
          encoder.add(source_line, target_line, result.pairs, result.warnings);
        }
      } catch (...) {
        result.error = std::current_exception();
      }
    };
    parallel_for(pool, 2 + ranges.size(), [&](std::size_t i) {
      if (i < 2) return queues[i]->fill(bytes_ahead);
      encode(ranges[i - 2], encoded[i - 2]);
    });
    for (const auto& result : encoded) {
      for (const auto& warning : result.warnings) log::warning("{}", warning);
      if (result.error) std::rethrow_exception(result.error);
      pairs.append(result.pairs);
    }
    ranges = take_pairs(source, target);
  } while (!ranges.empty());
  source.check();
  target.check();
  check_parallel(source_file, target_file);
}

}  // namespace

double CorpusReport::unknown_rate(const Side& side) const {
  return side.tokens == 0 ? 0
                          : static_cast<double>(side.unknown) / static_cast<double>(side.tokens);
}

double CorpusReport::mean_length(const Side& side) const {
  return kept == 0 ? 0 : static_cast<double>(side.tokens) / static_cast<double>(kept);
}

void CorpusReport::add(const CorpusReport& other) {
  const auto add_side = [](Side& side, const Side& more) {
    side.tokens += more.tokens;
    side.unknown += more.unknown;
    side.max_length = std::max(side.max_length, more.max_length);
  };
  read += other.read;
  kept += other.kept;
  empty += other.empty;
  too_long += other.too_long;
  high_ratio += other.high_ratio;
  add_side(source, other.source);
  add_side(target, other.target);
}

void CorpusPairs::append(const CorpusPairs& other) {
  source.append(other.source);
  target.append(other.target);
  numbers.append(other.numbers);
  extended_ids.append(other.extended_ids);
  source_text.append(other.source_text);
  target_text.append(other.target_text);
  lines.insert(lines.end(), other.lines.begin(), other.lines.end());
  report.add(other.report);
}

Corpus Corpus::training(const DataOptions& options, const Tokenizers& tokenizers,
                        const TextFiles& files, ThreadPool& pool) {
  Corpus corpus(tokenizers, options.tokenizer.sampling > 0);
  const LengthLimits limits{options.max_length, options.max_ratio};
  const PairEncoder encoder(options, tokenizers, corpus.keep_text_, &limits);
  for (const CorpusOptions& part : options.train) {
    if (part.weight == 0) continue;
    encode_files(files.at(part.src), files.at(part.trg), encoder, pool, corpus.pairs_);
    corpus.parts_.push_back({corpus.size(), part.weight, part.src});
  }
  corpus.check_training(options);
  return corpus;
}

Corpus Corpus::training(const DataOptions& options, const Tokenizers& tokenizers) {
  ThreadPool pool;
  return training(options, tokenizers, TextFiles(training_paths(options), pool), pool);
}

Corpus Corpus::training(const DataOptions& options, const Tokenizers& tokenizers, CorpusPairs pairs,
                        std::span<const std::int64_t> part_ends) {
  Corpus corpus(tokenizers, options.tokenizer.sampling > 0);
  corpus.pairs_ = std::move(pairs);
  std::size_t next = 0;
  for (const CorpusOptions& part : options.train) {
    if (part.weight == 0) continue;
    corpus.parts_.push_back({part_ends[next++], part.weight, part.src});
  }
  corpus.check_training(options);
  return corpus;
}

void Corpus::check_training(const DataOptions& options) const {
  if (parts_.empty()) {
    throw ConfigError("data.train: found no corpus with a weight above 0; raise the weight of one");
  }
  if (size() == 0) {
    const CorpusReport& report = pairs_.report;
    std::vector<std::string> files;
    for (const CorpusOptions& part : options.train) files.push_back(part.src);
    throw InputError(
        "{}: no training pair is left of {} read: {} empty, {} with more than {} "
        "(data.max_length) or {} on a side, {} with lengths more than {} times apart "
        "(data.max_ratio){}",
        fmt::join(files, ", "), report.read, report.empty, report.too_long,
        counted(options.max_length, "token"), counted(text_limit(options).bytes, "byte"),
        report.high_ratio, options.max_ratio, other_line_break(files.front()));
  }
  check_epoch(options);
}

// An epoch without pairs makes no update, so that a limit on updates would never be reached.
void Corpus::check_epoch(const DataOptions& options) const {
  double pairs = 0;
  std::int64_t begin = 0;
  for (const auto& part : parts_) {
    pairs += part.weight * static_cast<double>(part.end - begin);
    begin = part.end;
  }
  if (pairs >= min_pairs_per_epoch) return;
  std::string weights;
  for (std::size_t i = 0; i < options.train.size(); ++i) {
    if (options.train[i].weight == 0) continue;
    weights += fmt::format("{}data.train.{}.weight is {}", weights.empty() ? "" : ", ", i,
                           options.train[i].weight);
  }
  throw ConfigError(
      "{}: an epoch has {:.3g} of {} pairs on average, expected at least 1; raise the weight",
      weights, pairs, size());
}

Corpus Corpus::validation(const DataOptions& options, const Tokenizers& tokenizers) {
  ThreadPool pool;
  return validation(options, tokenizers, TextFiles({options.dev.src, options.dev.trg}, pool), pool);
}

Corpus Corpus::validation(const DataOptions& options, const Tokenizers& tokenizers,
                          const TextFiles& files, ThreadPool& pool) {
  const auto& [source, target] = options.dev;
  Corpus corpus(tokenizers, true);
  const PairEncoder encoder(options, tokenizers, corpus.keep_text_, nullptr);
  encode_files(files.at(source), files.at(target), encoder, pool, corpus.pairs_);
  corpus.parts_.push_back({corpus.size(), 1, source});
  if (corpus.size() == 0)
    throw InputError("{}: the file is empty; validation needs at least one pair", source);
  const auto empty = corpus.report().empty;
  if (empty == corpus.size()) {
    throw InputError("{}, {}: no line has text in both files; validation needs at least one pair",
                     source, target);
  }
  if (empty > 0) {
    log::warning("{}, {}: {} of {} are empty in one file or both; they count in the scores", source,
                 target, empty, counted(corpus.size(), "line"));
  }
  return corpus;
}

const Corpus::Part& Corpus::part_of(std::int64_t i) const {
  return *std::upper_bound(parts_.begin(), parts_.end(), i,
                           [](std::int64_t at, const Part& p) { return at < p.end; });
}

std::string Corpus::source_locations(std::span<const std::int64_t> pairs) const {
  std::vector<std::int64_t> in_order(pairs.begin(), pairs.end());
  std::ranges::sort(in_order);
  std::string locations;
  const Part* previous = nullptr;
  for (const auto i : in_order) {
    const auto& part = part_of(i);
    locations += previous == nullptr ? "" : ", ";
    if (&part != previous) locations += part.source_path + ":";
    locations += std::to_string(pairs_.lines[index(i)]);
    previous = &part;
  }
  return locations;
}

std::string_view Corpus::text(const FlatLists<char>& texts, std::int64_t i) {
  const std::span<const char> characters = texts[index(i)];
  return {characters.data(), characters.size()};
}

std::vector<std::int64_t> Corpus::part_ends() const {
  std::vector<std::int64_t> ends;
  for (const auto& part : parts_) ends.push_back(part.end);
  return ends;
}

void check_parallel(const TextFile& source, const TextFile& target) {
  check_line_counts(source.path(), source.digest().lines, target.path(), target.digest().lines);
}

}  // namespace regard
