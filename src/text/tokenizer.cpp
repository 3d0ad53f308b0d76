#include "text/tokenizer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "text/decomposed_words.h"
#include "text/plain_tokenizers.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

namespace regard {
namespace {

std::string lowered(std::string_view text) {
  return encode_utf8(to_lower(decode_utf8(text)));
}

// As for_each_part(), but for words, a symbol counts only where it is a whole word.
template <typename Visit>
void for_each_symbol(const TokenizerOptions& options, std::string_view text, const Visit& visit) {
  const auto& symbols = options.user_symbols;
  const bool has_words =
      options.kind == TokenizerKind::word || options.kind == TokenizerKind::decomposed;
  if (!has_words) return for_each_part(text, symbols, visit);
  const auto* begin = text.data();  // of the part
  const auto visit_until = [&](const char* end) {
    if (end > begin) visit(std::string_view(begin, static_cast<std::size_t>(end - begin)), false);
    begin = end;
  };
  for (const auto word : split_at_ascii_space(text)) {
    if (std::ranges::count(symbols, word) == 0) continue;
    visit_until(word.data());
    visit(word, true);
    begin += word.size();
  }
  visit_until(text.data() + text.size());
}

// Returns text without symbols as the vocabulary has it: in lower case, and decomposed.
std::string rewritten_part(const TokenizerOptions& options, std::string_view text) {
  auto result = options.lowercase ? lowered(text) : std::string(text);
  return options.kind == TokenizerKind::decomposed ? split_composed(result) : result;
}

// True if tokens are not those of the text as it is.
bool rewrites(const TokenizerOptions& options) {
  return options.lowercase || options.kind == TokenizerKind::decomposed;
}

// Rewrites the text between symbols.
std::string rewritten(const TokenizerOptions& options, std::string_view text) {
  if (options.user_symbols.empty()) return rewritten_part(options, text);
  std::string result;
  for_each_symbol(options, text, [&](std::string_view part, bool is_symbol) {
    // split_composed() leaves out the spaces at both ends.
    if (options.kind == TokenizerKind::decomposed && !result.empty()) result += ' ';
    result += is_symbol ? std::string(part) : rewritten_part(options, part);
  });
  return result;
}

// Returns the text with a space in the place of each symbol.
std::string without_symbols(const TokenizerOptions& options, std::string_view text) {
  std::string result;
  for_each_symbol(options, text, [&](std::string_view part, bool is_symbol) {
    result += is_symbol ? " " : std::string(part);
  });
  return result;
}

// Returns a line as a vocabulary is learnt from it.
std::string text_to_learn_from(const TokenizerOptions& options, std::string_view line) {
  return rewritten_part(options, without_symbols(options, line));
}

// Rewrites all text before another tokenizer encodes it, except user symbols.
class RewritingTokenizer : public Tokenizer {
 public:
  RewritingTokenizer(TokenizerOptions options, std::unique_ptr<Tokenizer> inner)
      : options_(std::move(options)), inner_(std::move(inner)) {}

  std::vector<std::int32_t> encode(std::string_view text) const override {
    return inner_->encode(rewritten(options_, text));
  }
  std::vector<std::int32_t> sample(std::string_view text, double amount,
                                   Random& random) const override {
    return inner_->sample(rewritten(options_, text), amount, random);
  }
  std::vector<std::string> pieces(std::string_view text,
                                  std::span<const std::int32_t> ids) const override {
    return inner_->pieces(rewritten(options_, text), ids);
  }
  std::string decode(std::span<const std::int32_t> ids) const override {
    return restored(inner_->decode(ids));
  }
  std::string token(std::int32_t id) const override { return inner_->token(id); }
  std::string join(const std::vector<std::string>& tokens) const override {
    return restored(inner_->join(tokens));
  }
  std::int64_t size() const override { return inner_->size(); }
  std::string serialized() const override { return inner_->serialized(); }

 private:
  std::string restored(std::string text) const {
    if (options_.kind != TokenizerKind::decomposed) return text;
    return join_parts(split_at_ascii_space(text));
  }

  TokenizerOptions options_;
  std::unique_ptr<Tokenizer> inner_;
};

bool is_sentencepiece(TokenizerKind kind) {
  return kind == TokenizerKind::bpe || kind == TokenizerKind::unigram;
}

// Returns a source of lines as a vocabulary is learnt from them. `next_line` must outlive it.
LineSource lines_to_learn_from(const TokenizerOptions& options, const LineSource& next_line) {
  if (!rewrites(options) && options.user_symbols.empty()) return next_line;
  return [&](std::string& line) {
    if (!next_line(line)) return false;
    line = text_to_learn_from(options, line);
    return true;
  };
}

std::unique_ptr<Tokenizer> rewriting(const TokenizerOptions& options,
                                     std::unique_ptr<Tokenizer> tokenizer) {
  if (!rewrites(options)) return tokenizer;
  return std::make_unique<RewritingTokenizer>(options, std::move(tokenizer));
}

}  // namespace

std::vector<std::string> Tokenizer::pieces(std::string_view /*text*/,
                                           std::span<const std::int32_t> ids) const {
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) tokens.push_back(token(id));
  return tokens;
}

std::string Tokenizer::join(const std::vector<std::string>& tokens) const {
  return fmt::format("{}", fmt::join(tokens, " "));
}

bool is_learnt_from_counts(TokenizerKind kind) {
  return !is_sentencepiece(kind);
}

void count_tokens(const TokenizerOptions& options, std::string_view line, TokenCounts& counts) {
  const bool is_plain = !rewrites(options) && options.user_symbols.empty();
  if (is_plain) return count_vocabulary_tokens(options.kind, line, counts);
  count_vocabulary_tokens(options.kind, text_to_learn_from(options, line), counts);
}

std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options,
                                          const TokenCounts& counts) {
  return rewriting(options, make_vocabulary_tokenizer(options, counts));
}

std::unique_ptr<Tokenizer> train_tokenizer(const TokenizerOptions& options,
                                           const LineSource& next_line, std::int64_t threads) {
  if (is_learnt_from_counts(options.kind)) {
    TokenCounts counts;
    for (std::string line; next_line(line);) count_tokens(options, line, counts);
    return make_tokenizer(options, counts);
  }
  return rewriting(options,
                   train_sentencepiece(options, lines_to_learn_from(options, next_line), threads));
}

std::string extend_tokenizer(const TokenizerOptions& options, const std::string& bytes,
                             const LineSource& next_line, std::int64_t threads) {
  if (is_sentencepiece(options.kind)) {
    return extend_sentencepiece(options, bytes, lines_to_learn_from(options, next_line), threads);
  }
  TokenCounts counts;
  for (std::string line; next_line(line);) count_tokens(options, line, counts);
  return extend_vocabulary(options, bytes, counts);
}

std::unique_ptr<Tokenizer> load_tokenizer(const TokenizerOptions& options, std::string_view bytes,
                                          const std::string& name) {
  return rewriting(options, is_sentencepiece(options.kind)
                                ? load_sentencepiece(options, bytes, name)
                                : load_vocabulary_tokenizer(options, bytes, name));
}

}  // namespace regard
