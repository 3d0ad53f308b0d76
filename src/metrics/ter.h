// TER, the translation edit rate (Snover et al. 2006). Scores equal those of sacreBLEU 2.
//
//   TER = 100 · Σ edits / Σ words of the reference
//
// Edits are insertions, deletions and substitutions of a word, and shifts of up to ten words to
// their position in the reference. The search for shifts is greedy, as in Tercom: it applies the
// shift that leaves the smallest edit distance, and repeats as long as the distance decreases. With
// several references, the smallest number of edits is divided by their mean length. 0 is best;
// there is no upper bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/corpus_metric.h"
#include "metrics/metric_tokenizers.h"

namespace regard {

class Ter final : public CorpusMetric {
 public:
  explicit Ter(const TerOptions& options = {}) : options_(options) {}
  std::string name() const override { return "TER"; }
  std::string signature(std::size_t references) const override;
  SentenceCounts count(const std::vector<std::string>& hypotheses,
                       const References& references) const override;
  // If the references have no words, the score is 100 if there are edits and 0 otherwise.
  double score(std::span<const double> sums) const override;
  Json to_json(std::span<const double> sums) const override;

 private:
  TerOptions options_;
};

// An edit of one word of the shifted hypothesis.
enum class Edit : char { keep, substitute, remove, insert };

// The edit distance in words: insertions, deletions and substitutions, each of cost 1, searched in
// a band around the diagonal, so that time and memory grow with the sum of the lengths instead of
// their product. The band and the order of preference are those of sacreBLEU's TER, so that the
// edits are the same. Not thread-safe.
class BandedEditDistance {
 public:
  // `reference` consists of ids of WordIds and must outlive the object.
  explicit BandedEditDistance(std::u32string_view reference);

  // Returns the number of edits from `words` to the reference. If `words` has the same length as in
  // the last call, the rows of the common prefix are reused.
  int operator()(std::u32string_view words);
  // Returns the edits of the last call, in order.
  std::vector<Edit> path() const;

 private:
  static constexpr int infinite = std::numeric_limits<int>::max() / 2;

  struct Cell {
    int cost = infinite;
    Edit edit = Edit::keep;
  };
  // Row i, cell j: the cost from the first i words to the first j words of the reference. Cells
  // outside the band are infinite.
  struct Row {
    std::size_t begin = 0;
    std::vector<Cell> cells;

    const Cell& at(std::size_t j) const { return cells[j - begin]; }
    int cost(std::size_t j) const {
      return j < begin || j - begin >= cells.size() ? infinite : at(j).cost;
    }
  };

  void place_row(std::size_t i);
  void fill_row(std::size_t i);

  std::u32string_view reference_;
  std::u32string words_;
  std::vector<Row> rows_;  // [words + 1]
};

// Returns the number of shifts and edits. Both sentences consist of ids of WordIds.
//
// A shift moves words that also occur in the reference, where both sides have an edit, to or before
// the position of those words in the reference. The limits and the order of preference are
// Tercom's, as in sacreBLEU: at most ten words move at most fifty words, and the search stops after
// a thousand tries.
std::int64_t count_ter_edits(std::u32string_view hypothesis, std::u32string_view reference);

}  // namespace regard
