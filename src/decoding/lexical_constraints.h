// Lexical constraints, phrases that a translation must contain, are satisfied by dynamic beam
// allocation (Post and Vilar 2018).
//
// A phrase is met if it occurs (TokenPattern). Different phrases may overlap or contain one
// another; a phrase that is required twice must occur twice without overlap. The met tokens of a
// hypothesis are the tokens of all met phrases, plus the tokens of the phrase that it has begun.
// Hypotheses with equal numbers of met tokens form a bank. At each step, the candidates of each
// hypothesis include the next tokens of the required phrases. The W slots of the beam are assigned
// to the banks in turn, beginning with the bank with the most met tokens; each slot goes to the
// best remaining candidate of the bank. So some hypothesis gains a met token at each step, while
// others can wait for a better position of the phrase. </s> is allowed only if all phrases are met.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decoding/beam.h"
#include "decoding/token_constraint.h"
#include "decoding/token_pattern.h"

namespace regard {

using Phrases = std::vector<TokenPattern>;

struct ConstraintProgress {
  std::int64_t met = 0;                 // number of met tokens
  bool complete = true;                 // all phrases are met
  std::vector<std::int32_t> next = {};  // tokens that begin or continue an unmet phrase
};

// Returns the progress of a hypothesis with these tokens. `complete` is true if all phrases are met
// when </s> follows.
ConstraintProgress constraint_progress(std::span<const std::int32_t> tokens,
                                       const Phrases& required_phrases,
                                       const WordBoundaries& words);

// True if these tokens, before </s>, have all phrases.
bool has_phrases(std::span<const std::int32_t> tokens, const Phrases& required_phrases,
                 const WordBoundaries& words);

// Returns ConstraintProgress::next for each history; an empty list if no history has constraints.
std::vector<std::vector<std::int32_t>> next_required_tokens(const std::vector<History>& histories,
                                                            const WordBoundaries& words);

// Assigns the slots of the beam. `candidates` are sorted, best first; histories[k] has the tokens
// of open hypothesis k, to which Candidate::parent refers. Returns at most W selected candidates
// that end in </s>, then at most W = options.beam_size candidates that continue, best first.
std::vector<Candidate> allocate_beam(const std::vector<Candidate>& candidates,
                                     const std::vector<std::vector<std::int32_t>>& histories,
                                     const Phrases& required_phrases, const SearchRequest& options);

}  // namespace regard
