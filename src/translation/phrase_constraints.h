// Constraints on a translation as text: its beginning, and phrases that it must or must not
// contain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/text_codec.h"
#include "decoding/search.h"

namespace regard {

// Locations of the constraints of a line, for messages: "words.txt:3", or a key.
struct ConstraintPlaces {
  std::string prefix;
  std::string required;
  std::string banned;
};

// Returns the tokens of a phrase that the translation must have; none for a blank one. Throws
// InputError with `place` if a word of it is not in the vocabulary, so that `option` cannot use it.
std::vector<std::int32_t> encode_phrase(const TextCodec& codec, const std::string& phrase,
                                        const std::string& place, std::string_view option);
// Returns the tokens of a phrase that the translation must not have. Returns nullopt if a word of
// it is not in the vocabulary: the model cannot produce it.
std::optional<std::vector<std::int32_t>> encode_banned_phrase(const TextCodec& codec,
                                                              std::string_view phrase);

// Throws InputError if the constraints contradict each other or do not fit into
// `max_output_length`; `advice` says how to raise it.
void check_constraints(const SentenceOptions& sentence, const TextCodec& codec,
                       std::int64_t max_output_length, const ConstraintPlaces& places,
                       std::string_view advice);

// True if all hypotheses have the required phrases. Banned phrases or the maximum length can make
// that impossible.
bool meets_constraints(const SentenceOptions& sentence, const std::vector<Hypothesis>& hypotheses,
                       const std::vector<bool>& continues_word);

}  // namespace regard
