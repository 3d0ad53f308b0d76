// From attention over tokens to links between words.
//
// Words are what white space parts. With sub-words a token that begins with ▁ begins a word (a ▁
// that stands alone belongs to the word after it), with words each token is one, with characters
// white space parts them. </s> belongs to no word, and no word links to it.
//
//   a_ij = mean over tokens t of target word j ( sum over tokens s of source word i  α_ts )
//
// (as in Zenkel et al. 2019). Each target word j is linked with the source word i of greatest a_ij,
// the first of equals; a source word may have no link, or several.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/data_options.h"
#include "metrics/alignment_error.h"

namespace regard {

// For each word its tokens, by their places in the sentence, ascending.
using WordTokens = std::vector<std::vector<std::size_t>>;

// `tokens` as Tokenizer::token() shows them, with or without </s> at the end.
WordTokens words_of(const std::vector<std::string>& tokens, TokenizerKind kind);

// Each word as it is written, without the sub-words' ▁.
std::vector<std::string> written_words(const std::vector<std::string>& tokens,
                                       const WordTokens& words);

// a_ij as [target words][source words] of α_ts as [target tokens][source tokens].
std::vector<std::vector<float>> word_weights(const std::vector<std::vector<float>>& weights,
                                             const WordTokens& source, const WordTokens& target);

// One link for each target word, in the order of Alignment; none where the source has no word.
Alignment hard_alignment(const std::vector<std::vector<float>>& word_weights);

// The three together.
Alignment align_words(const std::vector<std::vector<float>>& weights,
                      const std::vector<std::string>& source_tokens,
                      const std::vector<std::string>& target_tokens, TokenizerKind kind);

// "0-0 1-2", as parse_alignment() reads it.
std::string to_pharaoh(const Alignment& alignment);

}  // namespace regard
