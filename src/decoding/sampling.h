// Ancestral sampling: each token is drawn from the model's probabilities, as they are or sharpened
// and cut.
//
//   P'(y) ∝ P(y | y_<t, x)^{1/τ}, over the k most probable tokens (Fan et al. 2018), and of these
//   over the fewest that have at least the probability p together (nucleus, Holtzman et al. 2020)
//
// The rules on next tokens go before: P is without what they forbid. A sample's log-probability is
// the model's own, not that of P'. Sample n of a line depends on the seed, on the line's number and
// on n, whatever else is drawn, in whatever batch or thread.
#pragma once

#include <vector>

#include "base/random.h"
#include "decoding/search.h"

namespace regard {

// A token by P', of log P [V]; of none that has no probability: then -1.
std::int64_t draw(const double* log_p, std::int64_t V, const SearchOptions& options,
                  Random& random);

// As search() in search.h: options.samples hypotheses a sentence, in the order of their drawing.
std::vector<std::vector<Hypothesis>> sample(Seq2Seq& model, const torch::Tensor& source,
                                            const torch::Tensor& lengths,
                                            const SearchOptions& options,
                                            const std::vector<SentenceOptions>& sentences);

}  // namespace regard
