// The edits of TER (metrics/ter.h) between two sentences: shifts, found greedily, and the edit
// distance after them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

enum class Edit : char { keep, substitute, remove, insert };

// The edit distance in words: insertions, deletions and substitutions, each of cost 1, searched in
// a band around the diagonal, so that time and memory grow with the sum of the lengths instead of
// their product. The band and the order of preference are those of sacreBLEU's TER, so that the
// edits are the same.
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
