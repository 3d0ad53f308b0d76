#include "data/corpus.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"

namespace regard {
namespace {

// The average number of pairs, with a tolerance for the rounding of decimal weights.
constexpr double min_pairs_per_epoch = 1 - 1e-9;

template <typename T>
std::span<const T> list_or_empty(const FlatLists<T>& lists, std::size_t i) {
  return lists.size() == 0 ? std::span<const T>() : lists[i];
}

std::string_view text_or_empty(const FlatLists<char>& texts, std::size_t i) {
  const auto characters = list_or_empty(texts, i);
  return {characters.data(), characters.size()};
}

// Returns the average number of pairs of an epoch.
double pairs_per_epoch(const std::vector<CorpusPart>& parts) {
  double pairs = 0;
  std::int64_t begin = 0;
  for (const auto& part : parts) {
    pairs += part.weight * static_cast<double>(part.end - begin);
    begin = part.end;
  }
  return pairs;
}

// Changes the weights so that the share of each corpus in an epoch becomes proportional to its
// share raised to 1 / temperature (Arivazhagan et al. 2019). An epoch keeps its number of pairs.
void apply_temperature(std::vector<CorpusPart>& parts, double temperature) {
  if (temperature == 1) return;
  const double all = pairs_per_epoch(parts);
  std::vector<double> shares;
  double sum = 0;
  std::int64_t begin = 0;
  for (const auto& part : parts) {
    const double pairs = part.weight * static_cast<double>(part.end - begin);
    shares.push_back(pairs > 0 ? std::pow(pairs / all, 1 / temperature) : 0);
    sum += shares.back();
    begin = part.end;
  }
  begin = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto size = static_cast<double>(parts[i].end - begin);
    if (size > 0) parts[i].weight = shares[i] / sum * all / size;
    begin = parts[i].end;
  }
}

// Throws ConfigError unless data.train names the corpora that prepare read, or none.
void check_corpora(const DataOptions& options, const PreparedCorpus& prepared) {
  if (options.train.empty()) return;
  const auto& before = prepared.options().data.train;
  const auto folder = prepared.folder().string();
  const auto describe_end =
      "run `regard prepare` again into another folder, or remove data.train, which training from a "
      "prepared corpus does not need";
  if (options.train.size() != before.size()) {
    throw ConfigError("data.train: found {}, but data.prepared ({}) was made from {}; {}",
                      counted(options.train.size(), "corpus"), folder, before.size(), describe_end);
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto& now = options.train[i];
    if (now.src != before[i].src || now.trg != before[i].trg) {
      throw ConfigError(
          "data.train.{}: found {} and {}, but data.prepared ({}) was made from {} and {}; {}", i,
          now.src, now.trg, folder, before[i].src, before[i].trg, describe_end);
    }
    if (now.src_tag != before[i].src_tag || now.trg_tag != before[i].trg_tag) {
      throw ConfigError(
          "data.train.{}: found the tags `{}` and `{}`, but data.prepared ({}) was made with `{}` "
          "and `{}`; {}",
          i, now.src_tag, now.trg_tag, folder, before[i].src_tag, before[i].trg_tag, describe_end);
    }
    if (now.weight > 0 && before[i].weight == 0) {
      throw ConfigError(
          "data.train.{}.weight is {}, but it was 0 when data.prepared ({}) was made, which has no "
          "pair of this corpus; run `regard prepare` again into another folder",
          i, now.weight, folder);
    }
  }
}

}  // namespace

Corpus Corpus::training(const DataOptions& options, const TextCodec& codec, const TextFiles& files,
                        ThreadPool& pool) {
  Corpus corpus(codec, options.tokenizer.sampling > 0);
  DuplicateFilter duplicates;
  for (const CorpusOptions& part : options.train) {
    if (part.weight == 0) continue;
    const auto tagged = codec.with_tags(part.src_tag, part.trg_tag);
    const PairEncoder encoder(options, tagged, corpus.keep_text_, PairSelection::trained);
    encode_files({.source = files.at(part.src),
                  .target = files.at(part.trg),
                  .duplicates = options.remove_duplicates ? &duplicates : nullptr},
                 encoder, pool, [&](const CorpusPairs& pairs) { corpus.pairs_.append(pairs); });
    corpus.add_part(corpus.size(), part);
  }
  corpus.complete(options);
  return corpus;
}

Corpus Corpus::training(const Options& options, std::shared_ptr<const PreparedCorpus> prepared) {
  prepared->check_options(options, /*tokenizer_training=*/false);
  check_corpora(options.data, *prepared);
  if (options.data.tokenizer.sampling > 0 && !prepared->has_text()) {
    throw ConfigError(
        "data.tokenizer.sampling is {}, which needs the text, but data.prepared ({}) has only "
        "tokens; run `regard prepare` with this option into another folder, or set sampling to 0",
        options.data.tokenizer.sampling, prepared->folder().string());
  }
  Corpus corpus(prepared->codec(), prepared->has_text());
  corpus.pairs_.report = prepared->report();
  auto data = options.data;
  if (data.train.empty()) data.train = prepared->options().data.train;
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    // Pairs of a corpus that has no weight any more stay in the folder.
    corpus.add_part(prepared->corpus_ends()[i], data.train[i]);
  }
  corpus.prepared_ = std::move(prepared);
  corpus.complete(data);
  return corpus;
}

void Corpus::add_part(std::int64_t end, const CorpusOptions& o) {
  const auto* features = codec_.features ? &codec_.features->file(o.src) : nullptr;
  parts_.push_back({.end = end,
                    .weight = o.weight,
                    .source_path = o.src,
                    .features = features,
                    .has_equal_sides = is_same_path(o.src, o.trg),
                    .source_tag = o.src_tag,
                    .first_target = codec_.with_tags("", o.trg_tag).first_target});
}

void Corpus::complete(const DataOptions& options) {
  if (parts_.empty()) {
    throw ConfigError("data.train: found no corpus with a weight above 0; raise the weight of one");
  }
  check_pairs_left(pairs_.report, options);
  check_epoch(options);
  apply_temperature(parts_, options.temperature);
}

// An epoch without pairs makes no update, so that a limit on updates would never be reached.
void Corpus::check_epoch(const DataOptions& options) const {
  const double pairs = pairs_per_epoch(parts_);
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

Corpus Corpus::validation(const DataOptions& options, const TextCodec& codec,
                          const TextFiles& files, ThreadPool& pool) {
  const auto& source = options.dev.src;
  const auto& target = options.dev.trg;
  Corpus corpus(codec.with_tags(options.dev.src_tag, options.dev.trg_tag), true);
  const PairEncoder encoder(options, corpus.codec_, corpus.keep_text_, PairSelection::all);
  encode_files({.source = files.at(source), .target = files.at(target)}, encoder, pool,
               [&](const CorpusPairs& pairs) { corpus.pairs_.append(pairs); });
  corpus.add_part(corpus.size(), {.src = source,
                                  .trg = target,
                                  .src_tag = options.dev.src_tag,
                                  .trg_tag = options.dev.trg_tag});
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

CorpusPair Corpus::pair(std::int64_t i) const {
  if (prepared_) return prepared_->pair(i);
  CorpusPair pair{.source = pairs_.source[index(i)],
                  .target = pairs_.target[index(i)],
                  .numbers = list_or_empty(pairs_.numbers, index(i)),
                  .extended_ids = list_or_empty(pairs_.extended_ids, index(i)),
                  .source_text = text_or_empty(pairs_.source_text, index(i)),
                  .target_text = text_or_empty(pairs_.target_text, index(i))};
  if (codec_.features) {
    pair.frames = part_of(i).features->item(std::int64_t{pairs_.lines[index(i)]} - 1);
  }
  return pair;
}

std::int64_t Corpus::source_length(std::int64_t i) const {
  if (prepared_) return prepared_->source_length(i);
  if (!codec_.features) return std::ssize(pairs_.source[index(i)]);
  return part_of(i).features->length(std::int64_t{pairs_.lines[index(i)]} - 1);
}

const CorpusPart& Corpus::part_of(std::int64_t i) const {
  return *std::upper_bound(parts_.begin(), parts_.end(), i,
                           [](std::int64_t at, const CorpusPart& p) { return at < p.end; });
}

std::string Corpus::source_locations(std::span<const std::int64_t> pairs) const {
  std::vector<std::int64_t> in_order(pairs.begin(), pairs.end());
  std::ranges::sort(in_order);
  std::string locations;
  const CorpusPart* previous = nullptr;
  for (const auto i : in_order) {
    const auto& part = part_of(i);
    locations += previous == nullptr ? "" : ", ";
    if (&part != previous) locations += part.source_path + ":";
    const auto line = prepared_ ? prepared_->line(i) : std::int64_t{pairs_.lines[index(i)]};
    locations += std::to_string(line);
    previous = &part;
  }
  return locations;
}

}  // namespace regard
