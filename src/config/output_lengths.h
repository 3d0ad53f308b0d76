// Compares the lengths of targets with the limits of a search: max_output_length and
// max_output_ratio. Outputs that a search cannot reach are wrong however good the model is.
#pragma once

#include <cstdint>

#include "config/search_options.h"

namespace regard {

// Returns the maximum length of an output by both limits, before those of a sentence with
// constraints (decoding/search.h). Both lengths include </s>.
std::int64_t output_limit_by_source(std::int64_t source_length, const SearchOptions& options);

class OutputLengths {
 public:
  explicit OutputLengths(const SearchOptions& limits) : limits_(limits) {}

  // Adds a pair, with its lengths in tokens without </s>.
  void add(std::int64_t source, std::int64_t target);

  // True if at least 1 % of the target tokens are behind the limits, or of the targets longer.
  bool exceed_limits() const;
  // Returns the number of targets that are longer than their limit, and the share of the tokens of
  // all targets that are behind it.
  std::int64_t longer_targets() const { return longer_targets_; }
  double unreachable_share() const;
  // Return limits with which every target added can be reached.
  std::int64_t needed_length() const;
  double needed_ratio() const;

 private:
  SearchOptions limits_;
  std::int64_t targets_ = 0;
  std::int64_t tokens_ = 0;
  std::int64_t unreachable_tokens_ = 0;
  std::int64_t longer_targets_ = 0;
  std::int64_t longest_ = 0;
  double highest_ratio_ = 0;
};

}  // namespace regard
