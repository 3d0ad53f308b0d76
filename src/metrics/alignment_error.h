// The alignment error rate (Och and Ney 2003) of Pharaoh alignments ("0-0 1-2": source word 0 with
// target word 0, source word 1 with target word 2, both counted from 0).
//
//   AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
//
// of the links A against gold links that must be there, S, and those that may, P ⊇ S. Where all
// gold links are sure, AER = 1 − F1. Links are summed over the corpus.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

struct AlignmentLink {
  std::uint32_t source;
  std::uint32_t target;
  auto operator<=>(const AlignmentLink&) const = default;
};

// The links of one sentence, ascending, each once.
using Alignment = std::vector<AlignmentLink>;

struct GoldAlignment {
  Alignment sure;      // S
  Alignment possible;  // P, with the sure ones
};

// One line of a file, where an empty one is a sentence without links: i-j for a sure link, i?j or
// ipj for a possible one. Throws InputError with `file`:`line` for anything but pairs of whole
// numbers.
GoldAlignment parse_alignment(std::string_view text, const std::string& file, std::size_t line);

struct AlignmentScore {
  double error_rate = 0;             // from 0 to 1; 0 where neither side has a link
  double precision = 0;              // |A ∩ P| / |A|; 1 where A is empty
  double recall = 0;                 // |A ∩ S| / |S|; 1 where S is empty
  std::size_t matches = 0;           // |A ∩ S|
  std::size_t possible_matches = 0;  // |A ∩ P|
  std::size_t proposed = 0;          // |A|
  std::size_t sure = 0;              // |S|
};

// Throws InputError where the numbers of sentences differ.
AlignmentScore score_alignments(const std::vector<Alignment>& proposed,
                                const std::vector<GoldAlignment>& gold);

}  // namespace regard
