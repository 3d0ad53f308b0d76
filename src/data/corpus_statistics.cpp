#include "data/corpus_statistics.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "data/line_checks.h"
#include "data/line_reader.h"
#include "text/unicode.h"

namespace regard {
namespace {

// The number of distinct words at which counting stops: the corpus is large, and the exact count
// has no effect.
constexpr std::size_t max_distinct_words = 200'000;
// The typical length of a SentencePiece token, for text without spaces.
constexpr std::size_t characters_per_token = 4;
// A line whose words are longer on average has no spaces between words.
constexpr std::size_t max_characters_per_word = 20;
constexpr std::size_t max_counted_length = 1'000;  // words
constexpr std::int64_t compared_lines = 1'000;

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
    lengths_.push_back(std::max(words.size(), characters.size() / characters_per_token));
    const bool has_spaces = characters.size() <= max_characters_per_word * words.size();
    words_by_line_.push_back(has_spaces ? words.size() : lengths_.back());
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
    const auto place = lengths_.begin() + static_cast<std::ptrdiff_t>(lengths_.size() * 99 / 100);
    std::ranges::nth_element(lengths_, place);
    statistics.length_percentile_99 = static_cast<std::int64_t>(*place);
    statistics.distinct_words = static_cast<std::int64_t>(distinct_.size());
    statistics.distinct_characters = static_cast<std::int64_t>(alphabet_.size());
    statistics.tokenised = separated_ > attached_ && separated_ * 5 > lines_;
    statistics.split = split_ * 5 > lines_;
    return statistics;
  }

  const std::set<std::string>& alphabet() const { return alphabet_; }
  const std::vector<std::size_t>& words_by_line() const { return words_by_line_; }

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
  std::vector<std::size_t> lengths_;
  std::vector<std::size_t> words_by_line_;
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
  LineReader reader(path);
  std::string line;
  for (std::int64_t i = 0; i < compared_lines && reader.next(line); ++i) {
    for (const auto word : split_at_ascii_space(line)) words.emplace_back(word);
  }
  return words;
}

// Returns the share of `words` that are in `known`, from 0 to 1.
double known_share(const std::vector<std::string>& words,
                   const std::unordered_set<std::string>& known) {
  const auto count =
      std::ranges::count_if(words, [&](const auto& word) { return known.contains(word); });
  return static_cast<double>(count) / static_cast<double>(std::max<std::size_t>(words.size(), 1));
}

}  // namespace

std::string language_from_path(const std::string& path) {
  std::filesystem::path name(path);
  if (name.extension() == ".gz") name = name.stem();
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
  statistics.pairs_by_length.resize(max_counted_length + 1);
  for (std::size_t i = 0; i < source.words_by_line().size(); ++i) {
    const auto words = std::max(source.words_by_line()[i], target.words_by_line()[i]);
    ++statistics.pairs_by_length[std::min(words, max_counted_length)];
  }
  return statistics;
}

bool sides_are_exchanged(const CorpusStatistics& train, const CorpusStatistics& dev) {
  const auto set_of = [](const std::vector<std::string>& words) {
    return std::unordered_set<std::string>(words.begin(), words.end());
  };
  const auto source = set_of(first_words(train.src.path));
  const auto target = set_of(first_words(train.trg.path));
  const auto dev_source = first_words(dev.src.path);
  const auto dev_target = first_words(dev.trg.path);
  const auto same_side = known_share(dev_source, source) + known_share(dev_target, target);
  const auto other_side = known_share(dev_source, target) + known_share(dev_target, source);
  return other_side > same_side;
}

}  // namespace regard
