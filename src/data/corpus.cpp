#include "data/corpus.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "data/line_reader.h"
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

// Returns encode(). Prepends the path and the number of the line to an InputError.
template <typename Line, typename Encode>
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

}  // namespace

double CorpusReport::unknown_rate(const Side& side) const {
  return side.tokens == 0 ? 0
                          : static_cast<double>(side.unknown) / static_cast<double>(side.tokens);
}

double CorpusReport::mean_length(const Side& side) const {
  return kept == 0 ? 0 : static_cast<double>(side.tokens) / static_cast<double>(kept);
}

Corpus Corpus::training(const DataOptions& options, const Tokenizers& tokenizers) {
  Corpus corpus(options, tokenizers, options.tokenizer.sampling > 0);
  const LengthLimits limits{options.max_length, options.max_ratio};
  for (const CorpusOptions& part : options.train) {
    if (part.weight == 0) continue;
    corpus.read(part.src, part.trg, &limits);
    corpus.parts_.push_back({corpus.size(), part.weight, part.src});
  }
  if (corpus.parts_.empty()) {
    throw ConfigError("data.train: found no corpus with a weight above 0; raise the weight of one");
  }
  if (corpus.size() == 0) {
    const CorpusReport& report = corpus.report_;
    std::vector<std::string> files;
    for (const CorpusOptions& part : options.train) files.push_back(part.src);
    throw InputError(
        "{}: no training pair is left of {} read: {} empty, {} with more than {} "
        "(data.max_length) or {} on a side, {} with lengths more than {} times apart "
        "(data.max_ratio){}",
        fmt::join(files, ", "), report.read, report.empty, report.too_long,
        counted(limits.max_length, "token"), counted(text_limit(options).bytes, "byte"),
        report.high_ratio, limits.max_ratio, other_line_break(files.front()));
  }
  corpus.check_epoch(options);
  return corpus;
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
  const auto& [source, target] = options.dev;
  Corpus corpus(options, tokenizers, true);
  corpus.read(source, target, nullptr);
  corpus.parts_.push_back({corpus.size(), 1, source});
  if (corpus.size() == 0)
    throw InputError("{}: the file is empty; validation needs at least one pair", source);
  const auto empty = corpus.report_.empty;
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
    locations += std::to_string(lines_[index(i)]);
    previous = &part;
  }
  return locations;
}

std::string_view Corpus::text(const FlatLists<char>& texts, std::int64_t i) {
  const std::span<const char> characters = texts[index(i)];
  return {characters.data(), characters.size()};
}

void Corpus::read(const std::string& source_path, const std::string& target_path,
                  const LengthLimits* limits) {
  LineReader source(source_path);
  LineReader target(target_path);
  Line source_line{source_path};
  Line target_line{target_path};
  while (true) {
    source_line.number = ++target_line.number;
    const bool more = source.next(source_line.text);
    if (target.next(target_line.text) != more) {
      check_parallel(source_path, target_path);  // throws with the counts
      throw InputError("{} or {} changed while it was read; try again when no program writes to it",
                       source_path, target_path);
    }
    if (!more) return;
    if (limits == nullptr) {
      const bool source_cut = truncate(source_line, source_limit_);
      report_.too_long += truncate(target_line, target_limit_) || source_cut;
    }
    add(source_line, target_line, limits);
  }
}

void Corpus::add(const Line& source_line, const Line& target_line, const LengthLimits* limits) {
  ++report_.read;
  const bool empty = is_blank(source_line.text) || is_blank(target_line.text);
  const bool too_many_bytes = source_line.text.size() > source_limit_.bytes ||
                              target_line.text.size() > target_limit_.bytes;
  check_elements(source_line.text, source_limit_, source_line.path, source_line.number);
  check_elements(target_line.text, target_limit_, target_line.path, target_line.number);
  if (empty || too_many_bytes) {
    ++(empty ? report_.empty : report_.too_long);
    if (limits != nullptr) return;
  }
  const auto line =
      with_location(source_line, [&] { return tokenizers_.encode_source(source_line.text); });
  const auto& source = line.tokens;
  const auto target =
      with_location(target_line, [&] { return tokenizers_.encode_target(target_line.text, line); });
  if (limits != nullptr) {
    const auto longest = static_cast<std::int64_t>(std::max(source.size(), target.size()));
    std::int64_t* reason = source.empty() || target.empty() ? &report_.empty
                           : longest > limits->max_length   ? &report_.too_long
                           : exceeds_max_ratio(source.size(), target.size(), limits->max_ratio)
                               ? &report_.high_ratio
                               : nullptr;
    if (reason != nullptr) {
      ++*reason;
      return;
    }
  }
  ++report_.kept;
  count(report_.source, source);
  count(report_.target, target);
  source_.add(source);
  target_.add(target);
  lines_.push_back(static_cast<std::uint32_t>(source_line.number));
  if (!line.numbers.empty()) numbers_.add(line.numbers);
  if (!line.extended_ids.empty()) extended_ids_.add(line.extended_ids);
  if (!keep_text_) return;
  source_text_.add(source_line.text);
  target_text_.add(target_line.text);
}

bool Corpus::truncate(Line& line, const LineLimit& limit) {
  const auto warning = cut_long_line(line.text, limit, line.path, line.number);
  if (warning) log::warning("{}", *warning);
  return warning.has_value();
}

void check_parallel(const std::string& source_path, const std::string& target_path) {
  const std::int64_t source_lines = count_lines(source_path);
  check_line_counts(source_path, source_lines, target_path, count_lines(target_path));
}

}  // namespace regard
