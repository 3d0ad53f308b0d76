#include "translation/phrase_constraints.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/special_tokens.h"
#include "base/strings.h"
#include "text/sentencepiece_model.h"
#include "text/unicode.h"
#include "text/unspaced_script.h"

namespace regard {
namespace {

constexpr char32_t space = 0x2581;  // SentencePiece's ▁

bool is_subword(TokenizerKind kind) {
  return kind == TokenizerKind::bpe || kind == TokenizerKind::unigram;
}

}  // namespace

// The texts of all tokens, by the characters in them.
class PhraseEncoder::Subwords {
 public:
  explicit Subwords(const Tokenizer& tokenizer) {
    texts_.resize(static_cast<std::size_t>(tokenizer.size()));
    for (std::int32_t id = special_count; id < tokenizer.size(); ++id) {
      auto& text = texts_[static_cast<std::size_t>(id)];
      text = decode_utf8(tokenizer.token(id));
      if (text.empty()) continue;
      beginning_[text.front()].push_back(id);
      for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.find(text[i]) == i) containing_[text[i]].push_back(id);
      }
    }
  }

  const std::u32string& text(std::int32_t id) const { return texts_[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return texts_.size(); }

  template <typename Visit>
  void for_each_beginning_with(char32_t c, const Visit& visit) const {
    for_each_in(beginning_, c, visit);
  }
  template <typename Visit>
  void for_each_containing(char32_t c, const Visit& visit) const {
    for_each_in(containing_, c, visit);
  }

 private:
  using Index = std::unordered_map<char32_t, std::vector<std::int32_t>>;

  template <typename Visit>
  void for_each_in(const Index& index, char32_t c, const Visit& visit) const {
    const auto found = index.find(c);
    if (found == index.end()) return;
    for (const auto id : found->second) visit(id, std::u32string_view(text(id)));
  }

  std::vector<std::u32string> texts_;
  Index beginning_, containing_;
};

namespace {

// Makes the states of a phrase over sub-words: the numbers of characters of "▁phrase" that the
// tokens have so far. At a word boundary, the phrase may also begin without ▁.
class PatternOfPhrase {
 public:
  // `ids` are the tokens of the phrase as a text of its own.
  PatternOfPhrase(const PhraseEncoder::Subwords& subwords, const std::vector<std::int32_t>& ids)
      : subwords_(subwords), ids_(ids), text_(1, space) {
    for (const auto id : ids) text_ += subwords.text(id);
    if (text_.starts_with(std::u32string(2, space))) text_.erase(0, 1);
    states_.resize(text_.size());
  }

  // False if the text of a token is not known.
  bool has_text() const {
    return text_.size() > 1 && std::ranges::none_of(ids_, [this](std::int32_t id) {
             return subwords_.text(id).empty();
           });
  }

  // False for a user symbol.
  bool begins_with_space() const { return subwords_.text(ids_.front()).front() == space; }

  // Returns the pattern of the phrase at any place of a translation.
  TokenPattern pattern() {
    add_edges(1);
    add_first_edges();
    propose();
    return {std::move(states_), ids_};
  }
  // Returns the pattern of the phrase at the beginning of a translation.
  TokenPattern prefix() {
    add_edges(0);
    return {std::move(states_), ids_};
  }

 private:
  using Edge = TokenPattern::Edge;

  // The edge of a token of which `rest` stands at character `at` of the text; none into a state
  // that no token leaves. The states behind it are complete.
  std::optional<Edge> edge_of(std::size_t at, std::int32_t id, std::u32string_view rest) const {
    const auto wanted = std::u32string_view(text_).substr(at);
    if (wanted.starts_with(rest)) {
      const auto to = at + rest.size();
      if (to < states_.size() && states_[to].edges.empty()) return std::nullopt;
      return Edge{.token = id, .to = to};
    }
    const bool closes =
        rest.starts_with(wanted) && is_word_boundary(text_.back(), rest[wanted.size()]);
    if (!closes) return std::nullopt;
    return Edge{.token = id, .to = text_.size(), .closes = true};
  }

  // Adds the edges from the state `first` and those behind it.
  void add_edges(std::size_t first) {
    for (auto state = text_.size(); state-- > first;) {
      subwords_.for_each_beginning_with(text_[state], [&](std::int32_t id, auto token) {
        if (auto edge = edge_of(state, id, token)) states_[state].edges.push_back(*edge);
      });
    }
  }

  void add_first_edges() {
    auto& edges = states_[0].edges;
    const auto first = text_[1];
    subwords_.for_each_containing(first, [&](std::int32_t id, std::u32string_view token) {
      for (std::size_t at = 0; at < token.size(); ++at) {
        if (token[at] != first || (at > 0 && !is_word_boundary(token[at - 1], first))) continue;
        auto edge = edge_of(1, id, token.substr(at));
        if (!edge) continue;
        edge->begins = at == 0;
        edges.push_back(*edge);
        const bool is_longer = !without_space_ || edge->to > without_space_->to;
        if (at == 0 && !edge->closes && is_longer) without_space_ = edge;
      }
    });
    subwords_.for_each_containing(space, [&](std::int32_t id, std::u32string_view token) {
      if (token.back() == space) edges.push_back({.token = id, .to = 1});
    });
  }

  // Proposes the tokens of `ids_` where they lead, and elsewhere the longest token.
  void propose() {
    std::size_t at = 0;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      states_[at].proposed = {ids_[i]};
      states_[at].remaining = static_cast<std::int64_t>(ids_.size() - i);
      const auto& token = subwords_.text(ids_[i]);
      at += token.size() + (i == 0 && token.front() != space ? 1 : 0);
    }
    for (auto state = text_.size(); state-- > 1;) {
      if (states_[state].proposed.empty()) propose_longest(states_[state]);
    }
    if (!without_space_ || without_space_->token == ids_.front()) return;
    states_[0].proposed.push_back(without_space_->token);
    states_[0].remaining = std::max(states_[0].remaining, 1 + remaining(without_space_->to));
  }

  void propose_longest(TokenPattern::State& state) const {
    const Edge* longest = nullptr;
    for (const auto& edge : state.edges) {
      if (!edge.closes && (longest == nullptr || edge.to > longest->to)) longest = &edge;
    }
    if (longest == nullptr) return;
    state.proposed = {longest->token};
    state.remaining = 1 + remaining(longest->to);
  }

  std::int64_t remaining(std::size_t state) const {
    return state < states_.size() ? states_[state].remaining : 0;
  }

  const PhraseEncoder::Subwords& subwords_;
  const std::vector<std::int32_t>& ids_;
  std::u32string text_;
  std::vector<TokenPattern::State> states_;
  std::optional<Edge> without_space_;  // the longest token that begins the phrase without ▁
};

}  // namespace

PhraseEncoder::PhraseEncoder(const TextCodec& codec, TokenizerKind kind)
    : tokenizer_(codec.target), has_words_(codec.output != OutputKind::pointer) {
  if (!has_words_ || !is_subword(kind)) return;
  subwords_ = std::make_shared<Subwords>(*tokenizer_);
  words_.begins_inside.resize(subwords_->size());
  words_.ends_inside.resize(subwords_->size());
  for (std::size_t id = 0; id < subwords_->size(); ++id) {
    const auto& text = subwords_->text(static_cast<std::int32_t>(id));
    if (text.empty()) continue;
    words_.begins_inside[id] = is_inside_word(text.front());  // ▁ is not
    words_.ends_inside[id] = is_inside_word(text.back());
  }
}

TokenPattern PhraseEncoder::pattern(const std::vector<std::int32_t>& ids) const {
  if (!subwords_) return TokenPattern(ids);
  PatternOfPhrase pattern(*subwords_, ids);
  return pattern.has_text() ? pattern.pattern() : TokenPattern(ids);
}

std::vector<std::int32_t> PhraseEncoder::tokens(const std::string& phrase, const std::string& place,
                                                std::string_view option) const {
  auto ids = tokenizer_->encode(phrase);
  const auto unknown = std::ranges::find(ids, unk_id);
  if (unknown == ids.end()) return ids;
  const auto pieces = tokenizer_->pieces(phrase, ids);
  const auto at = static_cast<std::size_t>(unknown - ids.begin());
  throw InputError("{}: `{}` is not in the model's vocabulary, so {} cannot use it", place,
                   excerpt(at < pieces.size() ? without_literal_symbols(pieces[at]) : phrase),
                   option);
}

std::optional<std::vector<std::int32_t>> PhraseEncoder::known_tokens(
    std::string_view phrase) const {
  auto ids = tokenizer_->encode(phrase);
  if (std::ranges::count(ids, unk_id) > 0) return std::nullopt;
  return ids;
}

void PhraseEncoder::set_prefix(const std::string& prefix, const std::string& place,
                               std::string_view option, SentenceOptions& sentence) const {
  if (is_blank(prefix)) return;
  sentence.prefix = tokens(prefix, place, option);
  if (!subwords_ || sentence.prefix.empty()) return;
  PatternOfPhrase pattern(*subwords_, sentence.prefix);
  if (pattern.has_text() && pattern.begins_with_space()) sentence.prefix_pattern = pattern.prefix();
}

void PhraseEncoder::add_required(const std::string& phrase, const std::string& place,
                                 std::string_view option, SentenceOptions& sentence) const {
  const auto ids = tokens(phrase, place, option);
  if (!ids.empty()) sentence.required_phrases.push_back(pattern(ids));
}

bool PhraseEncoder::add_banned(std::string_view phrase, SentenceOptions& sentence) const {
  const auto ids = known_tokens(phrase);
  if (ids && !ids->empty()) sentence.bad_words.push_back(pattern(*ids));
  return ids.has_value();
}

void PhraseEncoder::check(const SentenceOptions& sentence, std::int64_t max_output_length,
                          const ConstraintPlaces& places, std::string_view advice) const {
  auto needed = static_cast<std::int64_t>(sentence.prefix.size());
  for (const auto& phrase : sentence.required_phrases) needed += phrase.length();
  // The maximum includes </s>.
  if (needed > 0 && needed >= max_output_length) {
    throw InputError("{}: found {}, expected fewer than max_output_length, {}; raise it with {}",
                     sentence.required_phrases.empty() ? places.prefix : places.required,
                     counted(needed, "token"), max_output_length, advice);
  }
  for (const auto& ban : sentence.bad_words) {
    const auto contradicts = [&](const TokenPattern& phrase) {
      return ban.is_in(phrase.tokens(), words_);
    };
    const bool is_required = std::ranges::any_of(sentence.required_phrases, contradicts);
    if (!is_required && !ban.is_in(sentence.prefix, words_)) continue;
    throw InputError("{}: `{}` is banned, but {} requires it", places.banned,
                     tokenizer_->decode(ban.tokens()),
                     is_required ? places.required : places.prefix);
  }
}

SentenceOptions PhraseEncoder::encode(const PhraseConstraints& phrases,
                                      std::int64_t max_output_length) const {
  SentenceOptions sentence;
  if (phrases.prefix.empty() && phrases.require.empty() && phrases.ban.empty()) return sentence;
  if (!has_words_) {
    throw InputError("prefix, require and ban: the model outputs source positions, not words");
  }
  set_prefix(phrases.prefix, "prefix", "prefix", sentence);
  for (const auto& phrase : phrases.require) add_required(phrase, "require", "require", sentence);
  for (const auto& phrase : phrases.ban) add_banned(phrase, sentence);
  check(sentence, max_output_length, {"prefix", "require", "ban"}, "search.max_output_length");
  return sentence;
}

}  // namespace regard
