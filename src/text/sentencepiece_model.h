// What a SentencePiece model says of itself, for which the library has no function.
#pragma once

#include <string>
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

// Whether the rules by which a model normalises text, and puts it back, stay within their table:
// the library (0.1.97) follows them without a look, so that those of a damaged or malicious file
// would have it read anywhere. `model`: any bytes, to be asked before the library has them.
//
// A table is the size of a trie, the trie, and texts that end in NUL. The trie is a double array
// (Darts-clone) of 32-bit units: from unit i with offset o, a byte b leads to unit i XOR o XOR b,
// and a unit with a value to unit i XOR o, whose lower 31 bits are a place in the texts.
bool rules_stay_inside(std::string_view model);

// Returns the model with <pad>, <unk>, <s> and </s> as its first pieces, in that order, which
// regard counts on; SentencePiece's own default and JoeyNMT begin with <unk>. Pieces of that
// meaning are moved, one that is missing is added, and all others keep their order, so that every
// text has the same pieces as before. Returns other bytes as they are, and models in which it
// cannot be done: one without <unk>, or whose name for a missing piece belongs to a word.
std::string with_special_pieces_first(std::string_view model);

}  // namespace regard
