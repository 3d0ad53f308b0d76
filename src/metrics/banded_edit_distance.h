// Edit distance in words: insertions, deletions and substitutions, each 1, looked for in a band
// around the diagonal, so that time and memory grow with the sum of the lengths and not with their
// product. Band and order of preference are those of sacreBLEU's TER, and so are the edits found.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

enum class Edit : char { keep, substitute, remove, insert };

class BandedEditDistance {
 public:
  // To this reference, of words numbered by WordNumbers; it must outlive the object.
  explicit BandedEditDistance(std::u32string_view reference);

  // How many edits make the reference of `words`. Of words that begin as those of the last call
  // did, and are as many, only the rest is worked out.
  int operator()(std::u32string_view words);
  // These edits, in order, for the words of the last call.
  std::vector<Edit> path() const;

 private:
  static constexpr int infinite = std::numeric_limits<int>::max() / 2;

  struct Cell {
    int cost = infinite;
    Edit edit = Edit::keep;
  };
  // Cell j: from so many words to j words of the reference. Outside of the band all is infinite.
  struct Row {
    std::size_t begin = 0;
    std::vector<Cell> cells;

    const Cell& at(std::size_t j) const { return cells[j - begin]; }
    int cost(std::size_t j) const {
      return j < begin || j - begin >= cells.size() ? infinite : at(j).cost;
    }
  };

  void place(std::size_t i);
  void fill(std::size_t i);

  std::u32string_view reference_;
  std::u32string words_;
  std::vector<Row> rows_;  // [words + 1]
};

}  // namespace regard
