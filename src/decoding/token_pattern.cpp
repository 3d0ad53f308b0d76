#include "decoding/token_pattern.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <stdexcept>
#include <utility>

namespace regard {
namespace {

// Tokens beyond the vocabulary are in every set that is not empty.
bool contains_token(const std::vector<bool>& set, std::int32_t token) {
  const auto index = static_cast<std::size_t>(token);
  return index < set.size() ? set[index] : !set.empty();
}

using States = std::vector<std::size_t>;

void add(States& states, std::size_t state) {
  if (std::ranges::count(states, state) == 0) states.push_back(state);
}

// Returns the edges of a state with a token.
std::span<const TokenPattern::Edge> edges_with(const TokenPattern::State& state,
                                               std::int32_t token) {
  const auto begin = std::ranges::lower_bound(state.edges, token, {}, &TokenPattern::Edge::token);
  const auto end = std::ranges::upper_bound(state.edges, token, {}, &TokenPattern::Edge::token);
  return {begin, end};
}

// Calls visit(edge) for the edges of the active states and of the start with the last of `tokens`
// that stand at a boundary.
template <typename Visit>
void for_each_edge(const std::vector<TokenPattern::State>& states, const States& active,
                   std::span<const std::int32_t> tokens, const WordBoundaries& words,
                   const Visit& visit) {
  const auto token = tokens.back();
  const auto visit_edges_of = [&](std::size_t state) {
    for (const auto& edge : edges_with(states[state], token)) {
      const bool continues =
          edge.begins && tokens.size() > 1 && words.continues(tokens[tokens.size() - 2], token);
      if (!continues) visit(edge);
    }
  };
  for (const auto state : active) visit_edges_of(state);
  visit_edges_of(0);
}

}  // namespace

bool WordBoundaries::continues(std::int32_t before, std::int32_t token) const {
  return contains_token(begins_inside, token) &&
         (ends_inside.empty() || contains_token(ends_inside, before));
}

TokenPattern::TokenPattern(const std::vector<std::int32_t>& tokens) : spellings_{tokens} {
  if (tokens.empty()) throw std::invalid_argument("TokenPattern: no tokens");
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    states_.push_back({{{.token = tokens[i], .to = i + 1}},
                       {tokens[i]},
                       static_cast<std::int64_t>(tokens.size() - i)});
  }
}

TokenPattern::TokenPattern(std::vector<State> states, std::vector<std::int32_t> tokens)
    : states_(std::move(states)), spellings_{std::move(tokens)} {
  for (auto& state : states_) std::ranges::stable_sort(state.edges, {}, &Edge::token);
}

TokenPattern TokenPattern::any_of(std::vector<TokenPattern> patterns) {
  if (patterns.empty()) throw std::invalid_argument("TokenPattern: no alternatives");
  auto all = std::move(patterns.front());
  for (auto& pattern : std::span(patterns).subspan(1)) {
    // The states of both but the starts and the last states follow one another.
    const auto before = all.last() - 1;
    const auto last = all.last() + pattern.last() - 1;
    const auto move_edges = [&](State& state, std::size_t old_last, std::size_t offset) {
      for (auto& edge : state.edges) edge.to = edge.to == old_last ? last : edge.to + offset;
    };
    for (auto& state : all.states_) move_edges(state, before + 1, 0);
    for (auto& state : pattern.states_) move_edges(state, pattern.last(), before);
    auto& start = all.states_[0];
    const auto& other = pattern.states_[0];
    start.edges.insert(start.edges.end(), other.edges.begin(), other.edges.end());
    std::ranges::stable_sort(start.edges, {}, &Edge::token);
    for (const auto token : other.proposed) {
      if (std::ranges::count(start.proposed, token) == 0) start.proposed.push_back(token);
    }
    start.remaining = std::max(start.remaining, other.remaining);
    all.states_.insert(all.states_.end(), std::make_move_iterator(pattern.states_.begin() + 1),
                       std::make_move_iterator(pattern.states_.end()));
    std::ranges::move(pattern.spellings_, std::back_inserter(all.spellings_));
  }
  return all;
}

TokenPattern::Match TokenPattern::match(std::span<const std::int32_t> tokens,
                                        const WordBoundaries& words) const {
  Match match;
  States active;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const bool is_end = t + 1 == tokens.size();
    States next;
    bool occurs = false;
    bool is_open = false;
    const auto visit = [&](const Edge& edge) {
      if (edge.to != last()) return add(next, edge.to);
      if (!edge.closes && !is_end && words.continues(tokens[t], tokens[t + 1])) return;
      is_open = !edge.closes && (is_open || !occurs);
      occurs = true;
    };
    for_each_edge(states_, active, tokens.first(t + 1), words, visit);
    if (occurs) {
      ++match.count;
      match.at_end = is_end && is_open;
      next.clear();
    }
    active = std::move(next);
  }
  for (const auto state : active) {
    if (match.begun == 0 || states_[state].remaining < states_[match.begun].remaining) {
      match.begun = state;
    }
  }
  return match;
}

bool TokenPattern::is_in(std::span<const std::int32_t> tokens, const WordBoundaries& words) const {
  return match(tokens, words).count > 0;
}

std::vector<std::int32_t> TokenPattern::completing(std::span<const std::int32_t> tokens,
                                                   const WordBoundaries& words) const {
  States active;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    States next;
    const auto visit = [&](const Edge& edge) {
      if (edge.to != last()) add(next, edge.to);
    };
    for_each_edge(states_, active, tokens.first(t + 1), words, visit);
    active = std::move(next);
  }
  std::vector<std::int32_t> found;
  add(active, 0);
  for (const auto state : active) {
    for (const auto& edge : states_[state].edges) {
      const bool continues =
          edge.begins && !tokens.empty() && words.continues(tokens.back(), edge.token);
      if (edge.to == last() && !continues) found.push_back(edge.token);
    }
  }
  return found;
}

TokenPattern::Path TokenPattern::path(std::span<const std::int32_t> tokens) const {
  std::size_t state = 0;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const auto edge = std::ranges::lower_bound(states_[state].edges, tokens[t], {}, &Edge::token);
    if (edge == states_[state].edges.end() || edge->token != tokens[t]) {
      throw std::invalid_argument("TokenPattern: a token is not on the way");
    }
    state = edge->to;
    if (state == last()) return {{}, t + 1 == tokens.size() && !edge->closes};
  }
  Path path;
  for (const auto& edge : states_[state].edges) path.next.push_back(edge.token);
  return path;
}

std::vector<std::int32_t> TokenPattern::beginning(std::span<const std::int32_t> tokens,
                                                  const WordBoundaries& words) const {
  std::vector<std::int32_t> found;
  for (const auto token : states_[0].proposed) {
    const auto edges = edges_with(states_[0], token);
    const bool needs_boundary = std::ranges::all_of(edges, &Edge::begins);
    const bool continues =
        needs_boundary && !tokens.empty() && words.continues(tokens.back(), token);
    if (!continues) found.push_back(token);
  }
  return found;
}

}  // namespace regard
