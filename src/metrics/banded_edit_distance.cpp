#include "metrics/banded_edit_distance.h"

#include <algorithm>
#include <cmath>

namespace regard {

namespace {

// On either side of the diagonal. Where one step down leads far to the right, so much wider that
// the bands of neighbouring rows still meet.
std::size_t band_of(double ratio) {
  constexpr double band = 25;
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

void BandedEditDistance::place(std::size_t i) {
  const double ratio = static_cast<double>(reference_.size()) / static_cast<double>(words_.size());
  const auto band = band_of(ratio);
  const auto diagonal = static_cast<std::size_t>(std::floor(static_cast<double>(i) * ratio));
  const auto all = reference_.size() + 1;
  rows_[i].begin = diagonal - std::min(diagonal, band);
  const auto end = i == words_.size() ? all : std::min(all, diagonal + band);
  rows_[i].cells.resize(end - rows_[i].begin);
}

void BandedEditDistance::fill(std::size_t i) {
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
  std::size_t known = 0;
  if (words.size() == words_.size()) {
    while (known < words.size() && words[known] == words_[known]) ++known;
  }
  words_ = words;
  rows_.resize(words.size() + 1);
  for (std::size_t i = known + 1; i <= words.size(); ++i) {
    place(i);
    fill(i);
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

}  // namespace regard
