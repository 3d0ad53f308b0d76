#include "text/vocabulary_tokenizer.h"

#include <utility>

#include "base/error.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace regard {
namespace {

std::vector<std::string_view> split(TokenizerKind kind, std::string_view text) {
  return kind == TokenizerKind::word ? split_at_ascii_space(text) : code_points(text);
}

class VocabularyTokenizer : public Tokenizer {
 public:
  VocabularyTokenizer(TokenizerKind kind, Vocabulary vocabulary)
      : kind_(kind), vocabulary_(std::move(vocabulary)) {}

  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> ids;
    for (const std::string_view token : split(kind_, text)) ids.push_back(vocabulary_.id(token));
    return ids;
  }

  std::vector<std::string> pieces(std::string_view text) const override {
    const auto tokens = split(kind_, text);
    return {tokens.begin(), tokens.end()};
  }

  std::string decode(std::span<const std::int32_t> ids) const override {
    std::string text;
    bool first = true;
    for (const std::int32_t id : ids) {
      if (id < special_count && id != unk_id) continue;
      if (kind_ == TokenizerKind::word && !first) text += ' ';
      text += vocabulary_.token(id);
      first = false;
    }
    return text;
  }

  std::string token(std::int32_t id) const override { return vocabulary_.token(id); }
  std::string join(const std::vector<std::string>& tokens) const override {
    if (kind_ == TokenizerKind::word) return Tokenizer::join(tokens);
    std::string text;
    for (const auto& token : tokens) text += token;
    return text;
  }
  std::int64_t size() const override { return vocabulary_.size(); }
  std::string serialized() const override { return vocabulary_.serialized(); }

 private:
  TokenizerKind kind_;
  Vocabulary vocabulary_;
};

}  // namespace

std::unique_ptr<Tokenizer> train_vocabulary_tokenizer(const TokenizerOptions& options,
                                                      const LineSource& next_line) {
  Vocabulary::Counts counts;
  std::string line;
  while (next_line(line)) {
    for (const std::string_view token : split(options.kind, line)) ++counts[std::string(token)];
  }
  if (counts.empty()) throw InputError("found no text to make a vocabulary from");
  Vocabulary vocabulary(counts, options.min_frequency, options.vocabulary_size);
  if (vocabulary.size() == special_count) {
    throw ConfigError(
        "data.tokenizer.min_frequency is {}, but no token of the training text occurs so often; "
        "lower it",
        options.min_frequency);
  }
  return std::make_unique<VocabularyTokenizer>(options.kind, std::move(vocabulary));
}

std::unique_ptr<Tokenizer> load_vocabulary_tokenizer(TokenizerKind kind, std::string_view bytes,
                                                     const std::string& name) {
  const auto fault = [kind](std::string_view token) -> std::string {
    if (split(kind, token).size() == 1 && split(kind, token).front() == token) return {};
    return kind == TokenizerKind::word ? "contains white space, which a word cannot"
                                       : "is more than one character";
  };
  Vocabulary vocabulary = Vocabulary::parse(bytes, name, fault);
  if (vocabulary.size() == special_count) {
    throw InputError("{}: found no tokens, expected one per line", name);
  }
  return std::make_unique<VocabularyTokenizer>(kind, std::move(vocabulary));
}

}  // namespace regard
