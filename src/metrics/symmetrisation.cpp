#include "metrics/symmetrisation.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/suggest.h"

namespace regard {
namespace {

constexpr std::array<std::pair<Symmetrisation, std::string_view>, 3> names{{
    {Symmetrisation::grow_diag_final_and, "grow-diag-final-and"},
    {Symmetrisation::intersection, "intersection"},
    {Symmetrisation::union_of_both, "union"},
}};

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

// Visits all links, including those added meanwhile. Returns true if a link was added.
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
  for (const auto& [value, known] : names) {
    if (known == name) return value;
  }
  std::vector<std::string> known;
  for (const auto& [value, known_name] : names) known.emplace_back(known_name);
  throw unknown_name("symmetrisation", name, known);
}

Alignment transposed(const Alignment& alignment) {
  Alignment transposed;
  for (const auto& [source, target] : alignment) transposed.push_back({target, source});
  std::ranges::sort(transposed);
  return transposed;
}

}  // namespace regard
