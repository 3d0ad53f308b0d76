#include "commands/alignment_file.h"

#include "data/line_reader.h"

namespace regard {

std::vector<Alignment> read_alignments(const std::string& path) {
  std::vector<Alignment> alignments;
  for (const auto& line : read_lines(path)) {
    alignments.push_back(parse_alignment(line, path, alignments.size() + 1));
  }
  return alignments;
}

}  // namespace regard
