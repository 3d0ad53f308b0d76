// The tokenizers of BLEU, behaving as sacreBLEU's of the same name.
//
//   13a   mteval-v13a.pl, the choice of WMT: ASCII punctuation apart, numbers whole
//   intl  mteval-v14.pl --international-tokenization: all Unicode punctuation and symbols apart
//   zh    every Chinese character a token, the rest as in 13a
//   char  every character a token
//   none  the words as they stand
#pragma once

#include <string>
#include <string_view>

namespace regard {

enum class BleuTokenizer { mteval_13a, intl, chinese, character, none };

// The name in a signature: 13a, intl, zh, char, none.
std::string_view name_of(BleuTokenizer tokenizer);
// Its inverse. Throws ConfigError, with the nearest and all names, for any other.
BleuTokenizer bleu_tokenizer_named(std::string_view name);

// `line` with white space around each token; split_words() gives the tokens.
std::u32string tokenize_for_bleu(std::u32string_view line, BleuTokenizer tokenizer);

}  // namespace regard
