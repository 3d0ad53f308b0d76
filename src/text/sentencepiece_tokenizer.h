// Sub-word tokenizers by SentencePiece (Kudo and Richardson 2018): bpe (Sennrich 2016) and unigram
// (Kudo 2018). Only the .cpp file includes the library.
//
// Training. Normalisation is `identity`: SentencePiece's default, nmt_nfkc, rewrites ½, full-width
// letters and ligatures, so that no translation could contain them. tokenizer.h describes white
// space. Lines longer than 4192 bytes or with NUL or U+2585 are skipped, and a fixed random sample
// is taken of texts with more than two million lines. SentencePiece sums in as many parts as it has
// threads, which changes the last digits of unigram's sums and so its pieces, and it writes the
// number of threads into the model. It therefore always gets four threads, which are restricted to
// as many cores as the run has threads: the bytes are the same with any number.
//
// Encoding. SentencePiece spends most of its time on the same merges of the same words. If a line's
// pieces are the pieces of its words (encodes_word_by_word() in sentencepiece_model.h), encode()
// caches them: the ids are the same as the library's, in 5 to 20 % of its time.
//
// Sampling. SentencePiece uses a random generator per thread, whose public seed has no effect after
// a thread's first draw. The library exports that generator although its header is not installed,
// so sample() seeds it from the caller's Random: a sample is a function of its arguments, whatever
// was drawn before and in whichever thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/tokenizer.h"

namespace regard {

// Caches the token ids of words, for tokenizers that encode a line word by word: few distinct words
// make up most of a text. Thread-safe; threads that find all words do not wait for each other.
class WordCache {
 public:
  using Encode = std::function<std::vector<std::int32_t>(std::string_view word)>;

  // Splits the line at spaces and returns the ids of its words. Calls `encode_word`, which must be
  // thread-safe, for words that are not in the cache. Long words are not stored, nor are new ones
  // when the cache is full.
  std::vector<std::int32_t> encode(std::string_view line, const Encode& encode_word);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const {
      return std::hash<std::string_view>{}(word);
    }
  };

  void store(std::string_view word, const std::vector<std::int32_t>& ids);

  std::shared_mutex mutex_;
  std::unordered_map<std::string, std::vector<std::int32_t>, Hash, std::equal_to<>> words_;
};

// See train_tokenizer(). Throws ConfigError if the text cannot fill the vocabulary (the message has
// the largest possible size), or if its characters alone exceed the vocabulary.
std::unique_ptr<Tokenizer> train_sentencepiece(const TokenizerOptions& options,
                                               const LineSource& next_line,
                                               std::int64_t threads = 0);

// See load_tokenizer().
std::unique_ptr<Tokenizer> load_sentencepiece(std::string_view bytes, const std::string& name);

}  // namespace regard
