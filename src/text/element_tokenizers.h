// Tokenizers without a vocabulary, for words that belong to no language:
//   numbers     each word is a vector of numbers, separated by commas: "0.5,-2"
//   positions   each word is a position of the source, counted from 0: "2 0 1"
#pragma once

#include <cstdint>
#include <memory>

#include "text/tokenizer.h"

namespace regard {

// Reads vectors of `width` numbers. All tokens have the same id; numbers() returns their values and
// throws InputError if a word is not a vector of that width.
std::unique_ptr<Tokenizer> make_numbers_tokenizer(std::int64_t width);

// Encodes position p as the token first_position_id + p. encode() throws InputError if a word is
// not a whole number.
std::unique_ptr<Tokenizer> make_positions_tokenizer();

}  // namespace regard
