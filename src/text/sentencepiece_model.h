// Inspects and rewrites the bytes of a SentencePiece model, for which the library has no function.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace regard {

// SentencePiece's symbol for a space, "▁".
inline constexpr std::string_view space_symbol = "\u2581";
// Stands in the tokens of sub-words for a U+2581 of the text, which SentencePiece would take for a
// space. A noncharacter of Unicode, for use within programs, which no vocabulary has.
inline constexpr std::string_view literal_space_symbol = "\uFDD0";

// Returns the text with the stand-in for each U+2581, and the reverse.
std::string with_literal_symbols(std::string_view text);
std::string without_literal_symbols(std::string_view text);

// True if, for every line without U+2581 and without one of `symbols`, the pieces of the line are
// the pieces of its space-separated words, concatenated. `model` is the bytes of a model that the
// library has loaded.
//
// This holds for bpe, because every merge must produce a piece, if
// - no piece has U+2581, the symbol for a space, except at its start: no merge joins two words;
// - that symbol is itself a piece: the start of a word is never unknown, and so never joins an
//   unknown end of the word before;
// - all pieces are learnt, special or one of `symbols`: no other is defined by the user or stands
//   for a byte;
// - the only normalisation is the symbol before each word and the removal of other spaces.
// It does not hold for unigram: scores are summed over whole lines in single precision, and
// rounding may decide between segmentations of a word that are about equally likely.
bool encodes_word_by_word(std::string_view model, std::span<const std::string> symbols = {});

// True if the normalisation and denormalisation rules of a model stay within the bounds of their
// table. The library (0.1.97) does not check, so that a damaged or malicious file would make it
// read arbitrary memory. `model` is any bytes; call this before the library reads them.
//
// A table consists of the size of a trie, the trie, and strings that end in NUL. The trie is a
// double array (Darts-clone) of 32-bit units: from unit i with offset o, byte b leads to unit
// i XOR o XOR b, and a unit with a value to unit i XOR o, whose lower 31 bits are the offset of a
// string.
bool normalization_rules_in_bounds(std::string_view model);

// Returns the model with <pad>, <unk>, <s> and </s> as its first pieces, in that order, as regard
// requires; SentencePiece's default and JoeyNMT start with <unk>. Existing special pieces are
// moved, missing ones are added, and all others keep their order, so that every text keeps its
// pieces. Returns the bytes unchanged if they are not a SentencePiece model, or if the change is
// impossible: there is no <unk>, or the name of a missing special piece belongs to an ordinary
// piece.
std::string with_special_pieces_first(std::string_view model);

// Returns the model with these symbols as pieces that the library never splits or merges (its type
// USER_DEFINED). A symbol that is a learnt piece keeps its id and changes its type; the others
// follow the last piece, in their order. Returns the bytes unchanged if they are not a
// SentencePiece model.
std::string with_user_symbols(std::string_view model, std::span<const std::string> symbols);

// Returns the model with the first `count` learnt pieces of `other` that it does not have, single
// characters first. They follow its last piece. In a bpe model their scores are below those of its
// own learnt pieces, in the order of `other`: it makes its own merges first. In a unigram model
// they keep their log-probabilities. Returns the bytes unchanged if one of the models is not a
// SentencePiece model.
std::string with_pieces_of(std::string_view model, std::string_view other, std::size_t count);

}  // namespace regard
