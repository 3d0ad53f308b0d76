// The tokens of TER: Tercom's normalisation, behaving as sacreBLEU's (which differs from Tercom
// where Tercom's own patterns for kana never match: kana stay together).
#pragma once

#include <string>
#include <string_view>

namespace regard {

// All that can be chosen of TER.
struct TerOptions {
  bool normalized = false;      // entities read, ASCII punctuation apart, numbers whole
  bool no_punctuation = false;  // . , ? : ; ! " ( ) left out
  bool asian_support = false;   // with normalized: each ideograph a token; with no_punctuation: CJK
                                // and full-width marks left out too
  bool case_sensitive = false;
};

// `line` with white space around each token; split_words() gives the tokens.
std::u32string tokenize_for_ter(std::u32string_view line, const TerOptions& options);

}  // namespace regard
