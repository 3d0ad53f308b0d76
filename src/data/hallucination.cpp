#include "data/hallucination.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "base/special_tokens.h"
#include "base/strings.h"
#include "data/corpus.h"
#include "text/decomposed_words.h"
#include "text/sentencepiece_model.h"

namespace regard {
namespace {

constexpr std::int64_t sampled_pairs = 4'000;
constexpr std::int64_t enough_tokens = 100'000;
constexpr std::int32_t no_token = -1;

// Returns pairs of the corpora whose substrings may be replaced, at equal distances.
std::vector<std::int64_t> pairs_to_look_at(const Corpus& corpus) {
  const auto is_used = [](const CorpusPart& part) {
    return part.weight > 0 && !part.has_equal_sides;
  };
  std::int64_t all = 0;
  std::int64_t begin = 0;
  for (const auto& part : corpus.parts()) {
    if (is_used(part)) all += part.end - begin;
    begin = part.end;
  }
  const auto distance = std::max<std::int64_t>(1, all / sampled_pairs);
  std::vector<std::int64_t> sample;
  begin = 0;
  for (const auto& part : corpus.parts()) {
    if (is_used(part)) {
      for (auto i = begin; i < part.end; i += distance) sample.push_back(i);
    }
    begin = part.end;
  }
  return sample;
}

}  // namespace

Hallucination::Hallucination(const DataOptions& options, const Corpus& corpus)
    : options_(options.hallucination) {
  if (!is_active()) return;
  const auto& source = *corpus.codec().source;
  const auto& target = *corpus.codec().target;
  std::unordered_map<std::string, std::int32_t> ids;
  for (auto id = special_count; id < target.size(); ++id) ids.emplace(target.token(id), id);
  for (const auto& symbol : options.tokenizer.user_symbols) ids.erase(symbol);
  ids.erase(" ");
  target_ids_.assign(static_cast<std::size_t>(source.size()), no_token);
  places_.resize(target_ids_.size());
  for (std::size_t id = special_count; id < target_ids_.size(); ++id) {
    const auto token = source.token(static_cast<std::int32_t>(id));
    if (const auto entry = ids.find(token); entry != ids.end()) target_ids_[id] = entry->second;
    places_[id] = token.starts_with(space_symbol) ? TokenPlace::word_start
                  : is_later_part(token)          ? TokenPlace::later_part
                                                  : TokenPlace::other;
  }
  const auto sample = pairs_to_look_at(corpus);
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < sample.size() && tokens < enough_tokens; ++i) {
    const auto example = example_of(corpus, sample[i]);
    for (const auto& substring : substrings(example, corpus)) {
      for (std::size_t k = 0; k < substring.length; ++k) {
        const auto id = static_cast<std::size_t>(example.source[substring.source.front() + k]);
        if (target_ids_[id] == no_token) continue;  // a copied word outside the vocabulary
        ++tokens;
        tokens_[static_cast<std::size_t>(places_[id])].push_back(
            {static_cast<std::int32_t>(id), target_ids_[id]});
      }
    }
  }
  if (tokens > 0) return;
  throw ConfigError(
      "data.hallucination: found no {} equal tokens in a row on both sides of {}, which would be "
      "replaced; set data.hallucination.rate to 0, or lower data.hallucination.length",
      options_.length,
      sample.empty() ? "a pair of two files" : counted(std::ssize(sample), "training pair"));
}

std::vector<CommonSubstring> Hallucination::substrings(const Example& example,
                                                       const Corpus& corpus) const {
  const auto& extended = example.extended_ids;
  const auto vocabulary = corpus.codec().target->size();
  // The source as target ids. Copied words outside of the vocabulary have one of their own.
  std::vector<std::int32_t> source(example.source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    source[i] = !extended.empty() && extended[i] >= vocabulary
                    ? extended[i]
                    : target_ids_[static_cast<std::size_t>(example.source[i])];
  }
  return common_substrings(source, example.target, static_cast<std::size_t>(options_.length));
}

void Hallucination::apply(Example& example, const Corpus& corpus, Random& random) const {
  if (!is_active() || corpus.part_of(example.index).has_equal_sides) return;
  auto& extended = example.extended_ids;
  for (const auto& substring : substrings(example, corpus)) {
    if (random.uniform() >= options_.rate) continue;
    for (std::size_t k = 0; k < substring.length; ++k) {
      const auto id = static_cast<std::size_t>(example.source[substring.source.front() + k]);
      const auto& tokens = tokens_[static_cast<std::size_t>(places_[id])];
      if (tokens.empty()) continue;
      const auto drawn = tokens[random.below(tokens.size())];
      for (const auto begin : substring.source) {
        example.source[begin + k] = drawn.source;
        if (!extended.empty()) extended[begin + k] = drawn.target;
      }
      for (const auto begin : substring.target) example.target[begin + k] = drawn.target;
    }
  }
  // A copied word that the source does not have any more is unknown, as in encode_target().
  for (auto& id : example.target) {
    const bool is_copied = id >= corpus.codec().target->size();
    if (is_copied && std::ranges::count(extended, id) == 0) id = unk_id;
  }
}

}  // namespace regard
