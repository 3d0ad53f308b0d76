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

std::vector<double> compare_orders(const Sentence& hypothesis, const Sentence& reference) {
  std::vector<double> counts;
  counts.reserve(chrf_count_size * hypothesis.orders.size());
  for (std::size_t n = 0; n < hypothesis.orders.size(); ++n) {
    const NgramCounts& system = hypothesis.orders[n];
    const NgramCounts& expected = reference.orders[n];
    counts.push_back(expected.empty() ? 0 : static_cast<double>(total_count(system)));
    counts.push_back(static_cast<double>(total_count(expected)));
    counts.push_back(static_cast<double>(clipped_matches(system, expected)));
  }
  return counts;
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

double compute_chrf(std::span<const double> counts, const ChrfOptions& options) {
  double precision = 0;
  double recall = 0;
  int orders = 0;
  for (; !counts.empty(); counts = counts.subspan(chrf_count_size)) {
    if (counts[chrf_system] == 0 || counts[chrf_reference] == 0) continue;
    precision += counts[chrf_matches] / counts[chrf_system];
    recall += counts[chrf_matches] / counts[chrf_reference];
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  const double factor = options.beta * options.beta;
  return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

std::string chrf_name(const ChrfOptions& options) {
  return fmt::format("chrF{:g}{}", options.beta, std::string(options.word_order, '+'));
}

std::string Chrf::signature(std::size_t references) const {
  return fmt::format("nrefs:{}|case:{}|eff:yes|nc:{}|nw:{}|space:no|version:regard-{}", references,
                     options_.lowercase ? "lc" : "mixed", options_.char_order, options_.word_order,
                     version());
}

SentenceCounts Chrf::count(const std::vector<std::string>& hypotheses,
                           const References& references) const {
  check_references(hypotheses.size(), references);
  WordIds word_ids;
  SentenceCounts counts{chrf_count_size * (options_.char_order + options_.word_order), {}};
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const Sentence hypothesis(hypotheses[i], options_, word_ids);
    std::vector<double> best;
    double best_score = -1;
    for (const auto& lines : references) {
      auto candidate = compare_orders(hypothesis, Sentence(lines[i], options_, word_ids));
      const double candidate_score = score(candidate);
      if (candidate_score <= best_score) continue;
      best_score = candidate_score;
      best = std::move(candidate);
    }
    counts.values.insert(counts.values.end(), best.begin(), best.end());
  }
  return counts;
}

double Chrf::score(std::span<const double> sums) const {
  return compute_chrf(sums, options_);
}

Json Chrf::to_json(std::span<const double> sums) const {
  return {{"name", name()}, {"score", score(sums)}};
}

}  // namespace regard
