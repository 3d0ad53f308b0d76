#include "data/corpus_statistics.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "data/byte_stream.h"
#include "data/column_choice.h"
#include "data/line_checks.h"
#include "data/line_reader.h"
#include "data/text_path.h"
#include "text/common_substrings.h"
#include "text/decomposed_words.h"
#include "text/tokenizer.h"
#include "text/unicode.h"
#include "text/unspaced_script.h"

namespace regard {
namespace {

// The number of distinct words at which counting stops: the corpus is large, and the exact count
// has no effect.
constexpr std::size_t max_distinct_words = 200'000;
constexpr std::size_t compared_lines = 1'000;
constexpr std::size_t compared_tokens = 500;  // of a line
constexpr std::size_t measured_lines = 20'000;
constexpr std::int64_t min_subwords = 1'000;  // of a smaller vocabulary, for a part of the text
constexpr std::int64_t max_counted_length = 10'000;  // tokens

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

class SideCounter {
 public:
  void add(const std::string& line) {
    const auto words = split_at_ascii_space(line);
    const auto characters = code_points(line);
    ++lines_;
    words_ += words.size();
    separated_ += line.ends_with(" .") || line.ends_with(" ?") || line.ends_with(" !") ? 1 : 0;
    attached_ += !has_separated_mark(line) && ends_sentence(line) ? 1 : 0;
    split_ += has(line, "@@ ") || has(line, "▁") ? 1 : 0;
    if (distinct_.size() < max_distinct_words) {
      for (const auto word : words) distinct_.emplace(word);
      for (const auto character : characters) alphabet_.emplace(character);
    }
  }

  SideStatistics statistics(const std::string& path) {
    if (words_ == 0) throw InputError("{}: found no text", path);
    SideStatistics statistics;
    statistics.path = path;
    statistics.language = language_from_path(path);
    statistics.mean_words = static_cast<double>(words_) / static_cast<double>(lines_);
    statistics.distinct_words = static_cast<std::int64_t>(distinct_.size());
    statistics.distinct_characters = static_cast<std::int64_t>(alphabet_.size());
    std::unordered_set<std::string> parts;
    for (const auto& word : distinct_) {
      const auto split = split_composed(word);
      for (const auto part : split_at_ascii_space(split)) parts.emplace(part);
    }
    statistics.distinct_parts = static_cast<std::int64_t>(parts.size());
    statistics.tokenised = separated_ > attached_ && separated_ * 5 > lines_;
    statistics.split = split_ * 5 > lines_;
    return statistics;
  }

  const std::set<std::string>& alphabet() const { return alphabet_; }
  std::int64_t lines() const { return static_cast<std::int64_t>(lines_); }

 private:
  static bool has_separated_mark(std::string_view line) {
    return line.size() > 1 && line[line.size() - 2] == ' ';
  }
  static bool ends_sentence(std::string_view line) {
    return line.ends_with('.') || line.ends_with('?') || line.ends_with('!');
  }

  std::size_t lines_ = 0;
  std::size_t words_ = 0;
  // Numbers of lines:
  std::size_t separated_ = 0;  // that end in a punctuation mark after a space
  std::size_t attached_ = 0;   // that end in a punctuation mark without a space
  std::size_t split_ = 0;      // with the markers of sub-words
  std::unordered_set<std::string> distinct_;
  std::set<std::string> alphabet_;
};

SideCounter read_side(const std::string& path) {
  SideCounter counter;
  LineReader reader(path);
  for (std::string line; reader.next(line);) counter.add(line);
  return counter;
}

// Returns the words of the first `compared_lines` lines.
std::vector<std::string> first_words(const std::string& path) {
  std::vector<std::string> words;
  for (const auto& line : first_lines(path, compared_lines)) {
    for (const auto word : split_at_ascii_space(line)) words.emplace_back(word);
  }
  return words;
}

// Returns a tokenizer learnt from these lines, which are a part of a text or all of it.
std::unique_ptr<Tokenizer> learn(TokenizerOptions options, const std::vector<std::string>& lines,
                                 bool is_part, const std::string& path) {
  for (;;) {
    try {
      std::size_t next = 0;
      return train_tokenizer(options, [&](std::string& line) {
        if (next == lines.size()) return false;
        line = lines[next++];
        return true;
      });
    } catch (const ConfigError& error) {
      if (options.kind == TokenizerKind::character) throw;
      options.vocabulary_size /= 2;  // a part has fewer words
      if (is_part && options.vocabulary_size >= min_subwords) continue;
      log::warning("{}: {}; its lengths are counted in characters", path, error.what());
      options.kind = TokenizerKind::character;
      options.vocabulary_size = std::numeric_limits<std::int32_t>::max();
    }
  }
}

std::vector<std::int64_t> lengths_in_tokens(const Tokenizer& tokenizer,
                                            const std::vector<std::string>& lines) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(lines.size());
  for (const auto& line : lines) lengths.push_back(std::ssize(tokenizer.encode(line)));
  return lengths;
}

// Returns the share of the distinct target words that are copied from the source: the source of
// their pair has them in nine of ten places, or more.
double copied_share(const std::vector<std::string>& source,
                    const std::vector<std::string>& target) {
  constexpr double almost_always = 0.9;
  struct Places {
    double all = 0;
    double copied = 0;
  };
  std::unordered_map<std::string_view, Places> words;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const auto of_source = split_at_ascii_space(source.at(i));
    for (const auto word : split_at_ascii_space(target[i])) {
      auto& places = words[word];
      ++places.all;
      if (std::ranges::find(of_source, word) != of_source.end()) ++places.copied;
    }
  }
  const auto copied = std::ranges::count_if(words, [&](const auto& word) {
    return word.second.copied >= almost_always * word.second.all;
  });
  return static_cast<double>(copied) / static_cast<double>(std::max<std::size_t>(words.size(), 1));
}

// Returns the share of the target tokens that are in common substrings of their pair, in the first
// pairs and the beginnings of their lines.
double repeated_share(const Tokenizer& of_source, const std::vector<std::string>& source,
                      const Tokenizer& of_target, const std::vector<std::string>& target) {
  constexpr auto least = static_cast<std::size_t>(HallucinationOptions().length);
  std::unordered_map<std::string, std::int32_t> ids;
  const auto ids_of = [&](const Tokenizer& tokenizer, const std::string& line) {
    std::vector<std::int32_t> tokens;
    for (auto& piece : tokenizer.pieces(line)) {
      const auto next = static_cast<std::int32_t>(ids.size());
      tokens.push_back(ids.emplace(std::move(piece), next).first->second);
      if (tokens.size() == compared_tokens) break;
    }
    return tokens;
  };
  std::size_t all = 0;
  std::size_t repeated = 0;
  for (std::size_t i = 0; i < std::min(source.size(), compared_lines); ++i) {
    const auto tokens = ids_of(of_target, target.at(i));
    all += tokens.size();
    for (const auto& substring : common_substrings(ids_of(of_source, source[i]), tokens, least)) {
      repeated += substring.length * substring.target.size();
    }
  }
  return static_cast<double>(repeated) / static_cast<double>(std::max<std::size_t>(all, 1));
}

// Returns the share of `words` that are in `known`, from 0 to 1.
double known_share(const std::vector<std::string>& words,
                   const std::unordered_set<std::string>& known) {
  const auto count =
      std::ranges::count_if(words, [&](const auto& word) { return known.contains(word); });
  return static_cast<double>(count) / static_cast<double>(std::max<std::size_t>(words.size(), 1));
}

}  // namespace

std::vector<std::string> first_lines(const std::string& path, std::size_t count) {
  std::vector<std::string> lines;
  LineReader reader(path);
  for (std::string line; lines.size() < count && reader.next(line);) lines.push_back(line);
  return lines;
}

std::string language_from_path(const std::string& path) {
  const auto text = split_text_path(path);
  if (text.column) return language_of_name(*text.column);
  const std::filesystem::path name(without_compression_ending(path));
  const auto extension = name.extension().string();
  return extension.size() < 2 ? "" : extension.substr(1);
}

CorpusStatistics read_corpus_statistics(const std::string& src, const std::string& trg) {
  auto source = read_side(src);
  auto target = read_side(trg);
  check_line_counts(src, source.lines(), trg, target.lines());
  CorpusStatistics statistics;
  statistics.pairs = source.lines();
  statistics.src = source.statistics(src);
  statistics.trg = target.statistics(trg);
  statistics.common_characters = std::ranges::count_if(
      source.alphabet(), [&](const auto& each) { return target.alphabet().contains(each); });
  const auto first_source = first_lines(src, measured_lines);
  const auto first_target = first_lines(trg, measured_lines);
  statistics.copied_words = copied_share(first_source, first_target);
  statistics.src.unspaced = unspaced_script(first_source).has_value();
  statistics.trg.unspaced = unspaced_script(first_target).has_value();
  return statistics;
}

void measure_tokens(const TokenizerOptions& options, CorpusStatistics& statistics,
                    const TextPair& dev) {
  const auto source = first_lines(statistics.src.path, measured_lines);
  const auto target = first_lines(statistics.trg.path, measured_lines);
  auto text = source;
  if (options.joint) text.insert(text.end(), target.begin(), target.end());
  const bool is_part = std::ssize(source) < statistics.pairs;
  const auto of_source = learn(options, text, is_part, statistics.src.path);
  const auto of_target =
      options.joint ? nullptr : learn(options, target, is_part, statistics.trg.path);
  const auto source_lengths = lengths_in_tokens(*of_source, source);
  const auto target_lengths = lengths_in_tokens(of_target ? *of_target : *of_source, target);
  statistics.measured_pairs = std::ssize(source);
  statistics.repeated_tokens =
      repeated_share(*of_source, source, of_target ? *of_target : *of_source, target);
  statistics.empty_pairs = 0;
  statistics.pairs_by_length.assign(max_counted_length + 1, 0);
  const auto has_tokens = [&](std::size_t i) {
    return source_lengths[i] > 0 && target_lengths.at(i) > 0;
  };
  const auto longer = [&](std::size_t i) { return std::max(source_lengths[i], target_lengths[i]); };
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (has_tokens(i)) {
      ++statistics
            .pairs_by_length[static_cast<std::size_t>(std::min(longer(i), max_counted_length))];
    } else {
      ++statistics.empty_pairs;
    }
  }
  statistics.uneven_pairs = 0;
  statistics.kept_pairs = 0;
  statistics.outputs = OutputLengths(SearchOptions());
  const auto limit = starter_max_length(statistics);
  const bool keeps_uneven = starter_max_ratio(statistics) == 0;
  double source_tokens = 0;
  double target_tokens = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (!has_tokens(i) || longer(i) > limit) continue;
    const bool is_uneven =
        exceeds_max_ratio(source_lengths[i], target_lengths[i], DataOptions().max_ratio);
    statistics.uneven_pairs += is_uneven ? 1 : 0;
    if (is_uneven && !keeps_uneven) continue;
    ++statistics.kept_pairs;
    source_tokens += static_cast<double>(source_lengths[i]);
    target_tokens += static_cast<double>(target_lengths[i]);
    statistics.outputs.add(source_lengths[i], target_lengths[i]);
  }
  const auto kept = static_cast<double>(std::max<std::int64_t>(statistics.kept_pairs, 1));
  statistics.src.mean_tokens = source_tokens / kept;
  statistics.trg.mean_tokens = target_tokens / kept;
  statistics.dev_outputs = OutputLengths(SearchOptions());
  if (dev.first.empty()) return;
  const auto dev_source = lengths_in_tokens(*of_source, read_lines(dev.first));
  const auto dev_target =
      lengths_in_tokens(of_target ? *of_target : *of_source, read_lines(dev.second));
  for (std::size_t i = 0; i < dev_source.size(); ++i) {
    statistics.dev_outputs.add(dev_source[i], dev_target.at(i));
  }
}

bool sides_are_exchanged(const TextPair& train, const TextPair& dev) {
  const auto set_of = [](const std::vector<std::string>& words) {
    return std::unordered_set<std::string>(words.begin(), words.end());
  };
  const auto source = set_of(first_words(train.first));
  const auto target = set_of(first_words(train.second));
  const auto dev_source = first_words(dev.first);
  const auto dev_target = first_words(dev.second);
  const auto same_side = known_share(dev_source, source) + known_share(dev_target, target);
  const auto other_side = known_share(dev_source, target) + known_share(dev_target, source);
  return other_side > same_side;
}

}  // namespace regard
