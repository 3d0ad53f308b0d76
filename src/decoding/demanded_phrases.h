// Phrases that a translation must have, by dynamic beam allocation (Post and Vilar 2018).
//
// Each hypothesis has met so many of the demanded tokens: those of the phrases it has, and those of
// the phrase that it is in the middle of, which count no more when it leaves that phrase. The
// hypotheses that have met equally many are a bank. At each step the ways of going on include, for
// each hypothesis, the tokens that a phrase asks for next; the W places of the beam go to the banks
// in turn, the fullest bank first, the best of each bank first. So the fullest bank gains a token a
// step, and the rest of the beam is free to wait for a better place. </s> comes only where all is
// met.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decoding/beam.h"
#include "decoding/token_rule.h"

namespace regard {

using Phrases = std::vector<std::vector<std::int32_t>>;

struct Progress {
  std::int64_t met = 0;                 // demanded tokens
  bool complete = true;                 // all of them
  std::vector<std::int32_t> next = {};  // what a phrase asks for next
};

// Phrases are met from left to right, each by tokens of its own.
Progress progress_of(std::span<const std::int32_t> tokens, const Phrases& demanded);

// What phrases ask for next after each history; nothing at all where none is demanded.
std::vector<std::vector<std::int32_t>> demanded_next(const std::vector<History>& histories);

// From candidates, best first, with the tokens so far of each hypothesis: the ways of ending that
// win in the bank where all is met, then the W that go on.
std::vector<Candidate> allocate(const std::vector<Candidate>& candidates,
                                const std::vector<std::vector<std::int32_t>>& histories,
                                const Phrases& demanded, std::size_t W, std::int64_t end_token);

}  // namespace regard
