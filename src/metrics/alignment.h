// Word alignments: Pharaoh format, symmetrisation, and the alignment error rate (AER).
//
// A line in Pharaoh format is "0-0 1-2": source word 0 with target word 0, source word 1 with
// target word 2, both counted from 0.
#pragma once

#include <array>
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

// The distinct links of one sentence, in ascending order.
using Alignment = std::vector<AlignmentLink>;

struct GoldAlignment {
  Alignment sure;      // S
  Alignment possible;  // P, including the sure links
};

// Parses a line: i-j is a sure link, i?j or ipj a possible one; an empty line has no links. Throws
// InputError with `file`:`line` if a word is not a link.
GoldAlignment parse_alignment(std::string_view text, const std::string& file, std::size_t line);

// The alignment error rate (Och and Ney 2003) and its components:
//
//   AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
//
// A are the proposed links, S the sure gold links, and P ⊇ S the possible gold links. If all gold
// links are sure, AER = 1 − F1. Counts are summed over the corpus.
struct AlignmentScore {
  double error_rate = 0;             // from 0 to 1; 0 if neither side has a link
  double precision = 0;              // |A ∩ P| / |A|; 1 if A is empty
  double recall = 0;                 // |A ∩ S| / |S|; 1 if S is empty
  std::size_t matches = 0;           // |A ∩ S|
  std::size_t possible_matches = 0;  // |A ∩ P|
  std::size_t proposed = 0;          // |A|
  std::size_t sure = 0;              // |S|
};

// Throws InputError if the numbers of sentences differ.
AlignmentScore score_alignments(const std::vector<Alignment>& proposed,
                                const std::vector<GoldAlignment>& gold);

// The methods that combine the word alignments of two models, source to target and target to source
// (Och and Ney 2003; Koehn, Och, Marcu 2003, section 4.5).
enum class Symmetrisation { grow_diag_final_and, intersection, union_of_both };
constexpr std::array<std::string_view, 3> enum_names(Symmetrisation) {
  return {"grow-diag-final-and", "intersection", "union"};
}

// Combines forward and backward links, both as (source, target). grow_diag_final_and
// - starts with the intersection;
// - adds links of the union that are next to a link, also diagonally, if one of their words has no
//   link yet;
// - finally adds links of the union if neither of their words has a link yet.
// The order is that of Moses: by target word, neighbours before diagonals, and in the final step
// forward links before backward links.
Alignment symmetrise(const Alignment& forward, const Alignment& backward, Symmetrisation method);

// Parses a name on the command line, such as "grow-diag-final-and". Throws ConfigError for an
// unknown name.
Symmetrisation parse_symmetrisation(std::string_view name);

// Swaps source and target.
Alignment transposed(const Alignment& alignment);

}  // namespace regard
