// Lines too long for a model, translated part by part.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "translation/translator.h"

namespace regard {

// The line in parts of at most `most` words (stretches between white space): each is as long as it
// can be and ends behind the end of a sentence (. ! ? … and their like, also before a closing quote
// or bracket), else behind a comma, semicolon or colon, else anywhere between two words. A line
// that is short enough is one part, as it stands.
std::vector<std::string> split_line(const std::string& line, std::int64_t most);

// The best translations of a line's parts as one, of one hypothesis and without text: tokens,
// probabilities and attention side by side, a part's target looking at the same part of the source
// alone. Only the last </s> stays; what another adds to log P counts to the token before it.
// Between characters stands a space of its own. Blank parts are passed over.
Translation join_translations(std::span<const Translation> parts, std::int64_t target_vocabulary,
                              TokenizerKind kind);

}  // namespace regard
