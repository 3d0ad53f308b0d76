// How text becomes token ids, and back.
//
// No tokenizer changes what the text says: there is no Unicode normalisation, so that a target side
// can reproduce its references. What encode() and decode() in turn do not give back:
//   bpe, unigram  white space at the ends, runs of spaces (one is left), and tabs and other ASCII
//                 white space (a space); U+2581, SentencePiece's sign for a space (a space)
//   word          all ASCII white space: one space between words
//   character     nothing
//   all           unknown tokens (<unk>), and upper case when `lowercase` is on
// Ids 0 to 3 are the special ones of vocabulary.h; encode() gives none of them but <unk>, and
// decode() leaves all of them out but <unk>.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "config/data_options.h"

namespace regard {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // `text` is one line of well-formed UTF-8. There is no <s> and no </s> in the result.
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
  // One of the text's other segmentations (data.tokenizer.sampling has the meaning of `amount`).
  // It depends on the text, the amount and the next numbers of `random`, and on nothing else. Words
  // and characters have only one segmentation.
  virtual std::vector<std::int32_t> sample(std::string_view text, double /*amount*/,
                                           Random& /*random*/) const {
    return encode(text);
  }
  // How each token of encode(text) stands in the text, what is unknown too. Sub-words have ▁ for
  // the space before a word.
  virtual std::vector<std::string> pieces(std::string_view text) const;
  // Where tokens are vectors of F numbers: F + 1 for each token and for the </s> behind them, the
  // last of them 1 at </s> and else 0; none where they are not.
  virtual std::vector<float> numbers(std::string_view /*text*/) const { return {}; }
  // True if a line is a sequence of elements, numbers or positions, rather than a text: without one
  // of them it says something else.
  virtual bool reads_elements() const { return false; }
  virtual std::string decode(std::span<const std::int32_t> ids) const = 0;
  // How a token is shown, as in "▁the" or "<unk>".
  virtual std::string token(std::int32_t id) const = 0;
  // The text of tokens so shown, also of some that are none of this vocabulary's.
  virtual std::string join(const std::vector<std::string>& tokens) const;
  virtual std::int64_t size() const = 0;
  // The bytes of the tokenizer's file in a model folder; load_tokenizer() takes them.
  virtual std::string serialized() const = 0;
};

// Puts the next line into its argument, or says that there is none.
using LineSource = std::function<bool(std::string&)>;

// A tokenizer learnt from text: the same lines in the same order give the same bytes, whatever the
// number of threads. `threads`: how many cores are used at most; 0 is all. ConfigError when the
// text cannot give what `options` asks for, InputError when there is no text at all,
// EnvironmentError when the system starts no thread.
std::unique_ptr<Tokenizer> train_tokenizer(const TokenizerOptions& options,
                                           const LineSource& next_line, std::int64_t threads = 0);

// A tokenizer from its bytes: a SentencePiece model, or one token a line, as `options.kind` says.
// InputError, which names `name`, when they are no such thing or its special ids are not ours.
std::unique_ptr<Tokenizer> load_tokenizer(const TokenizerOptions& options, std::string_view bytes,
                                          const std::string& name);

}  // namespace regard
