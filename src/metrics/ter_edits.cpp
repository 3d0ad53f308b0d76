#include "metrics/ter_edits.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "metrics/banded_edit_distance.h"

namespace regard {

namespace {

constexpr std::ptrdiff_t longest_shift = 10;
constexpr std::ptrdiff_t farthest_shift = 50;
constexpr int most_tries = 1000;  // of shifts, for a sentence

// Where the words of the reference stand in the hypothesis, and which words of either have an edit.
struct WordAlignment {
  explicit WordAlignment(const std::vector<Edit>& edits) {
    std::ptrdiff_t last = -1;
    for (const Edit edit : edits) {
      const bool wrong = edit != Edit::keep;
      if (edit != Edit::insert) {
        ++last;
        hypothesis_wrong.push_back(wrong);
      }
      if (edit != Edit::remove) {
        position.push_back(last);
        reference_wrong.push_back(wrong);
      }
    }
  }

  std::vector<std::ptrdiff_t> position;  // of the last word up to here; -1: before all
  std::vector<bool> reference_wrong;
  std::vector<bool> hypothesis_wrong;
};

struct Shift {
  int gain;               // in edits
  std::ptrdiff_t length;  // in words
  std::ptrdiff_t start;
  std::ptrdiff_t target;  // before which word they go

  // The order of preference: the greater gain, then longer, then from further left, then to there.
  bool operator<(const Shift& other) const {
    return std::tuple(gain, length, -start, -target) <
           std::tuple(other.gain, other.length, -other.start, -other.target);
  }
};

// A target inside of the words that move, or at their end, means so many words further right.
std::u32string moved(std::u32string words, std::ptrdiff_t start, std::ptrdiff_t length,
                     std::ptrdiff_t target) {
  const auto at = [&words](std::ptrdiff_t i) {
    return words.begin() + std::min(i, static_cast<std::ptrdiff_t>(words.size()));
  };
  if (target < start) {
    std::rotate(at(target), at(start), at(start + length));
  } else {
    std::rotate(at(start), at(start + length),
                at(target > start + length ? target : target + length));
  }
  return words;
}

bool any(const std::vector<bool>& wrong, std::ptrdiff_t start, std::ptrdiff_t length) {
  return std::any_of(wrong.begin() + start, wrong.begin() + start + length,
                     [](bool word) { return word; });
}

// The edits of one hypothesis against one reference.
class EditCount {
 public:
  EditCount(std::u32string_view hypothesis, std::u32string_view reference)
      : words_(hypothesis), reference_(reference), distance_(reference) {}

  std::int64_t operator()() {
    std::int64_t shifts = 0;
    for (; find_shift() && best_->gain > 0; ++shifts) {
      words_ = moved(words_, best_->start, best_->length, best_->target);
    }
    return shifts + distance_(words_);
  }

 private:
  // The best shift of all, if any. Gives up after so many tries.
  bool find_shift() {
    best_.reset();
    before_ = distance_(words_);
    const WordAlignment alignment(distance_.path());
    const auto words = static_cast<std::ptrdiff_t>(words_.size());
    const auto end = static_cast<std::ptrdiff_t>(reference_.size());
    for (std::ptrdiff_t start = 0; start < words; ++start) {
      for (auto place = std::max<std::ptrdiff_t>(0, start - farthest_shift);
           place < std::min(end, start + farthest_shift + 1); ++place) {
        const auto longest = std::min({words - start, end - place, longest_shift});
        for (std::ptrdiff_t n = 0; n < longest && word(start + n) == wanted(place + n); ++n) {
          try_shifts(alignment, start, place, n + 1);
          if (tries_ >= most_tries) return false;
        }
      }
    }
    return best_.has_value();
  }

  // To and around `place` in the reference, which says the same words.
  void try_shifts(const WordAlignment& alignment, std::ptrdiff_t start, std::ptrdiff_t place,
                  std::ptrdiff_t length) {
    if (!any(alignment.hypothesis_wrong, start, length)) return;
    if (!any(alignment.reference_wrong, place, length)) return;
    const auto there = alignment.position[static_cast<std::size_t>(place)];
    if (there >= start && there < start + length) return;
    std::ptrdiff_t last = -1;
    for (auto after = place - 1; after < place + length; ++after) {
      const auto target = after < 0 ? 0 : alignment.position[static_cast<std::size_t>(after)] + 1;
      if (target == last) continue;
      last = target;
      const int gain = before_ - distance_(moved(words_, start, length, target));
      const Shift shift{gain, length, start, target};
      if (!best_ || *best_ < shift) best_ = shift;
      ++tries_;
    }
  }

  char32_t word(std::ptrdiff_t i) const { return words_[static_cast<std::size_t>(i)]; }
  char32_t wanted(std::ptrdiff_t i) const { return reference_[static_cast<std::size_t>(i)]; }

  std::u32string words_;
  std::u32string_view reference_;
  BandedEditDistance distance_;
  int before_ = 0;
  int tries_ = 0;
  std::optional<Shift> best_;
};

}  // namespace

std::int64_t count_ter_edits(std::u32string_view hypothesis, std::u32string_view reference) {
  if (reference.empty()) return static_cast<std::int64_t>(hypothesis.size());
  return EditCount(hypothesis, reference)();
}

}  // namespace regard
