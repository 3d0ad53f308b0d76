// Ranks the possible continuations of the hypotheses of a beam.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "decoding/beam.h"
#include "decoding/hypothesis.h"
#include "decoding/logits_processor.h"

namespace regard {

// Penalties in the ranking of candidates, by token. They do not change log-probabilities.
using Penalties = std::map<std::int64_t, double>;

class Candidates {
 public:
  // For beams of W = options.beam_size hypotheses. log_p: log-probability of each hypothesis; next:
  // at least 2W tokens without a penalty for each; weights [N, S] or undefined. The first three
  // arguments must outlive this object.
  Candidates(const SearchOptions& options, const std::vector<double>& log_p, const NextTokens& next,
             const torch::Tensor& weights)
      : options_(options),
        W_(static_cast<std::size_t>(options.beam_size)),
        log_p_(log_p),
        next_(next),
        weights_(weights) {}

  // Returns the 2W best candidates of a beam, by its index in the batch, so that at least W
  // continue however many end in </s>. With lexical constraints, returns those of allocate_beam().
  // Ties are stable, so that the result does not depend on the rest of the batch.
  std::vector<Candidate> best(std::size_t index, const Beam& beam,
                              const Penalties& penalties) const;

 private:
  const SearchOptions& options_;
  std::size_t W_;
  const std::vector<double>& log_p_;
  const NextTokens& next_;
  AttentionOnCpu weights_;
};

}  // namespace regard
