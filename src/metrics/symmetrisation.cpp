#include "metrics/symmetrisation.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
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
  bool has(const AlignmentLink& link) const { return links_.contains(link); }
  bool has_source(std::uint32_t word) const { return sources_.contains(word); }
  bool has_target(std::uint32_t word) const { return targets_.contains(word); }
  Alignment links() const { return {links_.begin(), links_.end()}; }

 private:
  std::set<AlignmentLink> links_;
  std::set<std::uint32_t> sources_;
  std::set<std::uint32_t> targets_;
};

bool are_beside(const AlignmentLink& a, const AlignmentLink& b) {
  const auto apart = [](std::uint32_t x, std::uint32_t y) { return x > y ? x - y : y - x; };
  return apart(a.source, b.source) <= 1 && apart(a.target, b.target) <= 1;
}

// One round over the links there are, in order; whether any was added.
bool grow_once(Linked& linked, const Alignment& either) {
  bool grown = false;
  for (const auto& there : linked.links()) {
    for (const auto& link : either) {
      if (linked.has(link) || !are_beside(there, link)) continue;
      if (linked.has_source(link.source) && linked.has_target(link.target)) continue;
      linked.add(link);
      grown = true;
    }
  }
  return grown;
}

void add_where_neither_word_has_one(Linked& linked, const Alignment& links) {
  for (const auto& link : links) {
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
  while (grow_once(linked, either)) {
  }
  add_where_neither_word_has_one(linked, forward);
  add_where_neither_word_has_one(linked, backward);
  return linked.links();
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
