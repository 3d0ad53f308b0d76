// Warnings about files that were probably passed to the evaluation by mistake: tokenised or split
// hypotheses, the source instead of another file, swapped hypotheses and references.
//
// Swapped files cannot be detected by scores (BLEU's precision and recall only change places) nor
// by good translations. But no person writes tokenised text, sub-words or <unk>, so that references
// with them are probably the output of a system, unless all files of a corpus have them.
#pragma once

#include <string>
#include <vector>

namespace regard {

struct NamedText {
  std::string name;  // of the file
  std::vector<std::string> lines;
};

// Returns one warning per finding. `source` may be empty; otherwise all texts have the same number
// of lines.
std::vector<std::string> input_warnings(const NamedText& hypotheses, const NamedText& reference,
                                        const NamedText& source);

}  // namespace regard
