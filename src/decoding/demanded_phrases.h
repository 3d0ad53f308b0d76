// Phrases that a translation must have, by dynamic beam allocation (Post and Vilar 2018).
//
// A phrase is met where its tokens stand in a row and no piece goes on with its last word; phrases
// may lie within or across one another, but one that is demanded twice must be there twice, side by
// side. Each hypothesis has met so many of the demanded tokens: those of the phrases it has, and
// those of a phrase that it is in the middle of, which count no more when it leaves that phrase.
// The hypotheses that have met equally many are a bank. At each step the ways of going on include,
// for each hypothesis, the tokens that a phrase asks for next; the W places of the beam go to the
// banks in turn, the fullest bank first, the best of each bank first. So the fullest bank gains a
// token a step, and the rest of the beam is free to wait for a better place. </s> comes only where
// all is met.
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
  std::vector<std::int32_t> next = {};  // what phrases ask for next
};

// inside_words as in SearchOptions. If </s> followed, `complete` says, all would be met.
Progress progress_of(std::span<const std::int32_t> tokens, const Phrases& demanded,
                     const std::vector<bool>& inside_words);

// What phrases ask for next after each history; nothing at all where none is demanded.
std::vector<std::vector<std::int32_t>> demanded_next(const std::vector<History>& histories,
                                                     const std::vector<bool>& inside_words);

// From candidates, best first, with the tokens so far of each hypothesis: the ways of ending that
// win in the bank where all is met, then the W = options.beam_size that go on.
std::vector<Candidate> allocate(const std::vector<Candidate>& candidates,
                                const std::vector<std::vector<std::int32_t>>& histories,
                                const Phrases& demanded, const SearchOptions& options);

}  // namespace regard
