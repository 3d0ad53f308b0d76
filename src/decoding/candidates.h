// The ways in which the hypotheses of a beam can go on, best first.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "decoding/attention_rows.h"
#include "decoding/beam.h"
#include "decoding/next_tokens.h"

namespace regard {

// What candidates lose in the competition, by token; their log-probability stays what it is.
using Penalties = std::map<std::int64_t, double>;

class Candidates {
 public:
  // Of beams of W hypotheses each, options.beam_size. log_p: of each hypothesis so far; next: for
  // each at least 2W tokens, those with a penalty not counted; weights [N, S] or undefined. The
  // first three must outlive this.
  Candidates(const SearchOptions& options, const std::vector<double>& log_p, const NextTokens& next,
             const torch::Tensor& weights)
      : options_(options),
        W_(static_cast<std::size_t>(options.beam_size)),
        log_p_(log_p),
        next_(next),
        weights_(weights) {}

  // The 2W best of the beam at this place of the batch: they leave W to go on, however many are
  // </s>. Where phrases are demanded those of allocate() in demanded_phrases.h.
  // Of equals the earlier first: nothing depends on the rest of the batch.
  std::vector<Candidate> of(std::size_t place, const Beam& beam, const Penalties& penalties) const;

 private:
  const SearchOptions& options_;
  std::size_t W_;
  const std::vector<double>& log_p_;
  const NextTokens& next_;
  AttentionRows weights_;
};

}  // namespace regard
