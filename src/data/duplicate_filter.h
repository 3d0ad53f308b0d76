// Finds exact duplicates among the sentence pairs of a corpus (data.remove_duplicates).
//
// It keeps a hash of 64 bits for each pair, in 9 to 14 bytes of memory, and no text. Two different
// pairs have the same hash with a probability of about n² / 2⁶⁵ in a corpus of n pairs: one of
// them is then removed by mistake. For a billion pairs that is one pair, with 3 %.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace regard {

// Returns a hash of the bytes of both lines and of `seed`, such as a hash of the tags of a corpus.
std::uint64_t hash_of_pair(std::string_view source, std::string_view target,
                           std::uint64_t seed = 0);

// Not thread-safe.
class DuplicateFilter {
 public:
  // Adds a hash. Returns false if it was added before.
  bool add(std::uint64_t hash);

 private:
  // A hash table with open addressing, in which 0 is a free slot. Small tables grow one at a time,
  // so that growing needs little memory.
  struct Table {
    std::vector<std::uint64_t> slots;
    std::size_t used = 0;
  };
  static constexpr std::size_t tables = 256;

  std::array<Table, tables> tables_;
};

}  // namespace regard
