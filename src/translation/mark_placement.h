// Puts the markup of a line (text/markup.h) into its translation, where the attention says.
//
// A pair of tags stands around the run of target words with the largest sum of p_j − 0.4, or of
// 1.5 (p_j − 0.4) where that is negative:
//
//   p_j = Σ_{i between the tags} β_ji / Σ_i β_ji        β_ji = α_ji² / Σ_j α_ji²
//
// α_ji is the attention of target word j to source word i. A run of a tag inside another is a part
// of its run. Everything else stands in the gap between two words
// that separates best what attends to the words before it from what attends to those after it;
// near words count most. Without attention, relative positions decide.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/data_options.h"
#include "text/markup.h"

namespace regard {

// Bytes [begin, end) of a text.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool is_empty() const { return begin >= end; }
};

// Returns where each token stands in its text; an empty range for </s>, and for a token that is not
// in it. The tokens are those of Tokenizer::token() or pieces().
std::vector<TextRange> token_ranges(std::string_view text, const std::vector<std::string>& tokens,
                                    TokenizerKind kind);

// A translation with its attention.
struct AttendedTranslation {
  std::string_view text;
  std::vector<TextRange> source_tokens;                      // in MarkedLine::text
  std::vector<TextRange> target_tokens;                      // in `text`
  const std::vector<std::vector<float>>* weights = nullptr;  // [target tokens][source tokens]
};

// Returns the translation with the marks of its source. Each mark is there once, pairs are nested
// as in the source, and the text of the translation keeps its words. White space beside a mark is
// that of the source, if that is possible.
std::string put_back(const MarkedLine& line, const AttendedTranslation& translation);

}  // namespace regard
