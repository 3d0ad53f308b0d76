// Scores of parts of a text: by the length of the source sentence, as in the comparison of Bahdanau
// et al. (2015), by a label of each line, such as its domain, and by the frequency of words in
// training, as in compare-mt (Neubig et al. 2019).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/bleu.h"
#include "metrics/corpus_metric.h"

namespace regard {

// A metric and its counts for each sentence.
struct CountedMetric {
  const CorpusMetric* metric;
  const SentenceCounts* counts;
};

// Some sentences of a text.
struct SentenceBucket {
  std::size_t sentences = 0;
  std::vector<double> scores;  // one per metric, with these sentences as the corpus; 0 if none
};

struct LengthBucket : SentenceBucket {
  std::size_t shortest = 0;            // source words, inclusive
  std::optional<std::size_t> longest;  // inclusive; not set: unbounded
};

struct LabelBucket : SentenceBucket {
  std::string label;
};

// Throws ConfigError if the edges do not ascend.
void check_length_edges(const std::vector<std::size_t>& edges);

// Returns one bucket up to each edge and one above the last, including empty ones: the buckets of
// the edges {10, 20} are 0–10, 11–20 and from 21. Source words are separated by white space. Throws
// InputError if the counts of a metric have another number of sentences, ConfigError if the edges
// do not ascend.
std::vector<LengthBucket> score_by_length(const std::vector<std::string>& sources,
                                          const std::vector<CountedMetric>& metrics,
                                          const std::vector<std::size_t>& edges);

// Returns one bucket for each label, in order of first appearance; `labels` has one for each
// sentence. Throws InputError if the counts of a metric have another number of sentences.
std::vector<LabelBucket> score_by_label(const std::vector<std::string>& labels,
                                        const std::vector<CountedMetric>& metrics);

// Counts the words of the training text. Words are the tokens of BLEU.
class WordFrequencies {
 public:
  explicit WordFrequencies(const BleuOptions& options) : options_(options) {}

  // Counts the words of a training line. Returns true if there are any.
  bool add(const std::string& line);
  // Returns how often a word occurs in training; 0 if never.
  std::uint64_t count(std::u32string_view word) const;

 private:
  BleuOptions options_;
  std::map<std::u32string, std::uint64_t, std::less<>> counts_;
};

// The target words of one range of frequencies.
struct FrequencyBucket {
  std::uint64_t rarest = 0;                // occurrences in training, inclusive
  std::optional<std::uint64_t> commonest;  // inclusive; not set: unbounded
  std::int64_t reference = 0;              // words in the reference
  std::int64_t system = 0;                 // words in the hypotheses
  std::int64_t matches = 0;

  double precision() const;  // from 0 to 1; 0 if there are no words
  double recall() const;
  double f1() const;
};

// Returns the buckets 0 (unseen), 1, 2–4, 5–9, 10–99, 100–999 and from 1000, including empty ones.
// Words match within a sentence, with clipped counts. Throws InputError if the numbers of lines
// differ.
std::vector<FrequencyBucket> score_by_frequency(const std::vector<std::string>& hypotheses,
                                                const std::vector<std::string>& reference,
                                                const WordFrequencies& frequencies,
                                                const BleuOptions& options = {});

}  // namespace regard
