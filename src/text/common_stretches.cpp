#include "text/common_stretches.h"

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

// Returns the common runs that cannot be extended, in the order of common_stretches().
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

std::vector<CommonStretch> common_stretches(std::span<const std::int32_t> source,
                                            std::span<const std::int32_t> target,
                                            std::size_t least) {
  std::vector<CommonStretch> found;
  // The number of the stretch of each token, from 1.
  std::vector<std::size_t> of_source(source.size());
  std::vector<std::size_t> of_target(target.size());
  for (const auto& run : longest_runs(source, target, least)) {
    const std::span in_source = std::span(of_source).subspan(run.source, run.length);
    const std::span in_target = std::span(of_target).subspan(run.target, run.length);
    const auto is_free = [](std::span<const std::size_t> numbers) {
      return std::ranges::all_of(numbers, [](std::size_t number) { return number == 0; });
    };
    // Returns the number of the stretch of these tokens if it has no others.
    const auto whole = [&](std::span<const std::size_t> numbers) {
      const auto number = numbers.front();
      const bool is_whole =
          number > 0 && number == numbers.back() && found[number - 1].length == run.length;
      return is_whole ? number : 0;
    };
    std::size_t number = 0;
    if (is_free(in_source) && is_free(in_target)) {
      found.push_back({run.length, {run.source}, {run.target}});
      number = found.size();
    } else if (is_free(in_target) && whole(in_source) > 0) {
      number = whole(in_source);
      found[number - 1].target.push_back(run.target);
    } else if (is_free(in_source) && whole(in_target) > 0) {
      number = whole(in_target);
      found[number - 1].source.push_back(run.source);
    } else {
      continue;
    }
    std::ranges::fill(in_source, number);
    std::ranges::fill(in_target, number);
  }
  return found;
}

}  // namespace regard
