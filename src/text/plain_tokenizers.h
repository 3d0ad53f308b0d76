// Tokenizers without sub-words:
//   word       splits at ASCII white space; decoded with one space between words
//   decomposed the same, of a text that is rewritten before (text/decomposed_words.h)
//   character  each code point and each user symbol is a token, spaces included; decoded by
//              concatenation
//   numbers    each word is a vector of numbers, separated by commas: "0.5,-2"
//   features   a line is the name of a sequence of vectors, which has no tokens
//   positions  each word is a position of the source, counted from 0: "2 0 1"
//   empty      any line is one <unk>: the source of a language model, which reads none
// Words and characters have a vocabulary, the others have none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace regard {

// See tokenizer.h.
void count_vocabulary_tokens(TokenizerKind kind, std::string_view line, TokenCounts& counts);
std::unique_ptr<Tokenizer> make_vocabulary_tokenizer(const TokenizerOptions& options,
                                                     const TokenCounts& counts);

// See load_tokenizer(). Throws InputError with name:line if an entry is not a word, or not a single
// character.
std::unique_ptr<Tokenizer> load_vocabulary_tokenizer(const TokenizerOptions& options,
                                                     std::string_view bytes,
                                                     const std::string& name);

// Returns the vocabulary file `bytes` with at most options.extend_by more tokens, the most frequent
// ones that it does not have.
std::string extend_vocabulary(const TokenizerOptions& options, std::string_view bytes,
                              const TokenCounts& counts);

// Reads vectors of `width` numbers. encode() returns the same id for all tokens; numbers() returns
// their values and throws InputError if a word is not a vector of that width.
std::unique_ptr<Tokenizer> make_numbers_tokenizer(std::int64_t width);

// Stands for a source of features (data/feature_file.h), which are no tokens: encode() returns
// nothing. serialized() returns `settings`, those of the features that the model reads.
std::unique_ptr<Tokenizer> make_features_tokenizer(std::string settings);

// Encodes position p as the id first_position_id + p; size() counts only the special tokens,
// because the number of positions depends on the sentence. encode() throws InputError if a word is
// not a whole number.
std::unique_ptr<Tokenizer> make_positions_tokenizer();

std::unique_ptr<Tokenizer> make_empty_tokenizer();

}  // namespace regard
