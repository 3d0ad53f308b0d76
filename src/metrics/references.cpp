#include "metrics/references.h"

#include "base/counted.h"
#include "base/error.h"

namespace regard {

void check_references(std::size_t hypotheses, const References& references) {
  if (references.empty()) throw InputError("no reference to score against: give at least one");
  for (std::size_t r = 0; r < references.size(); ++r) {
    if (references[r].size() == hypotheses) continue;
    throw InputError("reference {} has {}, but found {}: give one line for each", r + 1,
                     counted(references[r].size(), "line"), counted(hypotheses, "hypothesis"));
  }
}

}  // namespace regard
