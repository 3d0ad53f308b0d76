#include "data/batch_sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/error.h"

namespace regard {
namespace {

constexpr std::int64_t batches_in_bucket = 512;
constexpr std::int64_t max_window_pairs = std::int64_t{1} << 20;

// Each epoch has two random streams, so that changes of the pairs do not change their order.
Random shuffle_stream(std::uint64_t seed, std::int64_t epoch) {
  return Random(seed, 2 * static_cast<std::uint64_t>(epoch));
}
Random change_stream(std::uint64_t seed, std::int64_t epoch) {
  return Random(seed, 2 * static_cast<std::uint64_t>(epoch) + 1);
}

std::int64_t target_positions(const Corpus& corpus, std::int64_t pair) {
  return corpus.target_length(pair) + 1;
}

// Returns the pairs of an epoch in the order of the corpus, repeated according to their weights.
std::vector<std::int64_t> weighted_pairs(const Corpus& corpus, Random& random) {
  std::vector<std::int64_t> pairs;
  pairs.reserve(static_cast<std::size_t>(corpus.size()));
  for (std::int64_t pair = 0; pair < corpus.size(); ++pair) {
    const double whole = std::floor(corpus.weight(pair));
    const double fraction = corpus.weight(pair) - whole;
    auto times = static_cast<std::size_t>(whole);
    if (fraction > 0 && random.uniform() < fraction) ++times;
    pairs.insert(pairs.end(), times, pair);
  }
  return pairs;
}

// Returns the average number of sentences in a batch, at least 1.
double sentences_in_batch(const Corpus& corpus, BatchSize size) {
  auto sentences = static_cast<double>(size.size);
  if (size.type == BatchType::token) {
    sentences /= corpus.report().mean_length(corpus.report().target) + 1;
  }
  return std::max(sentences, 1.0);
}

// Returns the average number of pairs in a bucket.
std::size_t bucket_pairs(const Corpus& corpus, BatchSize size) {
  return static_cast<std::size_t>(sentences_in_batch(corpus, size) *
                                  batches_in_bucket);  // cannot overflow
}

// Returns the number of pairs in a window of a prepared corpus.
std::int64_t window_pairs(const Corpus& corpus, BatchSize size) {
  const auto sentences = sentences_in_batch(corpus, size);
  const auto most = static_cast<std::int64_t>(static_cast<double>(max_window_pairs) / sentences);
  return static_cast<std::int64_t>(
      sentences * static_cast<double>(std::clamp<std::int64_t>(most, 1, batches_in_bucket)));
}

using Iterator = std::vector<std::int64_t>::iterator;

// Sorts by target length, and equal targets by source length, ascending for even target lengths and
// descending for odd ones: a batch that spans two target lengths has similar sources in both.
void sort_by_length(const Corpus& corpus, Iterator begin, Iterator end) {
  struct Keyed {
    std::int64_t target;
    std::int64_t source;  // with its sign
    std::int64_t pair;
  };
  std::vector<Keyed> keyed;
  keyed.reserve(static_cast<std::size_t>(end - begin));
  for (auto pair = begin; pair != end; ++pair) {
    const auto target = corpus.target_length(*pair);
    const auto source = corpus.source_length(*pair);
    keyed.push_back({target, target % 2 == 0 ? source : -source, *pair});
  }
  std::stable_sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) {
    return std::pair(a.target, a.source) < std::pair(b.target, b.source);
  });
  std::ranges::transform(keyed, begin, &Keyed::pair);
}

// Divides the pairs from `begin` to `end` into batches and appends their starts to `starts`.
void split_into_batches(const Corpus& corpus, BatchSize size,
                        const std::vector<std::int64_t>& pairs, std::size_t begin, std::size_t end,
                        std::vector<std::size_t>& starts) {
  std::int64_t sentences = 0;  // in the current batch
  std::int64_t longest = 0;    // its most target positions
  for (std::size_t at = begin; at < end; ++at) {
    const std::int64_t positions = target_positions(corpus, pairs[at]);
    const std::int64_t filled = size.type == BatchType::token
                                    ? (sentences + 1) * std::max(longest, positions)
                                    : sentences + 1;
    if (sentences == 0 || filled > size.size) {
      starts.push_back(at);
      sentences = 0;
      longest = 0;
    }
    ++sentences;
    longest = std::max(longest, positions);
  }
}

EpochPlan with_shuffled_batches(const EpochPlan& plan, Random& random) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(plan.batches()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  random.shuffle(order);
  EpochPlan shuffled;
  shuffled.pairs.reserve(plan.pairs.size());
  for (const std::int64_t i : order) {
    shuffled.starts.push_back(shuffled.pairs.size());
    const auto batch = plan.batch(i);
    shuffled.pairs.insert(shuffled.pairs.end(), batch.begin(), batch.end());
  }
  shuffled.starts.push_back(shuffled.pairs.size());
  return shuffled;
}

InputError damaged_pair(const Corpus& corpus, std::int64_t pair) {
  return InputError(
      "data.prepared: the length of the pair of {} is damaged; `regard prepare --verify` names the "
      "damaged file",
      corpus.source_locations({{pair}}));
}

}  // namespace

std::span<const std::int64_t> EpochPlan::batch(std::int64_t i) const {
  const std::size_t begin = starts.at(static_cast<std::size_t>(i));
  const std::size_t end = starts.at(static_cast<std::size_t>(i) + 1);
  return std::span<const std::int64_t>(pairs).subspan(begin, end - begin);
}

EpochPlan plan_epoch(const Corpus& corpus, BatchSize size, std::uint64_t seed, std::int64_t epoch) {
  Random random = shuffle_stream(seed, epoch);
  EpochPlan plan;
  plan.pairs = weighted_pairs(corpus, random);
  random.shuffle(plan.pairs);
  const std::size_t bucket = bucket_pairs(corpus, size);
  for (std::size_t begin = 0; begin < plan.pairs.size(); begin += bucket) {
    const std::size_t end = std::min(begin + bucket, plan.pairs.size());
    sort_by_length(corpus, plan.pairs.begin() + static_cast<std::ptrdiff_t>(begin),
                   plan.pairs.begin() + static_cast<std::ptrdiff_t>(end));
    split_into_batches(corpus, size, plan.pairs, begin, end, plan.starts);
  }
  plan.starts.push_back(plan.pairs.size());
  return with_shuffled_batches(plan, random);
}

EpochPlan plan_by_length(const Corpus& corpus, BatchSize size) {
  EpochPlan plan;
  for (std::int64_t pair = 0; pair < corpus.size(); ++pair) plan.pairs.push_back(pair);
  sort_by_length(corpus, plan.pairs.begin(), plan.pairs.end());
  split_into_batches(corpus, size, plan.pairs, 0, plan.pairs.size(), plan.starts);
  plan.starts.push_back(plan.pairs.size());
  return plan;
}

PreparedEpoch::PreparedEpoch(const Corpus& corpus, BatchSize size, std::uint64_t seed,
                             std::int64_t epoch)
    : corpus_(corpus),
      size_(size),
      order_(corpus.parts(), seed, epoch, shuffle_stream(seed, epoch)),
      window_seed_(Random(shuffle_stream(seed, epoch).next(), 1).next()),
      window_pairs_(window_pairs(corpus, size)) {
  const auto windows = (order_.size() + window_pairs_ - 1) / window_pairs_;
  std::vector<std::int64_t> pairs_of_length;
  std::int64_t batches = 0;
  for (std::int64_t window = 0; window < windows; ++window) {
    batches += count_batches(static_cast<std::size_t>(window), pairs_of_length);
    batch_ends_.push_back(batches);
  }
}

std::int64_t PreparedEpoch::end_pair(std::size_t window) const {
  return std::min(first_pair(window + 1), order_.size());
}

// The number of batches follows from how many pairs have each target length, so that it needs no
// sorting: split_into_batches() fills a batch with ascending target lengths.
std::int64_t PreparedEpoch::count_batches(std::size_t window,
                                          std::vector<std::int64_t>& pairs_of_length) const {
  const auto begin = first_pair(window);
  const auto end = end_pair(window);
  if (size_.type == BatchType::sentence) return (end - begin + size_.size - 1) / size_.size;
  const auto max_length = corpus_.report().target.max_length;
  pairs_of_length.assign(static_cast<std::size_t>(max_length) + 1, 0);
  std::array<std::int64_t, 64> pairs;
  for (auto i = begin; i < end;) {
    // The lengths of several pairs are fetched from memory at the same time.
    const auto count = std::min(end - i, std::ssize(pairs));
    for (std::int64_t k = 0; k < count; ++k) {
      pairs[static_cast<std::size_t>(k)] = order_(i++);
      corpus_.prefetch_length(pairs[static_cast<std::size_t>(k)]);
    }
    for (const auto pair : std::span(pairs).first(static_cast<std::size_t>(count))) {
      const auto length = corpus_.target_length(pair);
      if (length > max_length) throw damaged_pair(corpus_, pair);
      ++pairs_of_length[static_cast<std::size_t>(length)];
    }
  }
  std::int64_t batches = 0;
  std::int64_t sentences = 0;  // in the current batch
  for (std::int64_t length = 0; length <= max_length; ++length) {
    const auto fitting = std::max<std::int64_t>(1, size_.size / (length + 1));
    auto left = pairs_of_length[static_cast<std::size_t>(length)];
    while (left > 0) {
      if (batches == 0 || sentences >= fitting) {
        ++batches;
        sentences = 0;
      }
      const auto added = std::min(left, fitting - sentences);
      sentences += added;
      left -= added;
    }
  }
  return batches;
}

std::size_t PreparedEpoch::window_of(std::int64_t i) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(batch_ends_, i) - batch_ends_.begin());
}

EpochPlan PreparedEpoch::plan(std::size_t window) const {
  EpochPlan plan;
  const auto end = end_pair(window);
  for (auto i = first_pair(window); i < end; ++i) plan.pairs.push_back(order_(i));
  sort_by_length(corpus_, plan.pairs.begin(), plan.pairs.end());
  split_into_batches(corpus_, size_, plan.pairs, 0, plan.pairs.size(), plan.starts);
  plan.starts.push_back(plan.pairs.size());
  Random random(window_seed_, window);
  return with_shuffled_batches(plan, random);
}

BatchSampler::BatchSampler(const Corpus& corpus, BatchSize size, std::uint64_t seed,
                           const SubwordSampling& sampling, const SourceNoise& noise,
                           const Hallucination& hallucination)
    : corpus_(corpus),
      size_(size),
      seed_(seed),
      sampling_(sampling),
      noise_(noise),
      hallucination_(hallucination) {
  if (sampling_.amount > 0 && !corpus_.has_text()) {
    throw std::logic_error("sub-word sampling needs a corpus that keeps its text");
  }
}

std::int64_t BatchSampler::count(std::int64_t epoch) {
  return corpus_.is_prepared() ? prepared_epoch(epoch).batches() : plan(epoch).batches();
}

Batch BatchSampler::batch(std::int64_t epoch, std::int64_t i) {
  const auto part = plan_of(epoch, i);
  i -= part.first_batch;
  const auto pairs = part.plan.batch(i);
  if (i + 1 < part.plan.batches()) corpus_.prefetch(part.plan.batch(i + 1));
  if (sampling_.amount == 0 && !noise_.is_active() && !hallucination_.is_active()) {
    return make_batch(corpus_, pairs);
  }
  return changed_batch(epoch, part.first_pair + part.plan.starts[static_cast<std::size_t>(i)],
                       pairs);
}

BatchSampler::PlanPart BatchSampler::plan_of(std::int64_t epoch, std::int64_t i) {
  if (!corpus_.is_prepared()) return {plan(epoch), 0, 0};
  const auto& planned = prepared_epoch(epoch);
  const auto window = planned.window_of(i);
  if (static_cast<std::int64_t>(window) != planned_window_) {
    plan_ = planned.plan(window);
    planned_window_ = static_cast<std::int64_t>(window);
  }
  return {plan_, planned.first_batch(window), static_cast<std::size_t>(planned.first_pair(window))};
}

const PreparedEpoch& BatchSampler::prepared_epoch(std::int64_t epoch) {
  if (epoch != planned_epoch_) {
    prepared_epoch_.emplace(corpus_, size_, seed_, epoch);
    planned_epoch_ = epoch;
    planned_window_ = -1;
  }
  return *prepared_epoch_;
}

const EpochPlan& BatchSampler::plan(std::int64_t epoch) {
  if (epoch != planned_epoch_) {
    plan_ = plan_epoch(corpus_, size_, seed_, epoch);
    planned_epoch_ = epoch;
  }
  return plan_;
}

void BatchSampler::sample(const Tokenizer& tokenizer, std::string_view text,
                          std::int64_t max_length, Random& random,
                          std::vector<std::int32_t>& tokens) const {
  auto sampled = tokenizer.sample(text, sampling_.amount, random);
  if (std::ssize(sampled) <= max_length) tokens = std::move(sampled);
}

Batch BatchSampler::changed_batch(std::int64_t epoch, std::size_t first,
                                  std::span<const std::int64_t> pairs) const {
  const std::uint64_t epoch_seed = change_stream(seed_, epoch).next();
  TextCodec codec = corpus_.codec();
  std::vector<Example> examples;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    Random random(epoch_seed, first + k);
    auto& example = examples.emplace_back(example_of(corpus_, pairs[k]));
    if (sampling_.amount > 0) {
      const auto pair = corpus_.pair(pairs[k]);
      codec.source_tag = corpus_.part_of(pairs[k]).source_tag;
      sample(*codec.source, codec.tagged_source(pair.source_text), sampling_.max_source_length,
             random, example.source);
      sample(*codec.target, pair.target_text, sampling_.max_target_length, random, example.target);
    }
    hallucination_.apply(example, corpus_, random);
    noise_.apply(example, corpus_, random);
  }
  return noise_.batch(examples);
}

}  // namespace regard
