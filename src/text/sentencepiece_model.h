// What a SentencePiece model says of itself, for which the library has no function.
#pragma once

#include <string_view>

namespace regard {

// Whether the pieces of a line are those of its words (what spaces part), one word after the
// other, for every line without U+2581. `model`: the bytes of a model that the library has loaded.
//
// It is so for bpe, because a merge must make a piece, when
// - no piece has U+2581, the sign for a space, but at its start: no merge reaches the next word;
// - that sign is a piece itself: no word begins unknown, and joins an unknown end of the last one;
// - there are no pieces but learnt ones and special ones (none defined by the user, no bytes);
// - the text is not normalised, but for the sign before each word and no spaces elsewhere.
// It is not so for unigram: whole lines have their scores summed in single precision, and rounding
// may decide between ways to split a word that are about as likely.
bool encodes_word_by_word(std::string_view model);

}  // namespace regard
