#include "metrics/ter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/version.h"
#include "metrics/corpus_metric.h"
#include "text/unicode.h"

namespace regard {
namespace {

// Returns the width of the band on either side of the diagonal. `ratio` is the reference length
// divided by the hypothesis length. If the reference is much longer, the band is wider, so that the
// bands of neighbouring rows overlap.
std::size_t band_width(double ratio) {
  constexpr double band = 25;  // sacreBLEU's
  return static_cast<std::size_t>(band < ratio / 2 ? std::ceil(ratio / 2 + band) : band);
}

}  // namespace

BandedEditDistance::BandedEditDistance(std::u32string_view reference) : reference_(reference) {
  Row first;
  for (std::size_t j = 0; j <= reference.size(); ++j) {
    first.cells.push_back({static_cast<int>(j), Edit::insert});
  }
  rows_.push_back(std::move(first));
}

void BandedEditDistance::place_row(std::size_t i) {
  const double ratio = static_cast<double>(reference_.size()) / static_cast<double>(words_.size());
  const auto band = band_width(ratio);
  const auto diagonal = static_cast<std::size_t>(std::floor(static_cast<double>(i) * ratio));
  const auto columns = reference_.size() + 1;
  rows_[i].begin = diagonal - std::min(diagonal, band);
  const auto end = i == words_.size() ? columns : std::min(columns, diagonal + band);
  rows_[i].cells.resize(end - rows_[i].begin);
}

void BandedEditDistance::fill_row(std::size_t i) {
  const Row& above = rows_[i - 1];
  Row& row = rows_[i];
  const auto word = words_[i - 1];
  int left = infinite;
  for (std::size_t j = row.begin; j < row.begin + row.cells.size(); ++j) {
    Cell best;
    const auto consider = [&best](int cost, Edit edit) {
      if (cost < best.cost) best = {cost, edit};
    };
    if (j > 0) {
      const bool same = word == reference_[j - 1];
      consider(above.cost(j - 1) + (same ? 0 : 1), same ? Edit::keep : Edit::substitute);
    }
    consider(above.cost(j) + 1, Edit::remove);
    consider(left + 1, Edit::insert);
    row.cells[j - row.begin] = best;
    left = best.cost;
  }
}

int BandedEditDistance::operator()(std::u32string_view words) {
  std::size_t unchanged = 0;
  if (words.size() == words_.size()) {
    while (unchanged < words.size() && words[unchanged] == words_[unchanged]) ++unchanged;
  }
  words_ = words;
  rows_.resize(words.size() + 1);
  for (std::size_t i = unchanged + 1; i <= words.size(); ++i) {
    place_row(i);
    fill_row(i);
  }
  return rows_.back().at(reference_.size()).cost;
}

std::vector<Edit> BandedEditDistance::path() const {
  std::vector<Edit> edits;
  for (auto i = words_.size(), j = reference_.size(); i > 0 || j > 0;) {
    const auto edit = rows_[i].at(j).edit;
    edits.push_back(edit);
    if (edit != Edit::insert) --i;
    if (edit != Edit::remove) --j;
  }
  std::reverse(edits.begin(), edits.end());
  return edits;
}

namespace {

constexpr std::ptrdiff_t max_shift_length = 10;
constexpr std::ptrdiff_t max_shift_distance = 50;
constexpr int max_tries = 1000;  // of shifts, per sentence

// Maps reference words to hypothesis positions and marks the edited words of both sides.
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

  // For each reference word, the index of its hypothesis word or, if the hypothesis lacks it, of
  // the hypothesis word before; -1 at the start.
  std::vector<std::ptrdiff_t> position;
  std::vector<bool> reference_wrong;
  std::vector<bool> hypothesis_wrong;
};

struct Shift {
  int gain;               // decrease of the edit distance
  std::ptrdiff_t length;  // number of moved words
  std::ptrdiff_t start;   // index of the first moved word
  std::ptrdiff_t target;  // index of the word before which the moved words are inserted

  // Prefers the larger gain, then the greater length, then the smaller start, then the smaller
  // target.
  bool operator<(const Shift& other) const {
    return std::tuple(gain, length, -start, -target) <
           std::tuple(other.gain, other.length, -other.start, -other.target);
  }
};

// Moves words[start, start + length) to before words[target]. A target within or right after the
// moved words would not move them; there they are inserted before words[target + length] instead,
// as in sacreBLEU.
std::u32string shifted(std::u32string words, std::ptrdiff_t start, std::ptrdiff_t length,
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

bool any_wrong(const std::vector<bool>& wrong, std::ptrdiff_t start, std::ptrdiff_t length) {
  return std::any_of(wrong.begin() + start, wrong.begin() + start + length,
                     [](bool word) { return word; });
}

// Counts the edits between one hypothesis and one reference.
class EditCounter {
 public:
  EditCounter(std::u32string_view hypothesis, std::u32string_view reference)
      : words_(hypothesis), reference_(reference), distance_(reference) {}

  std::int64_t operator()() {
    std::int64_t shifts = 0;
    for (; find_shift() && best_->gain > 0; ++shifts) {
      words_ = shifted(words_, best_->start, best_->length, best_->target);
    }
    return shifts + distance_(words_);
  }

 private:
  // Stores the best shift in best_. Returns false if there is none, or after max_tries.
  bool find_shift() {
    best_.reset();
    edits_ = distance_(words_);
    const WordAlignment alignment(distance_.path());
    const auto words = static_cast<std::ptrdiff_t>(words_.size());
    const auto end = static_cast<std::ptrdiff_t>(reference_.size());
    for (std::ptrdiff_t start = 0; start < words; ++start) {
      for (auto match = std::max<std::ptrdiff_t>(0, start - max_shift_distance);
           match < std::min(end, start + max_shift_distance + 1); ++match) {
        const auto longest = std::min({words - start, end - match, max_shift_length});
        for (std::ptrdiff_t n = 0;
             n < longest && hypothesis_word(start + n) == reference_word(match + n); ++n) {
          try_shifts(alignment, start, match, n + 1);
          if (tries_ >= max_tries) return false;
        }
      }
    }
    return best_.has_value();
  }

  // Tries to shift `length` words from `start` in the hypothesis. The reference has the same words
  // from `match`. Tries the positions of these words and of the word before them.
  void try_shifts(const WordAlignment& alignment, std::ptrdiff_t start, std::ptrdiff_t match,
                  std::ptrdiff_t length) {
    if (!any_wrong(alignment.hypothesis_wrong, start, length)) return;
    if (!any_wrong(alignment.reference_wrong, match, length)) return;
    const auto position = alignment.position[static_cast<std::size_t>(match)];
    // The words are there already.
    if (position >= start && position < start + length) return;
    std::ptrdiff_t last = -1;
    for (auto after = match - 1; after < match + length; ++after) {
      const auto target = after < 0 ? 0 : alignment.position[static_cast<std::size_t>(after)] + 1;
      if (target == last) continue;
      last = target;
      const int gain = edits_ - distance_(shifted(words_, start, length, target));
      const Shift shift{gain, length, start, target};
      if (!best_ || *best_ < shift) best_ = shift;
      ++tries_;
    }
  }

  char32_t hypothesis_word(std::ptrdiff_t i) const { return words_[static_cast<std::size_t>(i)]; }
  char32_t reference_word(std::ptrdiff_t i) const {
    return reference_[static_cast<std::size_t>(i)];
  }

  std::u32string words_;
  std::u32string_view reference_;
  BandedEditDistance distance_;
  int edits_ = 0;
  int tries_ = 0;
  std::optional<Shift> best_;
};

}  // namespace

std::int64_t count_ter_edits(std::u32string_view hypothesis, std::u32string_view reference) {
  if (reference.empty()) return static_cast<std::int64_t>(hypothesis.size());
  return EditCounter(hypothesis, reference)();
}

namespace {

// Returns the ids of the tokens of a line.
std::u32string tokenize(const std::string& line, const TerOptions& options, WordIds& word_ids) {
  std::u32string text = decode_utf8(line);
  while (!text.empty() && is_space(text.back())) text.pop_back();
  text = tokenize_for_ter(text, options);
  return word_ids.ids(split_words(text));
}

// The counts of a sentence and of a corpus.
enum TerCount : std::size_t { ter_edits, ter_reference_length, ter_count_size };

}  // namespace

std::string Ter::signature(std::size_t references) const {
  const auto yes_no = [](bool value) { return value ? "yes" : "no"; };
  return fmt::format("nrefs:{}|case:{}|tok:tercom|norm:{}|punct:{}|asian:{}|version:regard-{}",
                     references, options_.case_sensitive ? "mixed" : "lc",
                     yes_no(options_.normalized), yes_no(!options_.no_punctuation),
                     yes_no(options_.asian_support), version());
}

SentenceCounts Ter::count(const std::vector<std::string>& hypotheses,
                          const References& references) const {
  check_references(hypotheses.size(), references);
  WordIds word_ids;
  SentenceCounts counts{ter_count_size, {}};
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const auto hypothesis = tokenize(hypotheses[i], options_, word_ids);
    auto edits = std::numeric_limits<std::int64_t>::max();
    double length = 0;
    for (const auto& lines : references) {
      const auto reference = tokenize(lines[i], options_, word_ids);
      edits = std::min(edits, count_ter_edits(hypothesis, reference));
      length += static_cast<double>(reference.size());
    }
    counts.values.push_back(static_cast<double>(edits));
    counts.values.push_back(length / static_cast<double>(references.size()));
  }
  return counts;
}

double Ter::score(std::span<const double> sums) const {
  if (sums[ter_reference_length] > 0) return 100 * (sums[ter_edits] / sums[ter_reference_length]);
  return sums[ter_edits] > 0 ? 100 : 0;
}

Json Ter::to_json(std::span<const double> sums) const {
  return {{"score", score(sums)},
          {"edits", static_cast<std::int64_t>(sums[ter_edits])},
          {"reference_length", sums[ter_reference_length]}};
}

}  // namespace regard
