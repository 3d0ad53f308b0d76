#include "config/output_lengths.h"

#include <algorithm>
#include <cmath>

namespace regard {
namespace {

// The tokens that max_output_ratio adds to the multiple of the source length.
constexpr std::int64_t always_allowed = 10;

}  // namespace

std::int64_t output_limit_by_source(std::int64_t source_length, const SearchOptions& options) {
  if (options.max_output_ratio <= 0) return options.max_output_length;
  // Compared as floating point, because the product may exceed the range of integers.
  const auto by_ratio =
      options.max_output_ratio * static_cast<double>(source_length) + always_allowed;
  if (by_ratio >= static_cast<double>(options.max_output_length)) return options.max_output_length;
  return static_cast<std::int64_t>(by_ratio);
}

void OutputLengths::add(std::int64_t source, std::int64_t target) {
  const auto source_length = source + 1;  // with </s>
  const auto length = target + 1;
  const auto behind =
      std::max<std::int64_t>(0, length - output_limit_by_source(source_length, limits_));
  ++targets_;
  tokens_ += length;
  unreachable_tokens_ += behind;
  longer_targets_ += behind > 0 ? 1 : 0;
  longest_ = std::max(longest_, length);
  highest_ratio_ = std::max(highest_ratio_, static_cast<double>(length - always_allowed) /
                                                static_cast<double>(source_length));
}

bool OutputLengths::exceed_limits() const {
  return longer_targets_ > 0 &&
         (unreachable_tokens_ * 100 >= tokens_ || longer_targets_ * 100 >= targets_);
}

double OutputLengths::unreachable_share() const {
  return tokens_ == 0 ? 0 : static_cast<double>(unreachable_tokens_) / static_cast<double>(tokens_);
}

std::int64_t OutputLengths::needed_length() const {
  return (longest_ + 9) / 10 * 10;
}

double OutputLengths::needed_ratio() const {
  return std::ceil(2 * highest_ratio_) / 2;
}

}  // namespace regard
