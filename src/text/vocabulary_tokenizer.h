// Words and characters: every token is an entry of a list.
//   word       the stretches between ASCII white space; decoded with one space between
//   character  each code point, spaces included; decoded end to end
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace regard {

// See train_tokenizer(). ConfigError when no token is frequent enough.
std::unique_ptr<Tokenizer> train_vocabulary(const TokenizerOptions& options,
                                            const LineSource& next_line);

// See load_tokenizer(). InputError with name:line when an entry is no word, or no single character.
std::unique_ptr<Tokenizer> load_vocabulary(TokenizerKind kind, std::string_view bytes,
                                           const std::string& name);

}  // namespace regard
