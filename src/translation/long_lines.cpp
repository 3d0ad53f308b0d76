#include "translation/long_lines.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "text/unicode.h"

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

// Returns the number of words of the part that begins at `begin`.
std::size_t part_length(const Words& all, std::size_t begin, std::size_t max_words) {
  if (all.size() - begin <= max_words) return all.size() - begin;
  for (auto n = max_words; n > 0; --n) {
    if (ends_with_any(all[begin + n - 1], sentence_ends)) return n;
  }
  for (auto n = max_words; n > 0; --n) {
    if (ends_with_any(all[begin + n - 1], clause_ends)) return n;
  }
  return max_words;
}

// Builds the result of join_translations().
class JoinedTranslation {
 public:
  // source_length is the number of source tokens of all parts, with added spaces and one </s>.
  JoinedTranslation(std::int64_t target_vocabulary, std::size_t source_length)
      : target_vocabulary_(target_vocabulary), source_length_(source_length) {
    hypothesis_.finished = true;
  }

  void add(const Translation& part, bool is_last) {
    const auto& hypothesis = part.hypotheses[0];
    const auto tokens = hypothesis.tokens.size();
    // The joined hypothesis ends in </s> if all parts do.
    const bool keeps_end = is_last && hypothesis.finished && hypothesis_.finished;
    const auto oov_offset = static_cast<std::int32_t>(joined_.oov_words.size());
    for (const auto token : hypothesis.tokens) {
      hypothesis_.tokens.push_back(token < target_vocabulary_ ? token : token + oov_offset);
    }
    append(joined_.oov_words, part.oov_words, part.oov_words.size());
    if (!part.source_tokens.empty()) {
      append(joined_.source_tokens, part.source_tokens,
             part.source_tokens.size() - (is_last ? 0 : 1));
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
    source_offset_ += static_cast<std::size_t>(part.source_length);
  }

  // Adds a space to source and target. Its attention is on the space in the source.
  void add_space() {
    hypothesis_.tokens.push_back(static_cast<std::int32_t>(
        target_vocabulary_ + static_cast<std::int64_t>(joined_.oov_words.size())));
    hypothesis_.token_log_p.push_back(0);
    joined_.oov_words.emplace_back(" ");
    if (!joined_.source_tokens.empty()) joined_.source_tokens.emplace_back(" ");
    if (!hypothesis_.weights.empty()) add_weights({1, 0});
    ++source_offset_;
  }

  Translation translation() {
    joined_.source_length = static_cast<std::int64_t>(source_length_) - 1;
    joined_.hypotheses.push_back(std::move(hypothesis_));
    return std::move(joined_);
  }

 private:
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

  std::int64_t target_vocabulary_;
  std::size_t source_length_;
  std::size_t source_offset_ = 0;  // number of source tokens before the current part
  Translation joined_;
  Hypothesis hypothesis_;
};

}  // namespace

std::vector<std::string> split_line(const std::string& line, std::int64_t max_words,
                                    std::span<const std::string> user_symbols) {
  const auto all = split_at_ascii_space(line);
  const auto longest = static_cast<std::size_t>(max_words);
  std::string tags;
  std::size_t begin = 0;
  for (; begin < all.size() && std::ranges::count(user_symbols, all[begin]) > 0; ++begin) {
    tags += std::string(all[begin]) + " ";
  }
  if (all.size() - begin <= longest) return {line};
  std::vector<std::string> parts;
  while (begin < all.size()) {
    const auto last = begin + part_length(all, begin, longest) - 1;
    const char* end = all[last].data() + all[last].size();
    parts.push_back(tags + std::string(all[begin].data(), end));
    begin = last + 1;
  }
  return parts;
}

Translation join_translations(std::span<const Translation> parts, std::int64_t target_vocabulary,
                              TokenizerKind kind) {
  if (parts.size() == 1) return parts[0];
  std::vector<const Translation*> nonempty;
  for (const auto& part : parts) {
    if (!part.hypotheses.empty()) nonempty.push_back(&part);
  }
  if (nonempty.empty()) return {};
  const bool spaces = kind == TokenizerKind::character;
  std::size_t source_length = 1 + (spaces ? nonempty.size() - 1 : 0);  // </s>
  for (const auto* part : nonempty) {
    source_length += static_cast<std::size_t>(part->source_length);
  }
  JoinedTranslation joined(target_vocabulary, source_length);
  for (const auto* part : nonempty) {
    if (spaces && part != nonempty.front()) joined.add_space();
    joined.add(*part, part == nonempty.back());
  }
  return joined.translation();
}

}  // namespace regard
