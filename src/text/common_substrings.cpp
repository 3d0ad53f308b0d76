#include "text/common_substrings.h"

#include <algorithm>
#include <tuple>

namespace regard {
namespace {

// The same `length` tokens from these positions.
struct CommonRun {
  std::size_t source;
  std::size_t target;
  std::size_t length;
};

// Returns the common runs that cannot be extended, in the order of common_substrings().
std::vector<CommonRun> longest_runs(std::span<const std::int32_t> source,
                                    std::span<const std::int32_t> target, std::size_t least) {
  std::vector<CommonRun> runs;
  // The length of the common run that ends at source token i and target token j − 1.
  std::vector<std::size_t> lengths(target.size() + 1);
  for (std::size_t i = 0; i < source.size(); ++i) {
    for (std::size_t j = target.size(); j > 0; --j) {
      const bool is_equal = source[i] >= 0 && source[i] == target[j - 1];
      lengths[j] = is_equal ? lengths[j - 1] + 1 : 0;
      const bool goes_on = i + 1 < source.size() && j < target.size() && source[i + 1] >= 0 &&
                           source[i + 1] == target[j];
      if (lengths[j] >= least && !goes_on) {
        runs.push_back({i + 1 - lengths[j], j - lengths[j], lengths[j]});
      }
    }
  }
  std::ranges::sort(runs, [](const CommonRun& a, const CommonRun& b) {
    return std::tuple(b.length, a.source, a.target) < std::tuple(a.length, b.source, b.target);
  });
  return runs;
}

}  // namespace

std::vector<CommonSubstring> common_substrings(std::span<const std::int32_t> source,
                                               std::span<const std::int32_t> target,
                                               std::size_t least) {
  std::vector<CommonSubstring> found;
  std::vector<bool> in_source(source.size());  // the tokens that belong to a substring
  std::vector<bool> in_target(target.size());
  const auto is_free = [](const std::vector<bool>& taken, std::size_t begin, std::size_t length) {
    const auto first = taken.begin() + static_cast<std::ptrdiff_t>(begin);
    return std::none_of(first, first + static_cast<std::ptrdiff_t>(length), std::identity());
  };
  const auto take = [](std::vector<bool>& taken, std::size_t begin, std::size_t length) {
    std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(begin), length, true);
  };
  for (const auto& [i, j, length] : longest_runs(source, target, least)) {
    const bool has_source = is_free(in_source, i, length);
    const bool has_target = is_free(in_target, j, length);
    if (has_source && has_target) {
      found.push_back({length, {i}, {j}});
    } else if (has_source || has_target) {
      // Another position of the same tokens, or a run that overlaps with an earlier substring.
      const auto same = std::ranges::find_if(found, [&](const CommonSubstring& earlier) {
        return earlier.length == length && (has_target ? std::ranges::count(earlier.source, i) > 0
                                                       : std::ranges::count(earlier.target, j) > 0);
      });
      if (same == found.end()) continue;
      if (has_source) same->source.push_back(i);
      if (has_target) same->target.push_back(j);
    } else {
      continue;
    }
    take(in_source, i, length);
    take(in_target, j, length);
  }
  return found;
}

}  // namespace regard
