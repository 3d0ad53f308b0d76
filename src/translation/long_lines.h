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
// line unchanged, as one part. Words at the beginning of the line that are user symbols of the
// source vocabulary (tags such as <2de>) are at the beginning of each part, and are not counted.
std::vector<std::string> split_line(const std::string& line, std::int64_t max_words,
                                    std::span<const std::string> user_symbols = {});

// Joins the best hypotheses of the parts of a line into one translation with one hypothesis. The
// caller sets its text. Concatenates tokens, probabilities and attention; the attention to other
// parts is 0. Keeps only the last </s> and adds the log P of each other </s> to the token before
// it. Skips blank parts; the result has no hypothesis if all are blank.
//
// `target_vocabulary` is the size of the target vocabulary; larger token ids refer to oov_words. If
// the tokens are characters (`kind`), adds a space between parts, as a word in oov_words.
Translation join_translations(std::span<const Translation> parts, std::int64_t target_vocabulary,
                              TokenizerKind kind);

}  // namespace regard
