#include "data/epoch_order.h"

#include <algorithm>
#include <cmath>

namespace regard {
namespace {

// The orders of passes continue over epochs. Their streams differ from those of all epochs.
Random pass_stream(std::uint64_t seed, std::size_t part, std::int64_t pass) {
  const auto key = Random(seed, ~std::uint64_t{0}).next();
  return {key, (std::uint64_t{part} << 40) + static_cast<std::uint64_t>(pass)};
}

// Returns the number of pairs in the epochs before `epoch`.
std::int64_t pairs_before(double weight, std::int64_t pairs, std::int64_t epoch) {
  return static_cast<std::int64_t>(
      std::floor(static_cast<double>(epoch) * (weight * static_cast<double>(pairs))));
}

}  // namespace

EpochOrder::EpochOrder(const std::vector<CorpusPart>& parts, std::uint64_t seed, std::int64_t epoch,
                       Random random)
    : order_(0, random) {
  std::int64_t first = 0;
  std::int64_t end = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto weight = parts[i].weight;
    const auto pairs = parts[i].end - first;
    const auto begin = pairs_before(weight, pairs, epoch);
    const auto used = pairs_before(weight, pairs, epoch + 1) - begin;
    if (used > 0) {
      end += used;
      auto& part = parts_.emplace_back(Part{end, first, pairs, begin, begin / pairs, {}});
      const auto last_pass = (begin + used - 1) / pairs;
      for (auto pass = part.first_pass; weight != std::floor(weight) && pass <= last_pass; ++pass) {
        part.passes.emplace_back(static_cast<std::uint64_t>(pairs), pass_stream(seed, i, pass));
      }
    }
    first = parts[i].end;
  }
  order_ = Permutation(static_cast<std::uint64_t>(end), random);
}

std::int64_t EpochOrder::operator()(std::int64_t i) const {
  const auto at = static_cast<std::int64_t>(order_(static_cast<std::uint64_t>(i)));
  const auto part = std::ranges::upper_bound(parts_, at, {}, &Part::end);
  const auto begin = part == parts_.begin() ? 0 : std::prev(part)->end;
  const auto in_stream = part->begin + at - begin;
  const auto pass = in_stream / part->pairs;
  const auto in_pass = in_stream - pass * part->pairs;
  if (part->passes.empty()) return part->first + in_pass;
  const auto& order = part->passes[static_cast<std::size_t>(pass - part->first_pass)];
  return part->first + static_cast<std::int64_t>(order(static_cast<std::uint64_t>(in_pass)));
}

}  // namespace regard
