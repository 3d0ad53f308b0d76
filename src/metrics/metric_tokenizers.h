// The tokenizers of BLEU and TER, equivalent to sacreBLEU's. Each returns `line` with white space
// around each token; split_words() (text/unicode.h) returns the tokens.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace regard {

// The tokenizers of BLEU:
//   13a   mteval-v13a.pl, used by WMT: separates ASCII punctuation, keeps numbers whole
//   intl  mteval-v14.pl --international-tokenization: separates all Unicode punctuation and symbols
//   zh    each Chinese character is a token, the rest as in 13a
//   char  each character is a token
//   spm   the pieces of a SentencePiece model, such as that of FLORES-200 (BleuOptions::pieces)
//   none  splits only at white space
enum class BleuTokenizer { mteval_13a, intl, chinese, character, sentencepiece, none };

// The names in a signature.
constexpr std::array<std::string_view, 6> enum_names(BleuTokenizer) {
  return {"13a", "intl", "zh", "char", "spm", "none"};
}
// Throws ConfigError, with the nearest and all names, for an unknown name.
BleuTokenizer parse_bleu_tokenizer(std::string_view name);

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
