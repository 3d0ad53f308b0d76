// Words that are no words of a language, and need no vocabulary:
//   numbers     each word is a vector of numbers, separated by commas: "0.5,-2"
//   positions   each word is a position of the source, counted from 0: "2 0 1"
#pragma once

#include <cstdint>
#include <memory>

#include "text/tokenizer.h"

namespace regard {

// Of vectors of `width` numbers. Every token has the same id; numbers() tells them apart, with an
// InputError for a word that is no such vector.
std::unique_ptr<Tokenizer> make_numbers(std::int64_t width);

// Position p is the token first_position_id + p. InputError for a word that is no whole number.
std::unique_ptr<Tokenizer> make_positions();

}  // namespace regard
