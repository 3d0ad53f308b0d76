#include "metrics/chrf.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/version.h"
#include "metrics/corpus_metric.h"
#include "text/unicode.h"

namespace regard {

namespace {

constexpr std::u32string_view ascii_punctuation = U"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

bool is_ascii_punctuation(char32_t c) {
  return ascii_punctuation.find(c) != ascii_punctuation.npos;
}

// Splits text into words and separates at most one punctuation mark from each word: its last
// character or, if that is not a punctuation mark, its first.
std::vector<std::u32string_view> split_words_and_punctuation(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  for (std::u32string_view word : split_words(text)) {
    std::size_t cut = 0;
    if (word.size() > 1 && is_ascii_punctuation(word.back())) {
      cut = word.size() - 1;
    } else if (word.size() > 1 && is_ascii_punctuation(word.front())) {
      cut = 1;
    }
    if (cut > 0) words.push_back(word.substr(0, cut));
    words.push_back(word.substr(cut));
  }
  return words;
}

// The n-grams of a line of every order, and the symbols that they point into.
struct Sentence {
  Sentence(const std::string& line, const ChrfOptions& options, WordIds& word_ids)
      : symbols(chrf_symbols(line, options, word_ids)),
        orders(count_ngrams(symbols.characters, options.char_order)) {
    for (NgramCounts& counts : count_ngrams(symbols.words, options.word_order)) {
      orders.push_back(std::move(counts));
    }
  }
  Sentence(const Sentence&) = delete;
  Sentence& operator=(const Sentence&) = delete;

  ChrfSymbols symbols;
  std::vector<NgramCounts> orders;
};

ChrfStatistics compare_character_ngrams(const Sentence& hypothesis, const Sentence& reference) {
  ChrfStatistics statistics;
  statistics.reserve(hypothesis.orders.size());
  for (std::size_t n = 0; n < hypothesis.orders.size(); ++n) {
    const NgramCounts& system = hypothesis.orders[n];
    const NgramCounts& expected = reference.orders[n];
    statistics.push_back({expected.empty() ? 0 : total_count(system), total_count(expected),
                          clipped_matches(system, expected)});
  }
  return statistics;
}

}  // namespace

ChrfSymbols chrf_symbols(const std::string& line, const ChrfOptions& options, WordIds& word_ids) {
  ChrfSymbols symbols;
  std::u32string text = decode_utf8(line);
  if (options.lowercase) text = to_lower(text);
  if (options.word_order > 0) symbols.words = word_ids.ids(split_words_and_punctuation(text));
  std::erase_if(text, is_space);
  symbols.characters = std::move(text);
  return symbols;
}

std::vector<ChrfStatistics> chrf_statistics(const std::vector<std::string>& hypotheses,
                                            const References& references,
                                            const ChrfOptions& options) {
  check_references(hypotheses.size(), references);
  WordIds word_ids;
  std::vector<ChrfStatistics> statistics(hypotheses.size());
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const Sentence hypothesis(hypotheses[i], options, word_ids);
    double best = -1;
    for (const auto& lines : references) {
      ChrfStatistics counts =
          compare_character_ngrams(hypothesis, Sentence(lines[i], options, word_ids));
      const double score = compute_chrf(counts, options);
      if (score <= best) continue;
      best = score;
      statistics[i] = std::move(counts);
    }
  }
  return statistics;
}

void add_to(ChrfStatistics& sum, const ChrfStatistics& sentence) {
  if (sum.empty()) sum.resize(sentence.size());
  for (std::size_t n = 0; n < sum.size(); ++n) {
    sum[n].system += sentence[n].system;
    sum[n].reference += sentence[n].reference;
    sum[n].matches += sentence[n].matches;
  }
}

double compute_chrf(const ChrfStatistics& statistics, const ChrfOptions& options) {
  double precision = 0;
  double recall = 0;
  int orders = 0;
  for (const ChrfCounts& counts : statistics) {
    if (counts.system == 0 || counts.reference == 0) continue;
    precision += static_cast<double>(counts.matches) / static_cast<double>(counts.system);
    recall += static_cast<double>(counts.matches) / static_cast<double>(counts.reference);
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  const double factor = options.beta * options.beta;
  return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

double corpus_chrf(const std::vector<std::string>& hypotheses, const References& references,
                   const ChrfOptions& options) {
  ChrfStatistics sum;
  for (const ChrfStatistics& sentence : chrf_statistics(hypotheses, references, options)) {
    add_to(sum, sentence);
  }
  return compute_chrf(sum, options);
}

double sentence_chrf(const std::string& hypothesis, const std::vector<std::string>& references,
                     const ChrfOptions& options) {
  References columns;
  for (const std::string& reference : references) columns.push_back({reference});
  return corpus_chrf({hypothesis}, columns, options);
}

std::string chrf_name(const ChrfOptions& options) {
  return fmt::format("chrF{:g}{}", options.beta, std::string(options.word_order, '+'));
}

std::string chrf_signature(const ChrfOptions& options, std::size_t references) {
  return fmt::format("nrefs:{}|case:{}|eff:yes|nc:{}|nw:{}|space:no|version:regard-{}", references,
                     options.lowercase ? "lc" : "mixed", options.char_order, options.word_order,
                     version());
}

std::string Chrf::signature(std::size_t references) const {
  return chrf_signature(options_, references);
}

SentenceCounts Chrf::count(const std::vector<std::string>& hypotheses,
                           const References& references) const {
  SentenceCounts counts{3 * (options_.char_order + options_.word_order), {}};
  for (const auto& sentence : chrf_statistics(hypotheses, references, options_)) {
    for (const auto& [system, reference, matches] : sentence) {
      counts.values.insert(counts.values.end(),
                           {static_cast<double>(system), static_cast<double>(reference),
                            static_cast<double>(matches)});
    }
  }
  return counts;
}

double Chrf::score(std::span<const double> sums) const {
  ChrfStatistics statistics;
  for (std::size_t i = 0; i < sums.size(); i += 3) {
    const auto count = [&](std::size_t k) { return static_cast<std::int64_t>(sums[i + k]); };
    statistics.push_back({count(0), count(1), count(2)});
  }
  return compute_chrf(statistics, options_);
}

Json Chrf::to_json(std::span<const double> sums) const {
  return {{"name", name()}, {"score", score(sums)}};
}

}  // namespace regard
