// Gold alignments, as the verbs that judge alignments read them.
#pragma once

#include <string>
#include <vector>

#include "metrics/alignment_error.h"

namespace regard {

// A file in Pharaoh's format, plain or gzip, a sentence a line. InputError with file:line.
std::vector<Alignment> read_alignments(const std::string& path);

}  // namespace regard
