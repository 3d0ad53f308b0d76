#include "translation/long_lines.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "text/words.h"

namespace regard {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::array sentence_ends = {".", "!", "?", "…", "。", "！", "？", "؟", "।"};
constexpr std::array clause_ends = {",", ";", ":", "，", "、", "；", "：", "،", "؛"};
constexpr std::array closing = {"\"", "'", ")", "]", "”", "’", "»", "」", "』", "）"};

template <std::size_t n>
const char* ending_of(std::string_view word, const std::array<const char*, n>& endings) {
  const auto found = std::find_if(endings.begin(), endings.end(),
                                  [&](const char* end) { return word.ends_with(end); });
  return found == endings.end() ? nullptr : *found;
}

template <std::size_t n>
bool ends(std::string_view word, const std::array<const char*, n>& endings) {
  while (const char* mark = ending_of(word, closing)) {
    word.remove_suffix(std::string_view(mark).size());
  }
  return ending_of(word, endings) != nullptr;
}

// How many words the part has that begins at `begin`.
std::size_t length_of_part(const Words& all, std::size_t begin, std::size_t most) {
  if (all.size() - begin <= most) return all.size() - begin;
  for (auto n = most; n > 0; --n) {
    if (ends(all[begin + n - 1], sentence_ends)) return n;
  }
  for (auto n = most; n > 0; --n) {
    if (ends(all[begin + n - 1], clause_ends)) return n;
  }
  return most;
}

void append(Hypothesis& whole, const Hypothesis& part, bool is_last) {
  const auto kept = is_last ? part.token_log_p.size() : part.tokens.size();
  whole.token_log_p.insert(whole.token_log_p.end(), part.token_log_p.begin(),
                           part.token_log_p.begin() + static_cast<std::ptrdiff_t>(kept));
  whole.log_probability += part.log_probability;
  whole.score += part.score;
  whole.finished = whole.finished && part.finished;
}

// Rows of a part's weights over the whole source: [tokens (+ </s>)][S].
void append_weights(Hypothesis& whole, const Hypothesis& part, std::size_t before,
                    std::size_t source_length, bool is_last) {
  const auto rows =
      is_last ? part.weights.size() : std::min(part.weights.size(), part.tokens.size());
  for (std::size_t t = 0; t < rows; ++t) {
    std::vector<float> row(source_length, 0);
    const auto own = part.weights[t].size() - (is_last ? 0 : 1);
    std::copy_n(part.weights[t].begin(), own, row.begin() + static_cast<std::ptrdiff_t>(before));
    row.back() += is_last ? 0 : part.weights[t].back();
    whole.weights.push_back(std::move(row));
  }
}

}  // namespace

std::vector<std::string> split_line(const std::string& line, std::int64_t most) {
  const auto all = words(line);
  const auto longest = static_cast<std::size_t>(most);
  if (all.size() <= longest) return {line};
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < all.size();) {
    const auto last = begin + length_of_part(all, begin, longest) - 1;
    const char* end = all[last].data() + all[last].size();
    parts.emplace_back(all[begin].data(), static_cast<std::size_t>(end - all[begin].data()));
    begin = last + 1;
  }
  return parts;
}

Translation join_translations(const std::vector<Translation>& parts,
                              std::int64_t target_vocabulary) {
  if (parts.size() == 1) return parts[0];
  Translation whole;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& source = parts[i].source_tokens;  // only the last </s> stays
    whole.source_tokens.insert(whole.source_tokens.end(), source.begin(),
                               source.end() - (i + 1 == parts.size() ? 0 : 1));
  }
  Hypothesis hypothesis;
  hypothesis.finished = true;
  std::size_t before = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& part = parts[i].hypotheses.at(0);
    const bool is_last = i + 1 == parts.size();
    const auto more = static_cast<std::int32_t>(whole.more_words.size());
    for (const auto token : part.tokens) {
      hypothesis.tokens.push_back(token < target_vocabulary ? token : token + more);
    }
    whole.more_words.insert(whole.more_words.end(), parts[i].more_words.begin(),
                            parts[i].more_words.end());
    append(hypothesis, part, is_last);
    append_weights(hypothesis, part, before, whole.source_tokens.size(), is_last);
    before += parts[i].source_tokens.size() - 1;
    whole.text += (i == 0 || parts[i].text.empty() ? "" : " ") + parts[i].text;
  }
  whole.hypotheses.push_back(std::move(hypothesis));
  return whole;
}

}  // namespace regard
