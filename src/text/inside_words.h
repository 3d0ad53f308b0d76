// Which tokens go on with the word before them.
#pragma once

#include <vector>

#include "text/tokenizer.h"

namespace regard {

// By id: a letter or a number that no space goes before, as sub-words have them. A full stop goes
// on with no word. None at all for words and characters, which stand by themselves.
std::vector<bool> inside_words(const Tokenizer& tokenizer, TokenizerKind kind);

}  // namespace regard
