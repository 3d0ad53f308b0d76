// The tokenizers of BLEU and TER, equivalent to sacreBLEU's. Each returns `line` with white space
// around each token; split_words() (text/unicode.h) returns the tokens.
#pragma once

#include <string>
#include <string_view>

#include "config/metric_settings.h"

namespace regard {

// Does not change case. Throws std::logic_error for BleuTokenizer::sentencepiece, which needs a
// model.
std::u32string tokenize_for_bleu(std::u32string_view line, BleuTokenizer tokenizer);

// The options of TER. The normalisation is that of Tercom as ported by sacreBLEU, whose patterns
// for kana never match: kana are not separated.
struct TerOptions {
  bool normalized = false;      // replace entities, separate ASCII punctuation, keep numbers whole
  bool no_punctuation = false;  // remove . , ? : ; ! " ( )
  bool asian_support = false;   // with normalized: each ideograph is a token; with no_punctuation:
                                // remove CJK and full-width punctuation too
  bool case_sensitive = false;
};

std::u32string tokenize_for_ter(std::u32string_view line, const TerOptions& options);

}  // namespace regard
