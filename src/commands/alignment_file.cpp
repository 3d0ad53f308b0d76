#include "commands/alignment_file.h"

#include "base/counted.h"
#include "base/error.h"
#include "data/line_reader.h"
#include "text/words.h"

namespace regard {

std::vector<GoldAlignment> read_alignments(const std::string& path) {
  std::vector<GoldAlignment> alignments;
  for (const auto& line : read_lines(path)) {
    alignments.push_back(parse_alignment(line, input_name(path), alignments.size() + 1));
  }
  return alignments;
}

void check_links(const std::string& path, const std::vector<GoldAlignment>& alignments,
                 const std::vector<std::string>& source, const std::vector<std::string>& target) {
  for (std::size_t i = 0; i < alignments.size(); ++i) {
    const auto source_words = words(source.at(i)).size();
    const auto target_words = words(target.at(i)).size();
    for (const auto& link : alignments[i].possible) {
      if (link.source < source_words && link.target < target_words) continue;
      throw InputError(
          "{}:{}: the link {}-{} goes beyond the sentences, which have {} of source and {} of "
          "target; words are counted from 0",
          input_name(path), i + 1, link.source, link.target, counted(source_words, "word"),
          target_words);
    }
  }
}

}  // namespace regard
