// The reference translations a metric compares with.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace regard {

// references[r][i]: the r-th reference of sentence i.
using References = std::vector<std::vector<std::string>>;

// Throws InputError where there is no reference, or one has another number of lines than
// `hypotheses`.
void check_references(std::size_t hypotheses, const References& references);

}  // namespace regard
