#include "data/pair_encoder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

namespace regard {

namespace {

// Returns encode(). Prepends the path and the number of the line to an InputError.
template <typename Encode>
auto with_location(const FileLine& line, const Encode& encode) {
  try {
    return encode();
  } catch (const InputError& error) {
    const std::string message = error.what();
    const auto place = fmt::format("{}:{}: ", line.path, line.number);
    throw InputError("{}{}", message.starts_with(place) ? "" : place, message);
  }
}

void count(CorpusReport::Side& side, std::span<const std::int32_t> ids) {
  side.tokens += static_cast<std::int64_t>(ids.size());
  side.unknown += std::count(ids.begin(), ids.end(), unk_id);
  side.max_length = std::max(side.max_length, static_cast<std::int64_t>(ids.size()));
}

void count_frames(CorpusReport::Side& side, std::int64_t frames) {
  side.tokens += frames;
  side.max_length = std::max(side.max_length, frames);
}

// Returns true if the line has too many bytes; `line` then refers to `buffer`.
bool truncate(FileLine& line, const LineLimit& limit, std::string& buffer,
              std::vector<std::string>& warnings) {
  buffer = line.text;
  auto warning = cut_long_line(buffer, limit, line.path, line.number);
  line.text = buffer;
  if (!warning) return false;
  warnings.push_back(std::move(*warning));
  return true;
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
  std::vector<std::uint64_t> hashes;  // of each pair of lines, if duplicates are removed
  std::vector<bool> is_kept;          // of each of the hashes
  std::vector<std::string> warnings;
  std::exception_ptr error;
};

// Encodes the pairs of a range.
EncodedRange encode(const PairRange& range, const EncodeFiles& files, const PairEncoder& encoder) {
  EncodedRange result;
  try {
    for (std::size_t i = 0; i < range.size; ++i) {
      const auto s = range.source_begin + i;
      const auto t = range.target_begin + i;
      const auto number = range.source->number(s);
      const FileLine source{files.source.path(), number,
                            range.source->line(s, files.source.path())};
      const FileLine target{files.target.path(), number,
                            range.target->line(t, files.target.path())};
      const bool is_kept = encoder.add(source, target, result.pairs, result.warnings);
      if (files.duplicates == nullptr) continue;
      result.hashes.push_back(encoder.hash(source.text, target.text));
      result.is_kept.push_back(is_kept);
    }
  } catch (...) {
    result.error = std::current_exception();
  }
  return result;
}

void uncount(CorpusReport::Side& side, std::span<const std::int32_t> ids) {
  side.tokens -= static_cast<std::int64_t>(ids.size());
  side.unknown -= std::count(ids.begin(), ids.end(), unk_id);
}

// Removes the pairs that were in the filter before, and adds the others. The longest length stays
// right, because the first of equal pairs is kept.
void remove_duplicates(EncodedRange& range, DuplicateFilter& filter) {
  std::vector<bool> is_new;  // of each pair
  bool all_new = true;
  for (std::size_t line = 0; line < range.hashes.size(); ++line) {
    const bool added = filter.add(range.hashes[line]);
    if (!range.is_kept[line]) continue;
    is_new.push_back(added);
    all_new = all_new && added;
  }
  if (all_new) return;
  CorpusPairs kept;
  kept.report = range.pairs.report;
  for (std::size_t i = 0; i < is_new.size(); ++i) {
    if (is_new[i]) {
      kept.append_pair(range.pairs, i);
      continue;
    }
    --kept.report.kept;
    ++kept.report.duplicates;
    uncount(kept.report.source, range.pairs.source[i]);
    uncount(kept.report.target, range.pairs.target[i]);
  }
  range.pairs = std::move(kept);
}

}  // namespace

PairEncoder::PairEncoder(const DataOptions& options, const TextCodec& codec, bool keeps_text,
                         PairSelection selection)
    : codec_(codec),
      keeps_text_(keeps_text),
      selection_(selection),
      max_length_(options.max_length),
      max_frames_(options.max_frames),
      max_ratio_(options.max_ratio),
      source_limit_(source_line_limit(codec, options)),
      target_limit_(target_line_limit(codec, options)),
      hash_of_tags_(hash_of_pair(codec.source_tag, codec.target_tag())) {}

bool PairEncoder::add(FileLine source, FileLine target, CorpusPairs& pairs,
                      std::vector<std::string>& warnings) const {
  std::string cut_source;
  std::string cut_target;
  if (selection_ == PairSelection::all) {
    const bool is_cut = truncate(source, source_limit_, cut_source, warnings);
    pairs.report.too_long += truncate(target, target_limit_, cut_target, warnings) || is_cut;
  }
  return add_line(source, target, pairs);
}

bool PairEncoder::add_line(const FileLine& source_line, const FileLine& target_line,
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
    if (selection_ == PairSelection::trained) return false;
  }
  const auto line =
      with_location(source_line, [&] { return codec_.encode_source(source_line.text); });
  const auto& source = line.tokens;
  const auto frames = line.frames.count();
  const auto target =
      with_location(target_line, [&] { return codec_.encode_target(target_line.text, line); });
  if (selection_ == PairSelection::trained) {
    const bool is_text = codec_.features == nullptr;
    const auto longest = static_cast<std::int64_t>(std::max(source.size(), target.size()));
    std::int64_t* reason =
        line.length() == 0 || target.empty()            ? &report.empty
        : longest > max_length_ || frames > max_frames_ ? &report.too_long
        : is_text && exceeds_max_ratio(std::ssize(source), std::ssize(target), max_ratio_)
            ? &report.high_ratio
            : nullptr;
    if (reason != nullptr) {
      ++*reason;
      return false;
    }
  }
  ++report.kept;
  count(report.source, source);
  count_frames(report.source, frames);
  count(report.target, target);
  pairs.source.add(source);
  pairs.target.add(target);
  pairs.lines.push_back(static_cast<std::uint32_t>(source_line.number));
  if (!line.numbers.empty()) pairs.numbers.add(line.numbers);
  if (!line.extended_ids.empty()) pairs.extended_ids.add(line.extended_ids);
  if (!keeps_text_) return true;
  pairs.source_text.add(source_line.text);
  pairs.target_text.add(target_line.text);
  return true;
}

void encode_files(const EncodeFiles& files, const PairEncoder& encoder, ThreadPool& pool,
                  const std::function<void(const CorpusPairs&)>& add) {
  const std::size_t bytes_ahead = pool.count() * (std::size_t{1} << 20);  // of each file
  BlockQueue source(files.source);
  BlockQueue target(files.target);
  const std::function<void()> other_jobs[] = {
      [&] { source.fill(bytes_ahead); },
      [&] { target.fill(bytes_ahead); },
      [&] {
        if (files.background) files.background();
      },
  };
  constexpr auto others = std::size(other_jobs);
  std::vector<PairRange> ranges;
  do {
    std::vector<EncodedRange> encoded(ranges.size());
    parallel_for(pool, others + ranges.size(), [&](std::size_t i) {
      if (i < others) return other_jobs[i]();
      encoded[i - others] = encode(ranges[i - others], files, encoder);
    });
    for (auto& result : encoded) {
      for (const auto& warning : result.warnings) log::warning("{}", warning);
      if (result.error) std::rethrow_exception(result.error);
      if (files.duplicates != nullptr) remove_duplicates(result, *files.duplicates);
      add(result.pairs);
    }
    ranges = take_pairs(source, target);
  } while (!ranges.empty());
  source.check();
  target.check();
  check_parallel(files.source, files.target);
}

void check_pairs_left(const CorpusReport& report, const DataOptions& options) {
  if (report.kept > 0) return;
  std::vector<std::string> files;
  for (const CorpusOptions& part : options.train) files.push_back(part.src);
  if (options.source == SourceKind::features) {
    throw InputError(
        "{}: no training pair is left of {} read: {} empty, {} with more than {} (data.max_frames) "
        "or {} (data.max_length) in the target",
        fmt::join(files, ", "), report.read, report.empty, report.too_long,
        counted(options.max_frames, "frame"), counted(options.max_length, "token"));
  }
  throw InputError(
      "{}: no training pair is left of {} read: {} empty, {} with more than {} (data.max_length) "
      "or {} on a side, {} with lengths more than {} times apart (data.max_ratio){}",
      fmt::join(files, ", "), report.read, report.empty, report.too_long,
      counted(options.max_length, "token"), counted(text_limit(options).bytes, "byte"),
      report.high_ratio, options.max_ratio, other_line_break(files.front()));
}

void check_parallel(const TextFile& source, const TextFile& target) {
  check_line_counts(source.path(), source.digest().lines, target.path(), target.digest().lines);
}

}  // namespace regard
