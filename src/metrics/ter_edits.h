// The edits of TER (metrics/ter.h) between two sentences: shifts found greedily, then the edit
// distance.
//
// A shift takes words that stand in the reference too, where either side has an edit, to the place
// of one of those words there or before them. Limits and order of preference are Tercom's, as
// sacreBLEU has them: up to ten words go up to fifty words far, and after a thousand tries there
// are no more.
#pragma once

#include <cstdint>
#include <string_view>

namespace regard {

// Of words numbered by WordNumbers.
std::int64_t count_ter_edits(std::u32string_view hypothesis, std::u32string_view reference);

}  // namespace regard
