#include "data/corpus_look.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "data/line_checks.h"
#include "data/line_reader.h"
#include "text/utf8.h"
#include "text/words.h"

namespace regard {
namespace {

// Of distinct words and characters: by then a corpus is large, and the count of no consequence.
constexpr std::size_t enough_words = 200'000;
// A word of SentencePiece's is about so long; text without blanks is counted by it.
constexpr std::size_t characters_a_token = 4;
// A line of longer words on average has no blanks between them.
constexpr std::size_t most_characters_a_word = 20;
constexpr std::size_t longest_counted = 1'000;  // words

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

class Look {
 public:
  void add(const std::string& line) {
    const auto found = words(line);
    const auto characters = code_points(line);
    ++lines_;
    words_ += found.size();
    lengths_.push_back(std::max(found.size(), characters.size() / characters_a_token));
    const bool has_blanks = characters.size() <= most_characters_a_word * found.size();
    words_by_line_.push_back(has_blanks ? found.size() : lengths_.back());
    apart_ += line.ends_with(" .") || line.ends_with(" ?") || line.ends_with(" !") ? 1 : 0;
    attached_ += !apart(line) && ends_sentence(line) ? 1 : 0;
    split_ += has(line, "@@ ") || has(line, "▁") ? 1 : 0;
    if (distinct_.size() < enough_words) {
      for (const auto word : found) distinct_.emplace(word);
      for (const auto character : characters) alphabet_.emplace(character);
    }
  }

  SideFacts facts(const std::string& path) {
    if (words_ == 0) throw InputError("{}: has no text", path);
    SideFacts facts;
    facts.path = path;
    facts.language = language_of(path);
    facts.mean_words = static_cast<double>(words_) / static_cast<double>(lines_);
    const auto place = lengths_.begin() + static_cast<std::ptrdiff_t>(lengths_.size() * 99 / 100);
    std::ranges::nth_element(lengths_, place);
    facts.long_length = static_cast<std::int64_t>(*place);
    facts.distinct_words = static_cast<std::int64_t>(distinct_.size());
    facts.distinct_characters = static_cast<std::int64_t>(alphabet_.size());
    facts.tokenised = apart_ > attached_ && apart_ * 5 > lines_;
    facts.split = split_ * 5 > lines_;
    return facts;
  }

  const std::vector<std::size_t>& words_by_line() const { return words_by_line_; }

  std::int64_t lines() const { return static_cast<std::int64_t>(lines_); }

 private:
  static bool apart(std::string_view line) {
    return line.size() > 1 && line[line.size() - 2] == ' ';
  }
  static bool ends_sentence(std::string_view line) {
    return line.ends_with('.') || line.ends_with('?') || line.ends_with('!');
  }

  std::size_t lines_ = 0;
  std::size_t words_ = 0;
  std::size_t apart_ = 0;     // end in a mark with a blank before it
  std::size_t attached_ = 0;  // end in a mark without
  std::size_t split_ = 0;     // have the signs of sub-words
  std::vector<std::size_t> lengths_;
  std::vector<std::size_t> words_by_line_;
  std::unordered_set<std::string> distinct_;
  std::set<std::string> alphabet_;
};

Look read(const std::string& path) {
  Look look;
  LineReader reader(path);
  for (std::string line; reader.next(line);) look.add(line);
  return look;
}

}  // namespace

std::string language_of(const std::string& path) {
  std::filesystem::path name(path);
  if (name.extension() == ".gz") name = name.stem();
  const auto extension = name.extension().string();
  return extension.size() < 2 ? "" : extension.substr(1);
}

CorpusFacts look_at(const std::string& src, const std::string& trg) {
  auto source = read(src);
  auto target = read(trg);
  check_line_counts(src, source.lines(), trg, target.lines());
  CorpusFacts facts;
  facts.pairs = source.lines();
  facts.src = source.facts(src);
  facts.trg = target.facts(trg);
  facts.pairs_by_length.resize(longest_counted + 1);
  for (std::size_t i = 0; i < source.words_by_line().size(); ++i) {
    const auto words = std::max(source.words_by_line()[i], target.words_by_line()[i]);
    ++facts.pairs_by_length[std::min(words, longest_counted)];
  }
  return facts;
}

}  // namespace regard
