// Combines the word alignments of two models, source to target and target to source (Och and Ney
// 2003; Koehn, Och, Marcu 2003, section 4.5).
#pragma once

#include <string_view>

#include "metrics/alignment_error.h"

namespace regard {

enum class Symmetrisation { intersection, union_of_both, grow_diag_final_and };

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
