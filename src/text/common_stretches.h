// Finds the stretches that two lists of tokens have in common, such as the stem of a word and of
// its inflected form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace regard {

// The positions at which two lists have the same `length` tokens.
struct CommonStretch {
  std::size_t length = 0;
  std::vector<std::size_t> source;
  std::vector<std::size_t> target;
  bool operator==(const CommonStretch&) const = default;
};

// Returns the common stretches of at least `least` tokens, without those inside a longer one: the
// longest first, equal lengths in the order of the source, then of the target. A token belongs to
// the first one that has it. Negative tokens equal no other. The time is in proportion to the
// product of the lengths.
std::vector<CommonStretch> common_stretches(std::span<const std::int32_t> source,
                                            std::span<const std::int32_t> target,
                                            std::size_t least);

}  // namespace regard
