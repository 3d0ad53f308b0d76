// Sub-words by SentencePiece (Kudo and Richardson 2018): bpe (Sennrich 2016) and unigram (Kudo
// 2018). Nothing of the library shows outside the .cpp file.
//
// Training. Normalisation `identity`: nmt_nfkc, SentencePiece's default, rewrites ½, full-width
// letters and ligatures, which then no translation could contain. White space is handled as
// tokenizer.h says. Lines longer than 4192 bytes or with a NUL or U+2585 teach nothing, and of
// more than two million lines a fixed random choice is used. SentencePiece adds up in as many parts
// as it has threads, which changes the last digits of unigram's sums and so its pieces, and writes
// their number into the model. It therefore always has four, which are kept to as many cores as the
// run has threads: the bytes are the same with any number.
//
// Encoding. Most of SentencePiece's time goes into looking up the same merges of the same words.
// Where the model is such that a line's pieces are those of its words (sentencepiece_model.h),
// encode() remembers them: the ids are the library's own, at a twentieth to a fifth of its time.
//
// Sampling. SentencePiece draws from a generator of its own, one a thread, whose public seed only
// counts before a thread's first draw. The library exports that generator though its header is not
// installed, so each sample() seeds it from the caller's Random: a sample is then a function of
// its arguments, whatever was drawn before, in whichever thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace regard {

// See train_tokenizer(). ConfigError when the text cannot fill the vocabulary (naming the largest
// size it can), or has more characters than the vocabulary has room for.
std::unique_ptr<Tokenizer> train_sentencepiece(const TokenizerOptions& options,
                                               const LineSource& next_line,
                                               std::int64_t threads = 0);

// See load_tokenizer().
std::unique_ptr<Tokenizer> load_sentencepiece(std::string_view bytes, const std::string& name);

}  // namespace regard
