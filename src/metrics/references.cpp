#include "metrics/references.h"

#include "base/error.h"

namespace regard {

void check_references(std::size_t hypotheses, const References& references) {
  if (references.empty()) throw InputError("no reference to score against: give at least one");
  for (std::size_t r = 0; r < references.size(); ++r) {
    if (references[r].size() == hypotheses) continue;
    throw InputError(
        "reference {} has {} lines, but there are {} hypotheses: give one line for each", r + 1,
        references[r].size(), hypotheses);
  }
}

}  // namespace regard
