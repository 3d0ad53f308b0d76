#include "metrics/alignment.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/choice.h"
#include "base/error.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "text/unicode.h"

namespace regard {
namespace {

constexpr std::string_view white_space = " \t\r";
constexpr char sure_sign = '-';
constexpr std::string_view possible_signs = "?p";

struct GoldLink {
  AlignmentLink link;
  char sign;  // the character between the numbers
};

std::optional<GoldLink> parse_link(std::string_view word) {
  AlignmentLink link{};
  const char* end = word.data() + word.size();
  const auto source = std::from_chars(word.data(), end, link.source);
  if (source.ec != std::errc() || source.ptr == end) return std::nullopt;
  const char sign = *source.ptr;
  if (sign != sure_sign && possible_signs.find(sign) == possible_signs.npos) return std::nullopt;
  const auto target = std::from_chars(source.ptr + 1, end, link.target);
  if (target.ec != std::errc() || target.ptr != end) return std::nullopt;
  return GoldLink{link, sign};
}

void sort_and_deduplicate(Alignment& links) {
  std::ranges::sort(links);
  links.erase(std::unique(links.begin(), links.end()), links.end());
}

std::size_t count_common(const Alignment& a, const Alignment& b) {
  Alignment common;
  std::ranges::set_intersection(a, b, std::back_inserter(common));
  return common.size();
}

double share_of(std::size_t part, std::size_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

GoldAlignment parse_alignment(std::string_view text, const std::string& file, std::size_t line) {
  GoldAlignment gold;
  if (is_blank(text)) return gold;
  for (auto start = text.find_first_not_of(white_space); start != text.npos;) {
    const auto end = std::min(text.find_first_of(white_space, start), text.size());
    const std::string_view word = text.substr(start, end - start);
    const auto parsed = parse_link(word);
    if (!parsed) {
      throw InputError(
          "{}:{}: found '{}', expected an alignment link source-target, both counted from 0, as in "
          "0-0, or 0?0 for a possible link",
          file, line, excerpt(word));
    }
    if (parsed->sign == sure_sign) gold.sure.push_back(parsed->link);
    gold.possible.push_back(parsed->link);
    start = text.find_first_not_of(white_space, end);
  }
  sort_and_deduplicate(gold.sure);
  sort_and_deduplicate(gold.possible);
  return gold;
}

AlignmentScore score_alignments(const std::vector<Alignment>& proposed,
                                const std::vector<GoldAlignment>& gold) {
  if (proposed.size() != gold.size()) {
    throw InputError("found {}, but {}: give one line for each sentence",
                     counted(proposed.size(), "alignment"), counted(gold.size(), "gold alignment"));
  }
  AlignmentScore score;
  for (std::size_t i = 0; i < gold.size(); ++i) {
    score.matches += count_common(proposed[i], gold[i].sure);
    score.possible_matches += count_common(proposed[i], gold[i].possible);
    score.proposed += proposed[i].size();
    score.sure += gold[i].sure.size();
  }
  score.precision = share_of(score.possible_matches, score.proposed);
  score.recall = share_of(score.matches, score.sure);
  score.error_rate =
      1 - share_of(score.matches + score.possible_matches, score.proposed + score.sure);
  return score;
}

namespace {

// Orders links by target word, the order of iteration.
struct ByTarget {
  bool operator()(const AlignmentLink& a, const AlignmentLink& b) const {
    return std::tie(a.target, a.source) < std::tie(b.target, b.source);
  }
};
using Links = std::set<AlignmentLink, ByTarget>;

// A set of links and the words that have a link.
class LinkSet {
 public:
  explicit LinkSet(const Alignment& links) {
    for (const auto& link : links) add(link);
  }
  void add(const AlignmentLink& link) {
    links_.insert(link);
    sources_.insert(link.source);
    targets_.insert(link.target);
  }
  bool has_source(std::uint32_t word) const { return sources_.contains(word); }
  bool has_target(std::uint32_t word) const { return targets_.contains(word); }
  const Links& links() const { return links_; }

 private:
  Links links_;
  std::set<std::uint32_t> sources_;
  std::set<std::uint32_t> targets_;
};

// The offsets of the neighbours of a link, (target, source), in the order of Moses.
constexpr std::array<std::pair<int, int>, 8> neighbours{
    {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}}};

// Visits the links in order, including those that it adds after the current one. Returns true if it
// added a link.
bool grow_once(LinkSet& linked, const Links& candidates) {
  bool grown = false;
  for (const auto& center : linked.links()) {
    for (const auto& [target, source] : neighbours) {
      // The index before 0 wraps around to a number that no word has.
      const AlignmentLink link{.source = center.source + static_cast<std::uint32_t>(source),
                               .target = center.target + static_cast<std::uint32_t>(target)};
      if (linked.has_source(link.source) && linked.has_target(link.target)) continue;
      if (!candidates.contains(link)) continue;
      linked.add(link);
      grown = true;
    }
  }
  return grown;
}

void add_if_both_words_free(LinkSet& linked, const Alignment& links) {
  for (const auto& link : Links(links.begin(), links.end())) {
    if (!linked.has_source(link.source) && !linked.has_target(link.target)) linked.add(link);
  }
}

}  // namespace

Alignment symmetrise(const Alignment& forward, const Alignment& backward, Symmetrisation method) {
  Alignment both;
  std::ranges::set_intersection(forward, backward, std::back_inserter(both));
  if (method == Symmetrisation::intersection) return both;
  Alignment either;
  std::ranges::set_union(forward, backward, std::back_inserter(either));
  if (method == Symmetrisation::union_of_both) return either;
  LinkSet linked(both);
  const Links union_links(either.begin(), either.end());
  while (grow_once(linked, union_links)) {
  }
  add_if_both_words_free(linked, forward);
  add_if_both_words_free(linked, backward);
  Alignment links(linked.links().begin(), linked.links().end());
  std::ranges::sort(links);
  return links;
}

Symmetrisation parse_symmetrisation(std::string_view name) {
  if (const auto method = find_choice<Symmetrisation>(name)) return *method;
  throw unknown_name("symmetrisation", name, choice_names<Symmetrisation>());
}

Alignment transposed(const Alignment& alignment) {
  Alignment transposed;
  for (const auto& [source, target] : alignment) transposed.push_back({target, source});
  std::ranges::sort(transposed);
  return transposed;
}

}  // namespace regard
