#include "text/tokenizer.h"

#include <fmt/ranges.h>

#include <utility>

#include "text/plain_tokenizers.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

namespace regard {
namespace {

std::string lowered(std::string_view text) {
  return encode_utf8(to_lower(decode_utf8(text)));
}

// Lower-cases all text before another tokenizer encodes it.
class LowercaseTokenizer : public Tokenizer {
 public:
  explicit LowercaseTokenizer(std::unique_ptr<Tokenizer> inner) : inner_(std::move(inner)) {}

  std::vector<std::int32_t> encode(std::string_view text) const override {
    return inner_->encode(lowered(text));
  }
  std::vector<std::int32_t> sample(std::string_view text, double amount,
                                   Random& random) const override {
    return inner_->sample(lowered(text), amount, random);
  }
  std::vector<std::string> pieces(std::string_view text,
                                  std::span<const std::int32_t> ids) const override {
    return inner_->pieces(lowered(text), ids);
  }
  std::string decode(std::span<const std::int32_t> ids) const override {
    return inner_->decode(ids);
  }
  std::string token(std::int32_t id) const override { return inner_->token(id); }
  std::string join(const std::vector<std::string>& tokens) const override {
    return inner_->join(tokens);
  }
  std::int64_t size() const override { return inner_->size(); }
  std::string serialized() const override { return inner_->serialized(); }

 private:
  std::unique_ptr<Tokenizer> inner_;
};

bool is_sentencepiece(TokenizerKind kind) {
  return kind == TokenizerKind::bpe || kind == TokenizerKind::unigram;
}

std::unique_ptr<Tokenizer> with_case(const TokenizerOptions& options,
                                     std::unique_ptr<Tokenizer> tokenizer) {
  if (!options.lowercase) return tokenizer;
  return std::make_unique<LowercaseTokenizer>(std::move(tokenizer));
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
  if (!options.lowercase) return count_vocabulary_tokens(options.kind, line, counts);
  count_vocabulary_tokens(options.kind, lowered(line), counts);
}

std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options,
                                          const TokenCounts& counts) {
  return with_case(options, make_vocabulary_tokenizer(options, counts));
}

std::unique_ptr<Tokenizer> train_tokenizer(const TokenizerOptions& options,
                                           const LineSource& next_line, std::int64_t threads) {
  if (is_learnt_from_counts(options.kind)) {
    TokenCounts counts;
    for (std::string line; next_line(line);) count_tokens(options, line, counts);
    return make_tokenizer(options, counts);
  }
  LineSource source = next_line;
  if (options.lowercase) {
    source = [&next_line](std::string& line) {
      if (!next_line(line)) return false;
      line = lowered(line);
      return true;
    };
  }
  return with_case(options, train_sentencepiece(options, source, threads));
}

std::unique_ptr<Tokenizer> load_tokenizer(const TokenizerOptions& options, std::string_view bytes,
                                          const std::string& name) {
  return with_case(options, is_sentencepiece(options.kind)
                                ? load_sentencepiece(bytes, name)
                                : load_vocabulary_tokenizer(options.kind, bytes, name));
}

std::vector<bool> continuation_tokens(const Tokenizer& tokenizer, TokenizerKind kind) {
  if (!is_sentencepiece(kind)) return {};
  std::vector<bool> continues_word(static_cast<std::size_t>(tokenizer.size()), false);
  for (std::int32_t id = special_count; id < tokenizer.size(); ++id) {
    const auto first = decode_utf8(tokenizer.token(id)).front();  // ▁ is neither
    continues_word[static_cast<std::size_t>(id)] = is_letter(first) || is_number(first);
  }
  return continues_word;
}

}  // namespace regard
