#include "text/common_substrings.h"

#include <algorithm>
#include <functional>
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

constexpr auto none = static_cast<std::size_t>(-1);

// The tokens of a side that belong to a substring, and the index of the one that begins at a token.
struct SubstringsOfSide {
  explicit SubstringsOfSide(std::size_t length) : is_taken(length), begins(length, none) {}
  bool is_free(std::size_t begin, std::size_t length) const {
    const auto first = is_taken.begin() + static_cast<std::ptrdiff_t>(begin);
    return std::none_of(first, first + static_cast<std::ptrdiff_t>(length), std::identity());
  }
  void take(std::size_t begin, std::size_t length, std::size_t index) {
    std::fill_n(is_taken.begin() + static_cast<std::ptrdiff_t>(begin), length, true);
    begins[begin] = index;
  }
  std::vector<bool> is_taken;
  std::vector<std::size_t> begins;
};

}  // namespace

std::vector<CommonSubstring> common_substrings(std::span<const std::int32_t> source,
                                               std::span<const std::int32_t> target,
                                               std::size_t least) {
  std::vector<CommonSubstring> found;
  SubstringsOfSide of_source(source.size());
  SubstringsOfSide of_target(target.size());
  for (const auto& [i, j, length] : longest_runs(source, target, least)) {
    const bool has_source = of_source.is_free(i, length);
    const bool has_target = of_target.is_free(j, length);
    auto index = has_source ? of_target.begins[j] : of_source.begins[i];
    if (has_source && has_target) {
      index = found.size();
      found.push_back({length, {}, {}});
    } else if ((!has_source && !has_target) || index == none || found[index].length != length) {
      continue;  // overlaps with an earlier substring, and is not another position of it
    }
    if (has_source) found[index].source.push_back(i);
    if (has_target) found[index].target.push_back(j);
    of_source.take(i, length, index);
    of_target.take(j, length, index);
  }
  return found;
}

}  // namespace regard
