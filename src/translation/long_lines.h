// Splits lines that are too long for a model, and joins the translations of the parts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "translation/translator.h"

namespace regard {

// Splits a line into parts of at most `max_words` words (separated by white space). Each part is as
// long as possible and ends after a sentence (. ! ? … and similar, also before a closing quote or
// bracket), else after a comma, semicolon or colon, else between any two words. Returns a short
// line unchanged, as one part.
std::vector<std::string> split_line(const std::string& line, std::int64_t max_words);

// Joins the best translations of the parts of a line into one translation with one hypothesis and
// no text. Concatenates tokens, probabilities and attention; the attention to other parts is 0.
// Keeps only the last </s> and adds the log P of the others to the previous token. Adds a space
// token between parts if the tokens are characters. Skips blank parts.
Translation join_translations(std::span<const Translation> parts, std::int64_t target_vocabulary,
                              TokenizerKind kind);

}  // namespace regard
