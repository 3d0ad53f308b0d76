// Sub-word tokenizers by SentencePiece (Kudo and Richardson 2018): bpe (Sennrich 2016) and unigram
// (Kudo 2018). Only the .cpp file includes the library.
//
// Training. Normalisation is `identity`: SentencePiece's default, nmt_nfkc, rewrites ½, full-width
// letters and ligatures, so that no translation could contain them. tokenizer.h describes white
// space. Lines longer than 4192 bytes are split at spaces; those with NUL or U+2585 are skipped,
// and a fixed random sample is taken of texts with more than two million lines. SentencePiece sums
// in as many parts as it has threads, which changes the last digits of unigram's sums and so its
// pieces, and it writes the number of threads into the model. It therefore always gets four
// threads, which are restricted to as many cores as the run has threads: the bytes do not depend on
// the threads of the run.
//
// Encoding. SentencePiece spends most of its time on the same merges of the same words. If a line's
// pieces are the pieces of its words (encodes_word_by_word() in sentencepiece_model.h), encode()
// caches them: the ids are the same as the library's, in 5 to 20 % of its time.
//
// User symbols (data.tokenizer.user_symbols) are pieces of SentencePiece's type USER_DEFINED. At
// the start of a line the library puts a piece for a space before them, which decoding removes
// again. encode() leaves it out, so that a tag before a line is one token.
//
// Sampling. SentencePiece has one random generator per thread, and its public function for the seed
// has no effect after a thread's first draw. The library exports the generator although its header
// is not installed, so sample() seeds it from the caller's Random. A sample therefore depends only
// on the arguments, not on earlier draws or on the thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace regard {

// Caches the token ids of words, for tokenizers that encode a line word by word: few distinct words
// make up most of a text. Thread-safe without locks: entries are only added, each by one atomic
// write into a hash table of fixed size.
class WordCache {
 public:
  using Encode = std::function<std::vector<std::int32_t>(std::string_view word)>;

  WordCache();
  ~WordCache();
  WordCache(const WordCache&) = delete;
  WordCache& operator=(const WordCache&) = delete;

  // Splits the line at spaces and returns the ids of its words. Calls `encode_word` for words that
  // are not in the cache. Long words are not stored, nor are new ones when the cache is full.
  std::vector<std::int32_t> encode(std::string_view line, const Encode& encode_word);

 private:
  struct Entry {
    std::string word;
    std::vector<std::int32_t> ids;
  };

  void append_word(std::string_view word, const Encode& encode_word,
                   std::vector<std::int32_t>& ids);

  std::unique_ptr<std::atomic<const Entry*>[]> slots_;  // open addressing
  std::atomic<std::size_t> size_ = 0;
};

// See train_tokenizer(). Throws ConfigError if the text cannot fill the vocabulary (the message has
// the largest possible size), or if its characters alone exceed the vocabulary.
std::unique_ptr<Tokenizer> train_sentencepiece(const TokenizerOptions& options,
                                               const LineSource& next_line,
                                               std::int64_t threads = 0);

// See load_tokenizer().
std::unique_ptr<Tokenizer> load_sentencepiece(const TokenizerOptions& options,
                                              std::string_view bytes, const std::string& name);

// Returns the bytes of a model with at most options.extend_by pieces that are learnt from the lines
// and that the model `bytes` does not have. Throws as train_sentencepiece() does.
std::string extend_sentencepiece(const TokenizerOptions& options, const std::string& bytes,
                                 const LineSource& next_line, std::int64_t threads);

}  // namespace regard
