// Tokenizers of words and characters, with a vocabulary:
//   word       splits at ASCII white space; decoded with one space between words
//   character  each code point is a token, spaces included; decoded by concatenation
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace regard {

// See train_tokenizer(). Throws ConfigError if no token is frequent enough.
std::unique_ptr<Tokenizer> train_vocabulary_tokenizer(const TokenizerOptions& options,
                                                      const LineSource& next_line);

// See load_tokenizer(). Throws InputError with name:line if an entry is not a word, or not a single
// character.
std::unique_ptr<Tokenizer> load_vocabulary_tokenizer(TokenizerKind kind, std::string_view bytes,
                                                     const std::string& name);

}  // namespace regard
