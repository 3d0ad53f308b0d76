// Signs that a text is not what its place is for: a tokenised or split one among the hypotheses,
// the source in another's place, hypotheses and references the wrong way round.
//
// That two texts are swapped cannot be told of scores (BLEU's precision and recall merely change
// places) nor of good translations. What gives references away that are a system's output: no
// person writes tokens, pieces of words or <unk>, but where all texts of a corpus have them.
#pragma once

#include <string>
#include <vector>

namespace regard {

struct NamedLines {
  std::string name;  // of the file, say
  std::vector<std::string> lines;
};

// One sentence each; `source` may be without lines. The texts are taken to have equally many.
std::vector<std::string> suspicions(const NamedLines& hypotheses, const NamedLines& reference,
                                    const NamedLines& source);

}  // namespace regard
