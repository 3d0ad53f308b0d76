#include "translation/mark_placement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/strings.h"
#include "text/decomposed_words.h"
#include "text/sentencepiece_model.h"
#include "text/unicode.h"
#include "text/unspaced_script.h"

namespace regard {
namespace {

// A word with less of its attention between two tags is better left outside.
constexpr double least_share = 0.4;
// A word with no share costs as much as a word with all of its attention there gains.
constexpr double loss_of_others = (1 - least_share) / least_share;

bool is_opening_mark(char32_t c) {
  return std::u32string_view(U"([{«“‘„¿¡（「『").find(c) != std::u32string_view::npos;
}

// Returns the ranges of the characters of a text that are no white space.
std::vector<TextRange> visible_characters(std::string_view text) {
  std::vector<TextRange> characters;
  for (const auto point : code_points(text)) {
    if (point == space_symbol || is_space_byte(point[0])) continue;
    const auto begin = static_cast<std::size_t>(point.data() - text.data());
    characters.push_back({begin, begin + point.size()});
  }
  return characters;
}

std::u32string lower_text(std::string_view text, TextRange range) {
  return to_lower(decode_utf8(text.substr(range.begin, range.end - range.begin)));
}

// The tokens of each word have the range of the word.
std::vector<TextRange> ranges_of_parts(std::string_view text,
                                       const std::vector<std::string>& tokens) {
  const auto words = split_at_ascii_space(text);
  std::vector<TextRange> ranges;
  std::size_t next = 0;
  for (const auto& token : tokens) {
    if (ranges.empty() || !is_later_part(token)) ++next;
    if (next > words.size() || token == "</s>") {
      ranges.emplace_back();
      continue;
    }
    const auto begin = static_cast<std::size_t>(words[next - 1].data() - text.data());
    ranges.push_back({begin, begin + words[next - 1].size()});
  }
  return ranges;
}

}  // namespace

std::vector<TextRange> token_ranges(std::string_view text, const std::vector<std::string>& tokens,
                                    TokenizerKind kind) {
  if (kind == TokenizerKind::decomposed) return ranges_of_parts(text, tokens);
  constexpr std::size_t farthest = 32;  // characters that no token has
  const auto characters = visible_characters(text);
  std::size_t next = 0;
  std::vector<TextRange> ranges;
  for (const auto& token : tokens) {
    const auto wanted = visible_characters(token);
    const auto is_at = [&](std::size_t from) {
      if (from + wanted.size() > characters.size()) return false;
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (lower_text(text, characters[from + i]) != lower_text(token, wanted[i])) return false;
      }
      return true;
    };
    ranges.emplace_back();
    if (wanted.empty()) continue;
    const auto last = std::min(next + farthest, characters.size());
    for (auto from = next; from < last; ++from) {
      if (!is_at(from)) continue;
      next = from + wanted.size();
      ranges.back() = {characters[from].begin, characters[next - 1].end};
      break;
    }
  }
  return ranges;
}

namespace {

// Returns the words of a text in pieces that a mark may separate: marks of punctuation at the ends
// of a word by themselves, each character in a script without spaces, and parts at `cuts`.
std::vector<TextRange> atoms_of(std::string_view text, const std::vector<Mark>& cuts = {}) {
  std::vector<bool> begins(text.size() + 1, false);  // a piece
  for (const auto& mark : cuts) begins[mark.at] = true;
  std::vector<TextRange> atoms;
  const auto points = code_points(text);
  const auto offset = [&](std::size_t i) {
    return i < points.size() ? static_cast<std::size_t>(points[i].data() - text.data())
                             : text.size();
  };
  std::u32string characters;
  for (const auto point : points) characters += decode_utf8(point);
  for (std::size_t begin = 0; begin < points.size();) {
    if (is_space(characters[begin])) {
      ++begin;
      continue;
    }
    auto end = begin;  // of the word
    while (end < points.size() && !is_space(characters[end])) ++end;
    auto core_begin = begin;
    while (core_begin < end && !is_letter_or_number(characters[core_begin])) ++core_begin;
    auto core_end = end;
    while (core_end > core_begin && !is_letter_or_number(characters[core_end - 1])) --core_end;
    atoms.push_back({offset(begin), offset(begin)});
    for (auto i = begin; i < end; ++i) {
      const bool is_edge = i <= core_begin || i >= core_end;
      const bool unspaced = i > begin &&
                            (is_unspaced(characters[i - 1]) || is_unspaced(characters[i])) &&
                            is_word_boundary(characters[i - 1], characters[i]);
      if (i > begin && (is_edge || unspaced || begins[offset(i)])) {
        atoms.push_back({offset(i), offset(i)});
      }
      atoms.back().end = offset(i + 1);
    }
    begin = end;
  }
  return atoms;
}

// True for the pieces that are no words.
std::vector<bool> marks_of_punctuation(std::string_view text, const std::vector<TextRange>& atoms) {
  std::vector<bool> found;
  found.reserve(atoms.size());
  for (const auto& atom : atoms) {
    found.push_back(!is_letter_or_number(character_at(text, atom.begin)) &&
                    !is_letter_or_number(character_before(text, atom.end)));
  }
  return found;
}

// For each token, the pieces of text that it overlaps, and by how many bytes.
struct Overlap {
  std::size_t atom;
  float bytes;
};
std::vector<std::vector<Overlap>> overlaps(const std::vector<TextRange>& tokens,
                                           const std::vector<TextRange>& atoms) {
  std::vector<std::vector<Overlap>> all;
  for (const auto& token : tokens) {
    all.emplace_back();
    auto atom = std::ranges::lower_bound(atoms, token.begin + 1, {}, &TextRange::end);
    for (; !token.is_empty() && atom != atoms.end() && atom->begin < token.end; ++atom) {
      const auto bytes = std::min(token.end, atom->end) - std::max(token.begin, atom->begin);
      all.back().push_back(
          {static_cast<std::size_t>(atom - atoms.begin()), static_cast<float>(bytes)});
    }
  }
  return all;
}

// Puts marks into a translation. Positions are gaps between its pieces: gap k is before piece k.
class MarkPlacer {
 public:
  MarkPlacer(const MarkedLine& line, const AttendedTranslation& translation)
      : line_(line),
        text_(translation.text),
        source_(atoms_of(line.text, line.marks)),
        target_(atoms_of(translation.text)),
        source_marks_(marks_of_punctuation(line.text, source_)),
        target_marks_(marks_of_punctuation(translation.text, target_)),
        attention_(target_.size(), std::vector<float>(source_.size(), 0)),
        places_(line.marks.size()),
        parents_(line.marks.size(), nowhere) {
    if (translation.weights != nullptr) read_attention(translation);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < line.marks.size(); ++i) {
      const auto kind = line.marks[i].kind;
      if (kind == Mark::Kind::close) open.pop_back();
      parents_[i] = open.empty() ? nowhere : open.back();
      if (kind == Mark::Kind::open) open.push_back(i);
    }
  }

  std::string text() {
    if (line_.marks.size() <= most_marks) {
      place_pairs(nowhere);
      place_others();
      auto result = render();
      if (std::ranges::is_sorted(singles_)) return result;
    }
    place_by_position();
    return render();
  }

 private:
  static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

  struct Place {
    std::size_t begin = 0;  // first gap
    std::size_t end = 0;    // last gap, of a pair
    bool is_set = false;
  };

  void read_attention(const AttendedTranslation& translation);
  std::size_t source_gap(const Mark& mark) const {
    return static_cast<std::size_t>(
        std::ranges::lower_bound(source_, mark.at, {}, &TextRange::begin) - source_.begin());
  }
  // The pieces of the source between a pair of tags, and those of the target; all for nowhere.
  TextRange source_between(std::size_t pair) const {
    if (pair == nowhere) return {0, source_.size()};
    const auto& open = line_.marks[pair];
    return {source_gap(open), source_gap(line_.marks[open.partner])};
  }
  TextRange target_between(std::size_t pair) const {
    if (pair == nowhere) return {0, target_.size()};
    return {places_[pair].begin, places_[pair].end};
  }
  bool is_pair(std::size_t i) const { return line_.marks[i].kind == Mark::Kind::open; }
  bool is_close(std::size_t i) const { return line_.marks[i].kind == Mark::Kind::close; }

  struct Run {
    TextRange range;
    double score = -std::numeric_limits<double>::infinity();
  };
  void place_pairs(std::size_t parent);
  Run best_run(std::size_t pair, const std::vector<bool>& taken) const;
  void place_others();
  std::size_t best_gap(std::size_t mark, std::size_t lowest) const;
  void place_by_position();

  std::string render();
  void render_between(std::size_t parent, std::size_t begin, std::size_t end);
  void write_separator(std::size_t gap);
  void write_mark(const Mark& mark, std::size_t gap);

  const MarkedLine& line_;
  std::string_view text_;
  std::vector<TextRange> source_;
  std::vector<TextRange> target_;
  std::vector<bool> source_marks_;  // pieces that are punctuation
  std::vector<bool> target_marks_;
  std::vector<std::vector<float>> attention_;  // α², [target_][source_]
  std::vector<Place> places_;                  // by mark
  std::vector<std::size_t> parents_;           // the start tag of the pair around a mark

  std::string out_;
  std::vector<std::string> separators_;  // by gap; empty once they are written
  std::vector<bool> has_mark_;           // by gap: the last thing written is a mark
  std::vector<std::size_t> singles_;     // in the order of the output
};

// The attention to a token that is a word with its punctuation belongs to the part that is of the
// kind of the target piece. Squares, so that diffuse attention counts little; and the same sum for
// each source piece, because articles and the like attend to their nouns.
void MarkPlacer::read_attention(const AttendedTranslation& translation) {
  const auto source = overlaps(translation.source_tokens, source_);
  const auto target = overlaps(translation.target_tokens, target_);
  const auto& weights = *translation.weights;
  std::vector<std::array<float, 2>> bytes_of_kind;  // of the source tokens: words, punctuation
  for (const auto& pieces : source) {
    bytes_of_kind.push_back({});
    for (const auto& [atom, bytes] : pieces) bytes_of_kind.back()[source_marks_[atom]] += bytes;
  }
  for (std::size_t t = 0; t < std::min(weights.size(), target.size()); ++t) {
    for (const auto& [piece, share] : target[t]) {
      const bool kind = target_marks_[piece];
      for (std::size_t s = 0; s < std::min(weights[t].size(), source.size()); ++s) {
        const auto& bytes = bytes_of_kind[s];
        const auto total = bytes[kind] > 0 ? bytes[kind] : bytes[!kind];
        for (const auto& [atom, part] : source[s]) {
          if (bytes[kind] > 0 && source_marks_[atom] != kind) continue;
          attention_[piece][atom] += weights[t][s] * part / total * share;
        }
      }
    }
  }
  for (std::size_t j = 0; j < target_.size(); ++j) {
    const auto bytes = static_cast<float>(target_[j].end - target_[j].begin);
    for (auto& weight : attention_[j]) weight = weight * weight / (bytes * bytes);
  }
  for (std::size_t i = 0; i < source_.size(); ++i) {
    float sum = 0;
    for (const auto& row : attention_) sum += row[i];
    for (auto& row : attention_) row[i] /= sum > 0 ? sum : 1;
  }
}

// Pass 1: places the pairs inside a pair that have words, the surest first.
// Pass 2: the pairs inside those.
void MarkPlacer::place_pairs(std::size_t parent) {
  std::vector<std::size_t> pairs;
  const auto first = parent == nowhere ? 0 : parent + 1;
  const auto end = parent == nowhere ? line_.marks.size() : line_.marks[parent].partner;
  for (auto i = first; i < end; ++i) {
    if (!is_pair(i)) continue;
    if (!source_between(i).is_empty()) pairs.push_back(i);
    i = line_.marks[i].partner;
  }
  std::vector<bool> taken(target_.size(), false);
  const auto inside = pairs;
  while (!pairs.empty()) {
    std::size_t best = 0;
    Run run;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto other = best_run(pairs[i], taken);
      if (other.score > run.score) {
        run = other;
        best = i;
      }
    }
    if (run.range.is_empty()) return;  // no word is left: place_others() places them
    places_[pairs[best]] = {run.range.begin, run.range.end, true};
    for (auto j = run.range.begin; j < run.range.end; ++j) taken[j] = true;
    pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(best));
  }
  for (const auto pair : inside) place_pairs(pair);
}

MarkPlacer::Run MarkPlacer::best_run(std::size_t pair, const std::vector<bool>& taken) const {
  const auto own = source_between(pair);
  const auto all = source_between(parents_[pair]);
  const auto range = target_between(parents_[pair]);
  const auto center = static_cast<double>(own.begin + own.end) / 2;
  const auto marks = std::count(source_marks_.begin() + static_cast<std::ptrdiff_t>(own.begin),
                                source_marks_.begin() + static_cast<std::ptrdiff_t>(own.end), true);
  const bool has_marks =
      marks > 0;  // of punctuation; without some, those of the target are neutral
  const bool has_words = marks < static_cast<std::ptrdiff_t>(own.end - own.begin);
  Run best;
  Run word;  // the surest one
  double sum = 0;
  std::size_t begin = range.begin;
  for (auto j = range.begin; j < range.end; ++j) {
    if (taken[j]) {
      begin = j + 1;
      sum = 0;
      continue;
    }
    double inside = 0;
    double total = 0;
    for (auto i = all.begin; i < all.end; ++i) {
      total += attention_[j][i];
      if (i >= own.begin && i < own.end) inside += attention_[j][i];
    }
    const auto share = total > 0 ? inside / total : 0;
    // Without attention, the word at the relative position.
    const auto distance =
        std::abs((static_cast<double>(j) + 0.5) / static_cast<double>(target_.size()) -
                 center / static_cast<double>(source_.size()));
    const double penalty = has_words && target_marks_[j] ? 1 : 0;
    if (const auto score = share - least_share - penalty - 1e-6 * distance; score > word.score) {
      word = {{j, j + 1}, score};
    }
    if (sum <= 0) {
      begin = j;
      sum = 0;
    }
    const auto gain = share - least_share;
    if (has_marks || !target_marks_[j]) sum += gain < 0 ? gain * loss_of_others : gain;
    if (sum > best.score + 1e-9) best = {{begin, j + 1}, sum};
  }
  if (best.score <= 0) return word;
  // Punctuation at an end belongs to it if the source has some there.
  auto& [from, to] = best.range;
  while (to - from > 1 && target_marks_[to - 1] && !source_marks_[own.end - 1]) --to;
  while (to - from > 1 && target_marks_[from] && !source_marks_[own.begin]) ++from;
  return best;
}

// Places what has no words: text, single tags, and pairs around nothing.
void MarkPlacer::place_others() {
  std::size_t lowest = 0;  // of single tags
  for (std::size_t i = 0; i < line_.marks.size(); ++i) {
    if (is_close(i) || places_[i].is_set) continue;
    const auto parent = parents_[i];
    // Inside a pair around nothing there is one gap.
    const bool is_tag = line_.marks[i].kind == Mark::Kind::single;
    const auto gap = target_between(parent).is_empty() && parent != nowhere
                         ? places_[parent].begin
                         : best_gap(i, is_tag ? lowest : 0);
    places_[i] = {gap, gap, true};
    if (is_tag) lowest = std::max(lowest, gap);
  }
}

std::size_t MarkPlacer::best_gap(std::size_t mark, std::size_t lowest) const {
  const auto all = source_between(parents_[mark]);
  const auto range = target_between(parents_[mark]);
  // A mark may stand beside the words of its pair.
  const auto here = std::clamp(source_gap(line_.marks[mark]), all.begin, all.end);
  std::vector<bool> blocked(target_.size() + 1, false);  // inside a neighbour
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!is_pair(i) || parents_[i] != parents_[mark] || !places_[i].is_set) continue;
    for (auto k = places_[i].begin + 1; k < places_[i].end; ++k) blocked[k] = true;
  }
  // Attention of each target piece to the source before and after the mark.
  const auto near = [&](std::size_t j, bool after) {
    double sum = 0;
    double weight = 1;
    constexpr std::size_t most = 20;
    for (std::size_t d = 0; d < most; ++d, weight /= 2) {
      if (after ? here + d >= all.end : d >= here - all.begin) break;
      sum += weight * attention_[j][after ? here + d : here - 1 - d];
    }
    return sum;
  };
  double cost = 0;
  for (auto j = range.begin; j < range.end; ++j) cost += near(j, false);
  const auto relative = static_cast<double>(here - all.begin) /
                        static_cast<double>(std::max<std::size_t>(all.end - all.begin, 1)) *
                        static_cast<double>(range.end - range.begin);
  auto best = range.end;
  auto least = std::numeric_limits<double>::infinity();
  for (auto k = range.begin; k <= range.end; ++k) {
    const auto distance = std::abs(static_cast<double>(k - range.begin) - relative);
    const auto total = cost + 1e-6 * distance;
    if (!blocked[k] && k >= lowest && total < least) {
      least = total;
      best = k;
    }
    if (k < range.end) cost += near(k, true) - near(k, false);
  }
  return best;
}

void MarkPlacer::place_by_position() {
  const auto position = [&](const Mark& mark) {
    return source_.empty()
               ? 0
               : (2 * source_gap(mark) * target_.size() + source_.size()) / (2 * source_.size());
  };
  for (std::size_t i = 0; i < line_.marks.size(); ++i) {
    const auto& mark = line_.marks[i];
    places_[i] = {position(mark), position(is_pair(i) ? line_.marks[mark.partner] : mark), true};
  }
}

std::string MarkPlacer::render() {
  out_.clear();
  singles_.clear();
  separators_.clear();
  has_mark_.assign(target_.size() + 1, false);
  for (std::size_t k = 0; k <= target_.size(); ++k) {
    const auto begin = k == 0 ? 0 : target_[k - 1].end;
    const auto end = k < target_.size() ? target_[k].begin : text_.size();
    separators_.emplace_back(text_.substr(begin, end - begin));
  }
  render_between(nowhere, 0, target_.size());
  return std::move(out_);
}

void MarkPlacer::write_separator(std::size_t gap) {
  out_ += std::exchange(separators_[gap], {});
}

// Writes the pieces from `begin` to `end` with the marks between a pair of tags.
void MarkPlacer::render_between(std::size_t parent, std::size_t begin, std::size_t end) {
  std::vector<std::size_t> inside;
  const auto first = parent == nowhere ? 0 : parent + 1;
  const auto last = parent == nowhere ? line_.marks.size() : line_.marks[parent].partner;
  for (auto i = first; i < last; ++i) {
    inside.push_back(i);
    if (is_pair(i)) i = line_.marks[i].partner;
  }
  const auto has_words = [&](std::size_t i) { return places_[i].begin < places_[i].end; };
  std::ranges::stable_sort(
      inside, {}, [&](std::size_t i) { return std::pair(places_[i].begin, has_words(i)); });
  const auto write_pieces = [&](std::size_t to) {
    for (; begin < to; ++begin) {
      write_separator(begin);
      const auto piece =
          text_.substr(target_[begin].begin, target_[begin].end - target_[begin].begin);
      out_ += line_.is_html ? escape_html(piece) : std::string(piece);
    }
  };
  for (const auto i : inside) {
    const auto& mark = line_.marks[i];
    write_pieces(places_[i].begin);
    if (mark.kind == Mark::Kind::single) singles_.push_back(i);
    if (has_words(i)) {
      write_separator(begin);
      out_ += mark.bytes;
    } else {
      write_mark(mark, begin);
    }
    if (!is_pair(i)) continue;
    render_between(i, begin, places_[i].end);
    begin = places_[i].end;
    out_ += line_.marks[mark.partner].bytes;
  }
  write_pieces(end);
}

// Writes a mark between two words, with the spaces that it had in the source.
void MarkPlacer::write_mark(const Mark& mark, std::size_t gap) {
  auto& separator = separators_[gap];
  const auto left = gap > 0 ? character_before(text_, target_[gap - 1].end) : U' ';
  const auto right = gap < target_.size() ? character_at(text_, target_[gap].begin) : U' ';
  const auto is_word = [](char32_t c) { return is_inside_word(c); };
  const bool is_joined = is_letter_or_number(mark.before) && is_letter_or_number(mark.after);
  const bool had_space = !separator.empty();
  bool space_before = false;
  if (has_mark_[gap]) {
    space_before = !mark.follows_mark && is_space(mark.before);
  } else if (!is_space(left) && gap > 0) {
    space_before = is_space(mark.before) ? !is_opening_mark(left) && !is_unspaced(left)
                                         : !is_letter_or_number(mark.before) && is_word(left);
  }
  bool space_after = false;
  if (gap < target_.size()) {
    if (had_space) {
      space_after = !is_letter_or_number(mark.after) || !space_before;
      if (is_joined && mark.kind == Mark::Kind::single) space_after = false;
    } else {
      space_after = is_space(mark.after) ? !is_closing_mark(right) && !is_unspaced(right)
                                         : !is_letter_or_number(mark.after) && is_word(right);
    }
  }
  if (space_before && !out_.empty() && !is_space_byte(out_.back())) out_ += ' ';
  out_ += mark.bytes;
  separator = space_after ? " " : "";
  has_mark_[gap] = true;
}

}  // namespace

std::string put_back(const MarkedLine& line, const AttendedTranslation& translation) {
  if (line.marks.empty()) {
    return line.is_html ? escape_html(translation.text) : std::string(translation.text);
  }
  return MarkPlacer(line, translation).text();
}

}  // namespace regard
