// One alignment of the two that a pair of models gives, source to target and target to source (Och
// and Ney 2003; Koehn, Och, Marcu 2003, section 4.5).
#pragma once

#include <string_view>

#include "metrics/alignment_error.h"

namespace regard {

enum class Symmetrisation { intersection, union_of_both, grow_diag_final_and };

// forward and backward as (source, target). grow_diag_final_and: begins with the links of both;
// grows by links of either that lie beside one, diagonally too, where one of their words has none
// yet; ends with the links of either where neither word has one. What comes first decides: links
// are gone through as Moses does, target word by target word, neighbours before diagonals,
// forward's last links before backward's.
Alignment symmetrise(const Alignment& forward, const Alignment& backward, Symmetrisation how);

// By its name on the command line, as in grow-diag-final-and; ConfigError for another.
Symmetrisation symmetrisation_named(std::string_view name);

// With source and target exchanged.
Alignment transposed(const Alignment& alignment);

}  // namespace regard
