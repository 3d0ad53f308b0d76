// Ranks the possible continuations of the hypotheses of a beam.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "decoding/beam.h"
#include "decoding/hypothesis.h"
#include "decoding/logits_processor.h"

namespace regard {

// Maps a token to its penalty in the ranking of candidates. Penalties do not change
// log-probabilities.
using Penalties = std::map<std::int64_t, double>;

class Candidates {
 public:
  // The batch has N hypotheses, W = options.beam_size for each beam. log_p has the log-probability
  // of each hypothesis. `next` has the best next tokens of each, of which at least 2W must have no
  // penalty. weights [N, S] is undefined if attention is not needed. The first three arguments must
  // outlive this object.
  Candidates(const SearchRequest& options, const std::vector<double>& log_p, const NextTokens& next,
             const torch::Tensor& weights)
      : options_(options),
        W_(static_cast<std::size_t>(options.beam_size)),
        log_p_(log_p),
        next_(next),
        weights_(weights) {}

  // Returns the 2W best candidates of the beam with this index in the batch. At least W of them do
  // not end in </s>, because each hypothesis has one </s>. With lexical constraints, returns the
  // result of allocate_beam(). The order of ties does not depend on the rest of the batch.
  std::vector<Candidate> best(std::size_t index, const Beam& beam,
                              const Penalties& penalties) const;

 private:
  const SearchRequest& options_;
  std::size_t W_;
  const std::vector<double>& log_p_;
  const NextTokens& next_;
  AttentionOnCpu weights_;
};

}  // namespace regard
