#include "text/plain_tokenizers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/strings.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

namespace regard {
namespace {

std::vector<std::string_view> split_tokens(TokenizerKind kind, std::string_view text) {
  return kind == TokenizerKind::character ? code_points(text) : split_at_ascii_space(text);
}

// Splits a text into tokens, with each symbol as one token.
std::vector<std::string_view> split_tokens(TokenizerKind kind, std::string_view text,
                                           std::span<const std::string> symbols) {
  if (kind != TokenizerKind::character || symbols.empty()) return split_tokens(kind, text);
  std::vector<std::string_view> tokens;
  for_each_part(text, symbols, [&](std::string_view part, bool is_symbol) {
    if (is_symbol) return tokens.push_back(part);
    const auto characters = code_points(part);
    tokens.insert(tokens.end(), characters.begin(), characters.end());
  });
  return tokens;
}

class VocabularyTokenizer : public Tokenizer {
 public:
  VocabularyTokenizer(const TokenizerOptions& options, Vocabulary vocabulary)
      : kind_(options.kind), symbols_(options.user_symbols), vocabulary_(std::move(vocabulary)) {
    for (const auto& symbol : symbols_) vocabulary_.add(symbol);
  }

  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> ids;
    for (const std::string_view token : split_tokens(kind_, text, symbols_))
      ids.push_back(vocabulary_.id(token));
    return ids;
  }

  std::vector<std::string> pieces(std::string_view text,
                                  std::span<const std::int32_t> /*ids*/) const override {
    const auto tokens = split_tokens(kind_, text, symbols_);
    return {tokens.begin(), tokens.end()};
  }

  std::string decode(std::span<const std::int32_t> ids) const override {
    std::string text;
    bool first = true;
    for (const std::int32_t id : ids) {
      if (id < special_count && id != unk_id) continue;
      if (kind_ != TokenizerKind::character && !first) text += ' ';
      text += vocabulary_.token(id);
      first = false;
    }
    return text;
  }

  std::string token(std::int32_t id) const override { return vocabulary_.token(id); }
  std::string join(const std::vector<std::string>& tokens) const override {
    if (kind_ != TokenizerKind::character) return Tokenizer::join(tokens);
    std::string text;
    for (const auto& token : tokens) text += token;
    return text;
  }
  std::int64_t size() const override { return vocabulary_.size(); }
  std::string serialized() const override { return vocabulary_.serialized(); }

 private:
  TokenizerKind kind_;
  std::vector<std::string> symbols_;
  Vocabulary vocabulary_;
};

}  // namespace

void count_vocabulary_tokens(TokenizerKind kind, std::string_view line, TokenCounts& counts) {
  for (const std::string_view token : split_tokens(kind, line)) {
    const auto found = counts.find(token);
    if (found != counts.end()) {
      ++found->second;
    } else {
      counts.emplace(token, 1);
    }
  }
}

std::unique_ptr<Tokenizer> make_vocabulary_tokenizer(const TokenizerOptions& options,
                                                     const TokenCounts& counts) {
  if (counts.empty()) throw InputError("found no text to make a vocabulary from");
  Vocabulary vocabulary(counts, options.min_frequency, options.vocabulary_size);
  if (vocabulary.size() == special_count) {
    throw ConfigError(
        "data.tokenizer.min_frequency is {}, but no token of the training text occurs so often; "
        "lower it",
        options.min_frequency);
  }
  return std::make_unique<VocabularyTokenizer>(options, std::move(vocabulary));
}

std::unique_ptr<Tokenizer> load_vocabulary_tokenizer(const TokenizerOptions& options,
                                                     std::string_view bytes,
                                                     const std::string& name) {
  const auto kind = options.kind;
  const auto fault = [&](std::string_view token) -> std::string {
    const auto tokens = split_tokens(kind, token, options.user_symbols);
    if (tokens.size() == 1 && tokens.front() == token) return {};
    return kind == TokenizerKind::character
               ? "is more than one character (if it is a user symbol, add it to "
                 "data.tokenizer.user_symbols)"
               : "contains white space, which a word cannot";
  };
  Vocabulary vocabulary = Vocabulary::parse(bytes, name, fault);
  if (vocabulary.size() == special_count) {
    throw InputError("{}: found no tokens, expected one per line", name);
  }
  return std::make_unique<VocabularyTokenizer>(options, std::move(vocabulary));
}

std::string extend_vocabulary(const TokenizerOptions& options, std::string_view bytes,
                              const TokenCounts& counts) {
  auto vocabulary = Vocabulary::parse(bytes, "the initial model", [](auto) { return ""; });
  const auto limit = vocabulary.size() + options.extend_by;
  constexpr auto all = std::numeric_limits<std::int64_t>::max();
  const Vocabulary by_frequency(counts, options.min_frequency, all);
  for (std::int64_t id = special_count; id < by_frequency.size(); ++id) {
    if (vocabulary.size() >= limit) break;
    vocabulary.add(by_frequency.token(static_cast<std::int32_t>(id)));
  }
  return vocabulary.serialized();
}

namespace {

class NumbersTokenizer : public Tokenizer {
 public:
  explicit NumbersTokenizer(std::int64_t width) : width_(width) {}

  std::vector<std::int32_t> encode(std::string_view text) const override {
    constexpr std::int32_t vector_id = special_count;  // of every vector
    return std::vector<std::int32_t>(split_at_ascii_space(text).size(), vector_id);
  }
  std::vector<float> numbers(std::string_view text) const override {
    std::vector<float> values;
    for (const std::string_view word : split_at_ascii_space(text)) {
      append_vector(word, values);
      values.push_back(0);
    }
    // </s> is a vector of zeros; its last value, 1, marks it.
    values.insert(values.end(), static_cast<std::size_t>(width_), 0);
    values.push_back(1);
    return values;
  }
  std::vector<std::string> pieces(std::string_view text,
                                  std::span<const std::int32_t> /*ids*/) const override {
    const auto words = split_at_ascii_space(text);
    return {words.begin(), words.end()};
  }
  bool reads_elements() const override { return true; }
  std::string decode(std::span<const std::int32_t> /*ids*/) const override { return {}; }
  std::string token(std::int32_t /*id*/) const override { return "#"; }
  std::int64_t size() const override { return special_count + 1; }
  std::string serialized() const override { return {}; }

 private:
  void append_vector(std::string_view word, std::vector<float>& values) const {
    std::int64_t count = 0;
    for (std::size_t begin = 0; begin <= word.size(); ++count) {
      const std::size_t comma = std::min(word.find(',', begin), word.size());
      const auto number = parse_number<float>(word.substr(begin, comma - begin));
      if (!number || !std::isfinite(*number)) {
        throw InputError(
            "found `{}`, expected a vector of numbers, as in 0.5,-2 (model.encoder.numbers)",
            excerpt(word));
      }
      values.push_back(*number);
      begin = comma + 1;
    }
    if (count != width_) {
      throw InputError("`{}` has {}, expected {} (model.encoder.numbers)", excerpt(word),
                       counted(count, "number"), width_);
    }
  }

  std::int64_t width_;
};

class FeaturesTokenizer : public Tokenizer {
 public:
  explicit FeaturesTokenizer(std::string settings) : settings_(std::move(settings)) {}

  std::vector<std::int32_t> encode(std::string_view /*text*/) const override { return {}; }
  bool reads_elements() const override { return true; }
  std::string decode(std::span<const std::int32_t> /*ids*/) const override { return {}; }
  std::string token(std::int32_t /*id*/) const override { return "#"; }
  std::int64_t size() const override { return special_count; }
  std::string serialized() const override { return settings_; }

 private:
  std::string settings_;
};

class PositionsTokenizer : public Tokenizer {
 public:
  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> ids;
    for (const std::string_view word : split_at_ascii_space(text)) {
      const auto position = parse_number<std::int32_t>(word);
      if (!position || *position < 0 ||
          *position > std::numeric_limits<std::int32_t>::max() - first_position_id) {
        throw InputError("found `{}`, expected a source position: a whole number, counted from 0",
                         excerpt(word));
      }
      ids.push_back(first_position_id + *position);
    }
    return ids;
  }
  bool reads_elements() const override { return true; }
  std::string decode(std::span<const std::int32_t> ids) const override {
    std::string text;
    for (const std::int32_t id : ids) {
      if (id >= special_count) text += (text.empty() ? "" : " ") + token(id);
    }
    return text;
  }
  std::string token(std::int32_t id) const override {
    return id < special_count ? std::string(special_name(id))
                              : std::to_string(id - first_position_id);
  }
  std::int64_t size() const override { return special_count; }
  std::string serialized() const override { return {}; }
};

class EmptyTokenizer : public Tokenizer {
 public:
  std::vector<std::int32_t> encode(std::string_view /*text*/) const override { return {unk_id}; }
  bool ignores_text() const override { return true; }
  std::string decode(std::span<const std::int32_t> /*ids*/) const override { return {}; }
  std::string token(std::int32_t id) const override { return std::string(special_name(id)); }
  std::int64_t size() const override { return special_count; }
  std::string serialized() const override { return {}; }
};

}  // namespace

std::unique_ptr<Tokenizer> make_numbers_tokenizer(std::int64_t width) {
  return std::make_unique<NumbersTokenizer>(width);
}

std::unique_ptr<Tokenizer> make_features_tokenizer(std::string settings) {
  return std::make_unique<FeaturesTokenizer>(std::move(settings));
}

std::unique_ptr<Tokenizer> make_positions_tokenizer() {
  return std::make_unique<PositionsTokenizer>();
}

std::unique_ptr<Tokenizer> make_empty_tokenizer() {
  return std::make_unique<EmptyTokenizer>();
}

}  // namespace regard
