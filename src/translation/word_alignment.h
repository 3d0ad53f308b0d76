// Converts attention over tokens to links between words.
//
// Words are separated by white space; in a line of a script without spaces (is_unspaced_line()),
// each character is a word, except that letters and numbers of other scripts stay together. With
// sub-words, a token that begins with ▁ begins a word (a single ▁ belongs to the word after it),
// and one with parts of several words belongs to each of them; with words, each token is a word,
// and with decomposed words also the tokens that begin with ￭ after it; with characters,
// white-space tokens separate words. </s> belongs to no word, and no word links to it.
//
//   a_ij = mean over tokens t of target word j ( sum over tokens s of source word i  α_ts )
//
// (as in Zenkel et al. 2019). Each target word j is linked with the source word i of the largest
// a_ij, the first one if several are equal. A source word may have no link, or several.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/data_options.h"
#include "metrics/alignment.h"
#include "translation/translation_queue.h"

namespace regard {

// The token positions of each word, ascending.
using WordTokens = std::vector<std::vector<std::size_t>>;

// Groups the token texts that Tokenizer::token() returns, with or without </s> at the end. Tokens
// at the positions `tags` (ascending; Translation::tags) belong to no word.
WordTokens group_into_words(const std::vector<std::string>& tokens, TokenizerKind kind,
                            const std::vector<std::size_t>& tags = {});

// Returns the text of each of these words, without ▁ and ￭.
std::vector<std::string> word_texts(const std::vector<std::string>& tokens, TokenizerKind kind,
                                    const std::vector<std::size_t>& tags = {});

// Returns the tokens as labels of a picture: without ▁ where a token is a whole word.
std::vector<std::string> token_labels(std::vector<std::string> tokens, TokenizerKind kind);

// Returns a_ij, [target words j][source words i], from α_ts [target tokens][source tokens].
std::vector<std::vector<float>> word_weights(const std::vector<std::vector<float>>& weights,
                                             const WordTokens& source, const WordTokens& target);

// Returns one link per target word, in the order of Alignment; none if the source has no words.
Alignment hard_alignment(const std::vector<std::vector<float>>& word_weights);

// Returns the links of a hypothesis with these tokens, by its attention weights.
Alignment align_words(const Hypothesis& hypothesis, const Translation& translation,
                      const std::vector<std::string>& tokens, const DataOptions& options);
// Returns the kind of tokens of the source: each encoder state of features is like a word.
TokenizerKind source_token_kind(const DataOptions& options);

// Returns "0-0 1-2", the format that parse_alignment() reads.
std::string to_pharaoh(const Alignment& alignment);

}  // namespace regard
