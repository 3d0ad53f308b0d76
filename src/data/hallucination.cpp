#include "data/hallucination.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "base/special_tokens.h"
#include "data/corpus.h"
#include "text/decomposed_words.h"
#include "text/sentencepiece_model.h"

namespace regard {
namespace {

constexpr std::int64_t pairs_read = 4000;
constexpr std::int32_t no_token = -1;

std::size_t place_of(const std::string& token) {
  if (token.starts_with(space_symbol)) return 1;
  return is_later_part(token) ? 2 : 0;
}

}  // namespace

Hallucination::Hallucination(const HallucinationOptions& options, const Corpus& corpus)
    : options_(options) {
  if (!is_active()) return;
  const auto& source = *corpus.codec().source;
  const auto& target = *corpus.codec().target;
  std::unordered_map<std::string, std::int32_t> ids;
  for (auto id = special_count; id < target.size(); ++id) ids.emplace(target.token(id), id);
  target_ids_.assign(static_cast<std::size_t>(source.size()), no_token);
  places_.resize(target_ids_.size());
  for (std::size_t id = special_count; id < target_ids_.size(); ++id) {
    const auto token = source.token(static_cast<std::int32_t>(id));
    if (const auto entry = ids.find(token); entry != ids.end()) target_ids_[id] = entry->second;
    places_[id] = place_of(token);
  }
  const auto step = (corpus.size() + pairs_read - 1) / pairs_read;
  for (std::int64_t i = 0; i < corpus.size(); i += step) {
    const auto example = example_of(corpus, i);
    for (const auto& stretch : stretches(example, corpus)) {
      for (std::size_t k = 0; k < stretch.length; ++k) {
        const auto id = static_cast<std::size_t>(example.source[stretch.source.front() + k]);
        if (target_ids_[id] == no_token) continue;  // a copied word outside the vocabulary
        tokens_[places_[id]].push_back({static_cast<std::int32_t>(id), target_ids_[id]});
      }
    }
  }
  if (std::ranges::any_of(tokens_, [](const auto& tokens) { return !tokens.empty(); })) return;
  throw ConfigError(
      "data.hallucination: found no pair of the training text with {} equal tokens in a row on "
      "both sides, which would be replaced; set data.hallucination.rate to 0, or "
      "data.hallucination.length to fewer",
      options.length);
}

std::vector<CommonStretch> Hallucination::stretches(const Example& example,
                                                    const Corpus& corpus) const {
  const auto& part = corpus.part_of(example.index);
  if (part.has_equal_sides) return {};
  // The source as target ids. Words that are copied have one outside of the vocabulary.
  std::vector<std::int32_t> source(example.source.size());
  const bool is_copied = !example.extended_ids.empty();
  for (std::size_t i = part.source_tag.empty() ? 0 : 1; i < source.size(); ++i) {
    source[i] = is_copied ? example.extended_ids[i]
                          : target_ids_[static_cast<std::size_t>(example.source[i])];
  }
  if (!part.source_tag.empty()) source.front() = no_token;
  return common_stretches(source, example.target, static_cast<std::size_t>(options_.length));
}

void Hallucination::apply(Example& example, const Corpus& corpus, Random& random) const {
  if (!is_active()) return;
  for (const auto& stretch : stretches(example, corpus)) {
    if (random.uniform() >= options_.rate) continue;
    for (std::size_t k = 0; k < stretch.length; ++k) {
      const auto id = static_cast<std::size_t>(example.source[stretch.source.front() + k]);
      const auto& tokens = tokens_[places_[id]];
      if (tokens.empty()) continue;
      const auto drawn = tokens[random.below(tokens.size())];
      for (const auto begin : stretch.source) {
        example.source[begin + k] = drawn.source;
        if (!example.extended_ids.empty()) example.extended_ids[begin + k] = drawn.target;
      }
      for (const auto begin : stretch.target) example.target[begin + k] = drawn.target;
    }
  }
}

}  // namespace regard
