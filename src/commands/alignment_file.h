// Gold alignments, as the verbs that judge alignments read them.
#pragma once

#include <string>
#include <vector>

#include "metrics/alignment_error.h"

namespace regard {

// A file in Pharaoh's format, plain or gzip, a sentence a line. InputError with file:line.
std::vector<GoldAlignment> read_alignments(const std::string& path);

// InputError with file:line where a link goes beyond the words, parted by white space, of its pair
// of lines. There is a pair for each alignment.
void check_links(const std::string& path, const std::vector<GoldAlignment>& alignments,
                 const std::vector<std::string>& source, const std::vector<std::string>& target);

}  // namespace regard
