// A batch of ragged random pairs. The target is the source reversed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "data/batch.h"

namespace regard {

// Sources have 1 to `longest` of the tokens 4 … V − 1.
inline Batch reversed_pairs(std::size_t pairs, std::uint64_t longest, std::uint64_t V,
                            Random random) {
  std::vector<Example> examples(pairs);
  for (std::size_t i = 0; i < pairs; ++i) {
    examples[i].index = static_cast<std::int64_t>(i);
    auto& source = examples[i].source;
    for (auto length = 1 + random.next() % longest; length > 0; --length) {
      source.push_back(static_cast<std::int32_t>(4 + random.next() % (V - 4)));
    }
    examples[i].target.assign(source.rbegin(), source.rend());
  }
  return make_batch(examples);
}

}  // namespace regard
