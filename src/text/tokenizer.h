// Tokenizers: text to token ids, and back.
//
// No tokenizer normalises Unicode, so that a translation can reproduce its reference exactly.
// decode(encode(text)) returns the text except for:
//   bpe, unigram  white space at both ends is dropped; each run of ASCII white space becomes one
//                 space. U+2581, SentencePiece's symbol for a space, is always an unknown token;
//                 in the texts of tokens, U+FDD0 stands for it
//   word          each run of ASCII white space becomes one space
//   decomposed    as word; a word that begins with ￭ is joined to the word before it
//   character     nothing
//   all           unknown tokens become <unk>, and upper case is lost if `lowercase` is on
// A user symbol (data.tokenizer.user_symbols) is one token wherever it stands in a text; for words,
// where it is a word. It keeps its case. Vocabularies are learnt from the text without symbols.
// Ids 0 to 3 are the special tokens of base/special_tokens.h. encode() returns no special id except
// <unk>, and decode() skips all special ids except <unk>.
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
#include "text/vocabulary.h"

namespace regard {

// All functions are thread-safe; sample() needs a Random for each thread.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Encodes one line of well-formed UTF-8, without <s> and </s>.
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
  // Draws a segmentation of the text; see data.tokenizer.sampling for `amount`. The result depends
  // only on the text, the amount and the next numbers of `random`. Words and characters have only
  // one segmentation.
  virtual std::vector<std::int32_t> sample(std::string_view text, double /*amount*/,
                                           Random& /*random*/) const {
    return encode(text);
  }
  // Returns the text of each token of `ids`, which encode(text) returned, including unknown tokens.
  // Sub-words have ▁ for the space before a word, and U+FDD0 for a ▁ of the text.
  virtual std::vector<std::string> pieces(std::string_view text,
                                          std::span<const std::int32_t> ids) const;
  std::vector<std::string> pieces(std::string_view text) const {
    return pieces(text, encode(text));
  }
  // For tokens that are vectors of F numbers, returns F + 1 values for each token and for the final
  // </s>: the vector, and 1 at </s> or 0 elsewhere. Returns nothing for other tokenizers.
  virtual std::vector<float> numbers(std::string_view /*text*/) const { return {}; }
  // True if a line is a sequence of elements, numbers or positions, that cannot be truncated
  // without changing its meaning.
  virtual bool reads_elements() const { return false; }
  // True if every line, also an empty one, has the same tokens: the source of a language model.
  virtual bool ignores_text() const { return false; }
  virtual std::string decode(std::span<const std::int32_t> ids) const = 0;
  // Returns the text of a token, as in "▁the" or "<unk>".
  virtual std::string token(std::int32_t id) const = 0;
  // Joins the texts of tokens, as token() returns them, into a line. Accepts texts that are not in
  // this vocabulary.
  virtual std::string join(const std::vector<std::string>& tokens) const;
  // Returns the number of ids, special tokens included.
  virtual std::int64_t size() const = 0;
  // Returns the bytes of the tokenizer's file in a model folder, as read by load_tokenizer().
  virtual std::string serialized() const = 0;
};

// Stores the next line in its argument; returns false at the end.
using LineSource = std::function<bool(std::string&)>;

// Trains a tokenizer. The same lines in the same order produce the same bytes with any number of
// threads. `threads` is the maximum number of cores to use; 0 means all. Throws ConfigError if the
// text cannot satisfy `options`, InputError if there is no text, EnvironmentError if the system
// cannot start a thread.
std::unique_ptr<Tokenizer> train_tokenizer(const TokenizerOptions& options,
                                           const LineSource& next_line, std::int64_t threads = 0);

// Words and characters are learnt from their counts alone, which can be counted in parts and added
// up: train_tokenizer() makes the same tokenizer from the sum of the counts of its lines.
bool is_learnt_from_counts(TokenizerKind kind);
// Adds the tokens of a line to `counts`.
void count_tokens(const TokenizerOptions& options, std::string_view line, TokenCounts& counts);
// Throws as train_tokenizer() does.
std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options,
                                          const TokenCounts& counts);

// Loads a tokenizer from its bytes: a SentencePiece model, or one token per line, according to
// `options.kind`. Adds the options.user_symbols that it does not have. Throws InputError with
// `name` if the bytes are invalid or the special ids differ from those of regard.
std::unique_ptr<Tokenizer> load_tokenizer(const TokenizerOptions& options, std::string_view bytes,
                                          const std::string& name);

// Returns the bytes of a tokenizer with at most options.extend_by more entries, learnt from the
// lines (data.tokenizer.extend_by). The entries of `bytes`, which load_tokenizer() accepts, keep
// their ids. Throws as train_tokenizer() does.
std::string extend_tokenizer(const TokenizerOptions& options, const std::string& bytes,
                             const LineSource& next_line, std::int64_t threads = 0);

// Calls visit(part, is_symbol) for the symbols in a text and for the parts between them, from left
// to right. Where several symbols begin, the longest counts. Empty parts are left out.
template <typename Visit>
void for_each_part(std::string_view text, std::span<const std::string> symbols,
                   const Visit& visit) {
  std::size_t begin = 0;  // of the part
  for (std::size_t at = 0; at < text.size();) {
    std::string_view longest;
    for (const std::string_view symbol : symbols) {
      if (symbol.size() > longest.size() && text.substr(at).starts_with(symbol)) longest = symbol;
    }
    if (longest.empty()) {
      ++at;
      continue;
    }
    if (at > begin) visit(text.substr(begin, at - begin), false);
    visit(text.substr(at, longest.size()), true);
    begin = at += longest.size();
  }
  if (text.size() > begin) visit(text.substr(begin), false);
}

}  // namespace regard
