#include "corpus.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "base/random.h"
#include "grammar.h"
#include "names.h"

namespace regard::corpus {
namespace {

constexpr std::size_t min_words = 3, max_words = 30, max_words_of_long = 60;
constexpr int min_count_in_training = 5;

// Generates sentences and collects new ones that satisfy a predicate. Throws std::logic_error if
// the grammar produces two translations of one English sentence.
class Collector {
 public:
  explicit Collector(Grammar& grammar) : grammar_(grammar) {}

  using Passes = std::function<bool(const Sentence&)>;
  void collect(std::vector<Sentence>& set, std::size_t count, bool is_long, const Passes& passes) {
    for (std::size_t tries = 0; set.size() < count; ++tries) {
      if (tries > 1000 * (count + 100))
        throw ConfigError(
            "found only {} of {} suitable sentences; request fewer, or more training sentences "
            "(the "
            "words of a test sentence must occur {} times there)",
            set.size(), count, min_count_in_training);
      Sentence sentence =
          is_long ? grammar_.long_sentence(max_words + 1 + tries % 20) : grammar_.sentence();
      const std::size_t words = sentence.en.size();
      if (is_long ? words <= max_words || words > max_words_of_long
                  : words < min_words || words > max_words)
        continue;
      if (is_new(sentence) && passes(sentence)) {
        seen_.emplace(line(sentence.en));
        set.push_back(std::move(sentence));
      }
    }
  }
  void add(std::vector<Sentence>& set, Sentence sentence) {
    is_new(sentence);
    seen_.emplace(line(sentence.en));
    set.push_back(std::move(sentence));
  }

 private:
  bool is_new(const Sentence& sentence) {
    const std::string en = line(sentence.en), fr = line(sentence.fr);
    const auto [entry, inserted] = translations_.emplace(en, fr);
    if (entry->second != fr)
      throw std::logic_error(fmt::format("two translations of one sentence: '{}': '{}' and '{}'",
                                         en, entry->second, fr));
    return seen_.count(en) == 0;
  }

  Grammar& grammar_;
  std::map<std::string, std::string> translations_;  // of all generated sentences
  std::set<std::string> seen_;
};

Sentence first_sentence() {
  Draft draft;
  ClauseSpec spec{noun_phrase(pronoun("they"), draft), &verb("watch"), Time::progressive};
  return finish(clause(spec, draft), ".", draft);
}

using Counts = std::map<std::string, int>;

void count(const std::vector<std::string>& words, Counts& counts) {
  for (const std::string& word : words) ++counts[word];
}

bool all_frequent(const std::vector<std::string>& words, const Counts& counts) {
  for (const std::string& word : words) {
    const auto entry = counts.find(word);
    if (entry == counts.end() || entry->second < min_count_in_training) return false;
  }
  return true;
}

std::string statistics_of(std::string_view name, const std::vector<Sentence>& set) {
  Counts en, fr;
  std::size_t words_en = 0, words_fr = 0, longer = 0;
  for (const Sentence& sentence : set) {
    count(sentence.en, en);
    count(sentence.fr, fr);
    words_en += sentence.en.size();
    words_fr += sentence.fr.size();
    longer += sentence.en.size() > max_words ? 1 : 0;
  }
  const double n = set.empty() ? 1.0 : static_cast<double>(set.size());
  return fmt::format("{:<10} {:>6} {:>8} {:>6.2f} {:>6} {:>8} {:>6.2f} {:>6} {:>6}\n", name,
                     set.size(), words_en, static_cast<double>(words_en) / n, en.size(), words_fr,
                     static_cast<double>(words_fr) / n, fr.size(), longer);
}

void write_lines(const std::filesystem::path& path, const std::vector<Sentence>& set,
                 const std::function<std::string(const Sentence&)>& text) {
  std::ofstream file(path, std::ios::binary);
  for (const Sentence& sentence : set) file << text(sentence) << '\n';
  file.flush();
  if (!file) throw EnvironmentError("{}: cannot be written; is the disk full?", path.string());
}

std::string english_line(const Sentence& sentence) {
  return line(sentence.en);
}
std::string french_line(const Sentence& sentence) {
  return line(sentence.fr);
}

// Uses a separate random stream, so that the other sets do not change.
void add_names(Corpus& corpus, const CorpusOptions& options, Collector& collector) {
  Random random(options.seed, 1);
  for (const Sentence& sentence : corpus.train) {
    corpus.train_names.push_back(
        replace_names(sentence, NameSplit::training, random).value_or(sentence));
  }
  std::vector<Sentence> named;
  collector.collect(named, options.test_names, false, [&](const Sentence& sentence) {
    return !contains_held_out(sentence) &&
           replace_names(sentence, NameSplit::unseen, random).has_value();
  });
  for (const Sentence& sentence : named) {
    corpus.test_names.push_back(*replace_names(sentence, NameSplit::unseen, random));
  }
}

}  // namespace

bool is_held_out(std::string_view combination) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char c : combination) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return Random(hash).below(100) < 6;
}

bool contains_held_out(const Sentence& sentence) {
  for (const std::string& combination : sentence.combinations)
    if (is_held_out(combination)) return true;
  return false;
}

Corpus generate(const CorpusOptions& options) {
  Random random(options.seed);
  Grammar grammar(random);
  Collector collector(grammar);
  Corpus corpus;
  const auto ordinary = [](const Sentence& s) { return !contains_held_out(s); };
  if (options.train > 0) collector.add(corpus.train, first_sentence());
  collector.collect(corpus.train, options.train - options.train * 3 / 200, false, ordinary);
  collector.collect(corpus.train, options.train, true, ordinary);
  random.shuffle(corpus.train);
  collector.collect(corpus.dev, options.dev, false, ordinary);
  Counts en, fr;
  for (const Sentence& sentence : corpus.train) {
    count(sentence.en, en);
    count(sentence.fr, fr);
  }
  const auto novel = [&](const Sentence& s) {
    return contains_held_out(s) && all_frequent(s.en, en) && all_frequent(s.fr, fr);
  };
  collector.collect(corpus.test, options.test, false, novel);
  collector.collect(corpus.test_long, options.test_long, true, novel);
  if (options.test_names > 0) add_names(corpus, options, collector);
  return corpus;
}

void write(const Corpus& corpus, const std::string& directory) {
  const std::filesystem::path path(directory);
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed) throw EnvironmentError("{}: cannot be created: {}", directory, failed.message());
  const auto write_pair = [&](const std::string& name, const std::vector<Sentence>& set) {
    write_lines(path / (name + ".en"), set, english_line);
    write_lines(path / (name + ".fr"), set, french_line);
  };
  write_pair("train", corpus.train);
  write_pair("dev", corpus.dev);
  write_pair("test", corpus.test);
  write_pair("test_long", corpus.test_long);
  if (!corpus.test_names.empty()) {
    write_pair("train_names", corpus.train_names);
    write_pair("test_names", corpus.test_names);
    write_lines(path / "test_names.align", corpus.test_names, pharaoh);
  }
  write_lines(path / "test.align", corpus.test, pharaoh);
  write_lines(path / "test_long.align", corpus.test_long, pharaoh);
}

std::string statistics(const Corpus& corpus) {
  std::string text = fmt::format("{:<10} {:>6} {:>8} {:>6} {:>6} {:>8} {:>6} {:>6} {:>6}\n", "set",
                                 "pairs", "en", "mean", "forms", "fr", "mean", "forms", ">30");
  text += statistics_of("train", corpus.train);
  text += statistics_of("dev", corpus.dev);
  text += statistics_of("test", corpus.test);
  text += statistics_of("test_long", corpus.test_long);
  if (!corpus.test_names.empty()) {
    text += statistics_of("train_names", corpus.train_names);
    text += statistics_of("test_names", corpus.test_names);
  }
  return text;
}

}  // namespace regard::corpus
