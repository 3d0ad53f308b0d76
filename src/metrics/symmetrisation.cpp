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

// Target word by target word, as the links are gone through.
struct ByTarget {
  bool operator()(const AlignmentLink& a, const AlignmentLink& b) const {
    return std::tie(a.target, a.source) < std::tie(b.target, b.source);
  }
};
using Links = std::set<AlignmentLink, ByTarget>;

// Links, and the words that have one.
class Linked {
 public:
  explicit Linked(const Alignment& links) {
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

// Those beside a link, in the order in which Moses looks at them: (target, source).
constexpr std::array<std::pair<int, int>, 8> neighbours{
    {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}}};

// One round over the links, also over those that are added further on; whether any was.
bool grow_once(Linked& linked, const Links& either) {
  bool grown = false;
  for (const auto& there : linked.links()) {
    for (const auto& [target, source] : neighbours) {
      // Before the first word comes a number so large that no word has it.
      const AlignmentLink link{.source = there.source + static_cast<std::uint32_t>(source),
                               .target = there.target + static_cast<std::uint32_t>(target)};
      if (linked.has_source(link.source) && linked.has_target(link.target)) continue;
      if (!either.contains(link)) continue;
      linked.add(link);
      grown = true;
    }
  }
  return grown;
}

void add_where_neither_word_has_one(Linked& linked, const Alignment& links) {
  for (const auto& link : Links(links.begin(), links.end())) {
    if (!linked.has_source(link.source) && !linked.has_target(link.target)) linked.add(link);
  }
}

}  // namespace

Alignment symmetrise(const Alignment& forward, const Alignment& backward, Symmetrisation how) {
  Alignment both;
  std::ranges::set_intersection(forward, backward, std::back_inserter(both));
  if (how == Symmetrisation::intersection) return both;
  Alignment either;
  std::ranges::set_union(forward, backward, std::back_inserter(either));
  if (how == Symmetrisation::union_of_both) return either;
  Linked linked(both);
  const Links links_of_either(either.begin(), either.end());
  while (grow_once(linked, links_of_either)) {
  }
  add_where_neither_word_has_one(linked, forward);
  add_where_neither_word_has_one(linked, backward);
  Alignment links(linked.links().begin(), linked.links().end());
  std::ranges::sort(links);
  return links;
}

Symmetrisation symmetrisation_named(std::string_view name) {
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
