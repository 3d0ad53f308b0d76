// Finds the substrings that two lists of tokens have in common, such as the stem of a word and of
// its inflected form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace regard {

// The positions at which a list of `length` tokens begins in the source and in the target.
struct CommonSubstring {
  std::size_t length = 0;
  std::vector<std::size_t> source;
  std::vector<std::size_t> target;
  bool operator==(const CommonSubstring&) const = default;
};

// Returns common substrings of at least `least` tokens that are not inside a longer one, the
// longest first; equal lengths in the order of the source, then of the target. Leaves out those
// that overlap with an earlier one. Negative tokens equal no other token. With lengths S and T, the
// time is at most in proportion to S T (least + log(S T)), and usually to S T.
std::vector<CommonSubstring> common_substrings(std::span<const std::int32_t> source,
                                               std::span<const std::int32_t> target,
                                               std::size_t least);

}  // namespace regard
