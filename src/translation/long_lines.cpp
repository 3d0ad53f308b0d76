#include "translation/long_lines.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "text/sentencepiece_model.h"
#include "text/unicode.h"
#include "text/unspaced_script.h"

namespace regard {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::array sentence_ends = {".", "!", "?", "…", "。", "！", "？", "؟", "।"};
constexpr std::array clause_ends = {",", ";", ":", "，", "、", "；", "：", "،", "؛"};
constexpr std::array closing_marks = {"\"", "'", ")", "]", "”", "’", "»", "」", "』", "）"};

// Returns the element of `endings` with which the word ends, or null.
template <std::size_t n>
const char* ending_of(std::string_view word, const std::array<const char*, n>& endings) {
  const auto found = std::find_if(endings.begin(), endings.end(),
                                  [&](const char* end) { return word.ends_with(end); });
  return found == endings.end() ? nullptr : *found;
}

// True if the word ends with one of `endings`, possibly followed by closing marks.
template <std::size_t n>
bool ends_with_any(std::string_view word, const std::array<const char*, n>& endings) {
  while (const char* mark = ending_of(word, closing_marks)) {
    word.remove_suffix(std::string_view(mark).size());
  }
  return ending_of(word, endings) != nullptr;
}

// True if the word begins with no capital.
bool is_lower(std::string_view word) {
  const auto text = decode_utf8(word);
  return to_lower(text).front() == text.front();
}

// Returns the number of words of the part of a sentence that begins at `begin`. The full stop of an
// abbreviation stands before a capital: another one there ends a sentence (SentenceSplitter).
std::size_t part_length(const Words& all, std::size_t begin, std::size_t max_words) {
  if (all.size() - begin <= max_words) return all.size() - begin;
  for (auto n = max_words; n > 0; --n) {
    if (ends_with_any(all[begin + n - 1], sentence_ends) && is_lower(all[begin + n])) return n;
  }
  for (auto n = max_words; n > 0; --n) {
    if (ends_with_any(all[begin + n - 1], clause_ends)) return n;
  }
  return max_words;
}

std::vector<std::string_view> parts_of_sentence(std::string_view sentence, std::size_t max_words) {
  const auto all = split_at_ascii_space(sentence);
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin < all.size();) {
    const auto end = begin + part_length(all, begin, max_words);
    const auto* last = all[end - 1].data() + all[end - 1].size();
    parts.emplace_back(all[begin].data(), static_cast<std::size_t>(last - all[begin].data()));
    begin = end;
  }
  return parts;
}

// Returns the sentences of a text. A full stop that is a word also ends one before lower case.
std::vector<std::string_view> sentences_in(const SentenceSplitter& splitter,
                                           std::string_view text) {
  std::vector<std::string_view> sentences;
  for (auto sentence : splitter.split(text)) {
    for (std::size_t at; (at = sentence.find(" . ")) != std::string_view::npos;) {
      sentences.push_back(sentence.substr(0, at + 2));
      sentence.remove_prefix(at + 3);
    }
    sentences.push_back(sentence);
  }
  return sentences;
}

// Builds the result of join_translations().
class JoinedTranslation {
 public:
  JoinedTranslation(std::span<const Translation* const> parts, const TextCodec& codec,
                    TokenizerKind kind)
      : codec_(codec), kind_(kind) {
    source_length_ = 1;  // </s>
    for (std::size_t i = 0; i < parts.size(); ++i) {
      joints_.push_back(i > 0 ? joint(*parts[i - 1], *parts[i]) : Joint());
      source_length_ += static_cast<std::size_t>(parts[i]->source_length);
      source_length_ += i > 0 && adds_space(joints_[i].source) ? 1 : 0;
    }
    hypothesis_.finished = true;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) add_space(joints_[i]);
      add(*parts[i], joints_[i], i + 1 == parts.size());
    }
  }

  Translation translation() {
    joined_.source_length = static_cast<std::int64_t>(source_length_) - 1;
    joined_.hypotheses.push_back(std::move(hypothesis_));
    return std::move(joined_);
  }

 private:
  // True if there is a space before a part.
  struct Joint {
    bool source = true;
    bool target = true;
  };

  Joint joint(const Translation& before, const Translation& after) const {
    const auto target = [&](const Translation& part) {
      return codec_.decode(part.hypotheses[0].tokens, part.oov_words);
    };
    const auto source = [&](const Translation& part) {
      return codec_.source->join({part.source_tokens.begin(), part.source_tokens.end() - 1});
    };
    const auto has_space = [](const std::string& left, const std::string& right) {
      return left.empty() || right.empty() || !space_between(left, right).empty();
    };
    Joint joint{.target = has_space(target(before), target(after))};
    if (!before.source_tokens.empty() && !after.source_tokens.empty()) {
      joint.source = has_space(source(before), source(after));
    }
    return joint;
  }

  bool adds_space(bool has_space) const { return has_space && kind_ == TokenizerKind::character; }
  // Returns the token without a space before it.
  std::string without_space(const std::string& token) const {
    const bool is_piece = kind_ == TokenizerKind::bpe || kind_ == TokenizerKind::unigram;
    return is_piece && token.starts_with(space_symbol) ? token.substr(space_symbol.size()) : token;
  }

  void add(const Translation& part, const Joint& joint, bool is_last) {
    const auto& hypothesis = part.hypotheses[0];
    const auto tokens = hypothesis.tokens.size();
    // The joined hypothesis ends in </s> if all parts do.
    const bool keeps_end = is_last && hypothesis.finished && hypothesis_.finished;
    const auto first = hypothesis_.tokens.size();
    const auto oov_offset = static_cast<std::int32_t>(joined_.oov_words.size());
    for (const auto token : hypothesis.tokens) {
      hypothesis_.tokens.push_back(token < codec_.target->size() ? token : token + oov_offset);
    }
    append(joined_.oov_words, part.oov_words, part.oov_words.size());
    if (!joint.target && tokens > 0) {
      const auto token = codec_.target_token(hypothesis.tokens[0], part.oov_words);
      if (auto text = without_space(token); text != token) {
        hypothesis_.tokens[first] = add_oov_word(std::move(text));
      }
    }
    if (!part.source_tokens.empty()) {
      const auto at = joined_.source_tokens.size();
      append(joined_.source_tokens, part.source_tokens,
             part.source_tokens.size() - (is_last ? 0 : 1));
      if (!joint.source) {
        joined_.source_tokens[at] = without_space(joined_.source_tokens[at]);
      }
    }
    for (const auto position : part.tags) joined_.tags.push_back(source_offset_ + position);
    append(hypothesis_.token_log_p, hypothesis.token_log_p, tokens + (keeps_end ? 1 : 0));
    if (hypothesis.finished && !keeps_end && !hypothesis_.token_log_p.empty()) {
      hypothesis_.token_log_p.back() += hypothesis.token_log_p.back();
    }
    for (std::size_t t = 0; t < std::min(hypothesis.weights.size(), tokens + (keeps_end ? 1 : 0));
         ++t) {
      add_weights(hypothesis.weights[t]);
    }
    hypothesis_.log_probability += hypothesis.log_probability;
    hypothesis_.score += hypothesis.score;
    hypothesis_.finished = hypothesis_.finished && hypothesis.finished;
    joined_.lacks_phrases = joined_.lacks_phrases || part.lacks_phrases;
    source_offset_ += static_cast<std::size_t>(part.source_length);
  }

  // Adds a space to source and target. Its attention is on the space in the source, or on </s>.
  void add_space(const Joint& joint) {
    if (adds_space(joint.target)) {
      hypothesis_.tokens.push_back(add_oov_word(" "));
      hypothesis_.token_log_p.push_back(0);
      if (!hypothesis_.weights.empty()) {
        add_weights(joint.source ? std::vector<float>{1, 0} : std::vector<float>{1});
      }
    }
    if (!adds_space(joint.source)) return;
    if (!joined_.source_tokens.empty()) joined_.source_tokens.emplace_back(" ");
    ++source_offset_;
  }

  std::int32_t add_oov_word(std::string word) {
    joined_.oov_words.push_back(std::move(word));
    return static_cast<std::int32_t>(codec_.target->size() +
                                     static_cast<std::int64_t>(joined_.oov_words.size()) - 1);
  }

  template <typename Value>
  static void append(std::vector<Value>& to, const std::vector<Value>& from, std::size_t count) {
    to.insert(to.end(), from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
  }

  // Adds a row of weights over the whole source: 0 outside the part; the weight of </s> is last.
  void add_weights(const std::vector<float>& part_weights) {
    std::vector<float> row(source_length_, 0);
    std::copy(part_weights.begin(), part_weights.end() - 1,
              row.begin() + static_cast<std::ptrdiff_t>(source_offset_));
    row.back() = part_weights.back();
    hypothesis_.weights.push_back(std::move(row));
  }

  const TextCodec& codec_;
  TokenizerKind kind_;
  std::vector<Joint> joints_;  // before each part
  std::size_t source_length_ = 0;
  std::size_t source_offset_ = 0;  // number of source tokens before the current part
  Translation joined_;
  Hypothesis hypothesis_;
};

}  // namespace

LineLengths line_lengths(const Corpus& corpus, const std::string& source_language) {
  constexpr std::int64_t fewest_pairs = 100;  // fewer say little about others
  constexpr std::int64_t most_pairs = 20000;
  constexpr std::int64_t most_texts = 1000;
  const auto& codec = corpus.codec();
  const bool has_sentences = !codec.features && !codec.source->reads_elements() &&
                             !codec.source->ignores_text() && codec.output != OutputKind::pointer;
  if (!has_sentences || corpus.size() < fewest_pairs) return {};
  const auto pairs = std::min(corpus.size(), most_pairs);
  const SentenceSplitter splitter(source_language);
  std::vector<std::int64_t> sources;
  std::vector<double> ratios;
  std::int64_t texts = 0;
  std::int64_t several = 0;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const auto pair = i * corpus.size() / pairs;
    const auto source = std::max<std::int64_t>(corpus.source_length(pair), 1);
    sources.push_back(source);
    ratios.push_back(static_cast<double>(corpus.target_length(pair)) / static_cast<double>(source));
    if (i * std::min(pairs, most_texts) / pairs < texts) continue;
    ++texts;
    several += sentences_in(splitter, codec.source->decode(corpus.pair(pair).source)).size() > 1;
  }
  const auto quantile = [](auto& values, std::size_t index) {
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(index));
    return values[index];
  };
  return {.long_source = quantile(sources, (sources.size() - 1) * 99 / 100),
          .low_ratio = quantile(ratios, (ratios.size() - 1) / 100),
          .several = static_cast<double>(several) / static_cast<double>(texts)};
}

LineSplitter::LineSplitter(TextCodec codec, std::vector<std::string> user_symbols,
                           const std::string& language)
    : codec_(std::move(codec)), user_symbols_(std::move(user_symbols)), sentences_(language) {}

std::vector<std::string> LineSplitter::split(const std::string& line,
                                             std::int64_t max_words) const {
  const auto all = split_at_ascii_space(line);
  std::string tags;
  std::size_t begin = 0;
  for (; begin < all.size() && std::ranges::count(user_symbols_, all[begin]) > 0; ++begin) {
    tags += std::string(all[begin]) + " ";
  }
  constexpr double usual = 0.1;
  const auto& trained = codec_.lengths;
  const bool packs = trained.several >= usual;
  const auto longest = max_words > 0 ? max_words : trained.long_source;
  const auto length = [&](std::string_view text) {
    return max_words > 0 ? std::ssize(split_at_ascii_space(text))
                         : std::ssize(codec_.source->encode(text));
  };
  if (begin == all.size() || longest == 0) return {line};
  const std::string_view body(
      all[begin].data(), static_cast<std::size_t>(line.data() + line.size() - all[begin].data()));
  const auto sentences = sentences_in(sentences_, body);
  if (max_words == 0 && sentences.size() < 2) return {line};
  if ((max_words > 0 || packs) && length(body) <= longest) return {line};

  std::vector<std::string_view> parts;
  for (const auto sentence : sentences) {
    const auto joined = [&] {
      const auto* from = parts.back().data();
      return std::string_view(from,
                              static_cast<std::size_t>(sentence.data() + sentence.size() - from));
    };
    if (packs && !parts.empty() && length(joined()) <= longest) {
      parts.back() = joined();
    } else if (max_words > 0) {
      for (const auto part : parts_of_sentence(sentence, static_cast<std::size_t>(max_words))) {
        parts.push_back(part);
      }
    } else {
      parts.push_back(sentence);
    }
  }
  std::vector<std::string> result;
  result.reserve(parts.size());
  for (const auto part : parts) result.push_back(tags + std::string(part));
  return result;
}

void add_source_tokens(const TextCodec& codec, const std::string& line,
                       const std::vector<std::string>& parts, Translation& translation) {
  auto& all = translation.source_tokens;
  if (translation.hypotheses.empty() || !all.empty()) return;
  const auto add = [&](const std::string& text) {
    if (is_blank(text)) return;
    if (!all.empty()) all.pop_back();  // only the last </s> remains
    const auto tokens = source_tokens(codec, text, codec.encode_source(text));
    all.insert(all.end(), tokens.begin(), tokens.end());
  };
  if (parts.empty()) add(line);
  for (const auto& part : parts) add(part);
}

Translation join_translations(std::span<const Translation> parts, const TextCodec& codec,
                              TokenizerKind kind) {
  if (parts.size() == 1) return parts[0];
  std::vector<const Translation*> nonempty;
  for (const auto& part : parts) {
    if (!part.hypotheses.empty()) nonempty.push_back(&part);
  }
  if (nonempty.empty()) return {};
  return JoinedTranslation(nonempty, codec, kind).translation();
}

}  // namespace regard
