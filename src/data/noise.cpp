#include "data/noise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/special_tokens.h"
#include "data/corpus.h"

namespace regard {
namespace {

using TokenList = std::vector<std::int32_t>;

// Returns a number with a Poisson distribution (Knuth's method, for means up to 100).
std::int64_t poisson(double mean, Random& random) {
  const double limit = std::exp(-mean);
  std::int64_t count = 0;
  for (double product = random.uniform(); product > limit; product *= random.uniform()) ++count;
  return count;
}

TokenList shuffled(std::span<const std::int32_t> tokens, std::int64_t distance, Random& random) {
  std::vector<double> places(tokens.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i] = static_cast<double>(i) + random.uniform() * static_cast<double>(distance + 1);
  }
  std::vector<std::size_t> order(tokens.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return places[i]; });
  TokenList result;
  for (const auto i : order) result.push_back(tokens[i]);
  return result;
}

TokenList with_masked_spans(const TokenList& tokens, const NoiseOptions& o, Random& random) {
  const bool has_spans = o.span_length > 0;
  const double start =
      has_spans ? 1 / (1 + o.span_length * (1 - o.mask) / o.mask) : o.mask;  // q in the header
  TokenList result;
  for (std::size_t i = 0; i < tokens.size();) {
    if (random.uniform() >= start) {
      result.push_back(tokens[i++]);
      continue;
    }
    const auto length = has_spans ? poisson(o.span_length, random) : 1;
    const bool has_room = result.size() < i;  // for <unk> without a token in its place
    if (length > 0 || has_room) result.push_back(unk_id);
    i += static_cast<std::size_t>(length);
  }
  return result;
}

}  // namespace

std::vector<std::int32_t> add_noise(std::span<const std::int32_t> tokens, const NoiseOptions& o,
                                    Random& random) {
  TokenList result =
      o.shuffle > 0 ? shuffled(tokens, o.shuffle, random) : TokenList(tokens.begin(), tokens.end());
  if (o.drop > 0) {
    std::erase_if(result, [&](std::int32_t) { return random.uniform() < o.drop; });
  }
  return o.mask > 0 ? with_masked_spans(result, o, random) : result;
}

MaskedTokens mask_tokens(std::span<const std::int32_t> tokens, double fraction,
                         std::int64_t vocabulary, Random& random) {
  MaskedTokens masked{.tokens = {tokens.begin(), tokens.end()}, .positions = {}, .originals = {}};
  const auto select = [&](std::size_t i) {
    masked.positions.push_back(static_cast<std::int32_t>(i));
    masked.originals.push_back(tokens[i]);
    const double change = random.uniform();
    const auto words = vocabulary - special_count;
    if (change < 0.8 || words < 1) {
      masked.tokens[i] = unk_id;
    } else if (change < 0.9) {
      const auto word = random.below(static_cast<std::uint64_t>(words));
      masked.tokens[i] = special_count + static_cast<std::int32_t>(word);
    }
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (random.uniform() < fraction) select(i);
  }
  if (masked.positions.empty() && !tokens.empty()) select(random.below(tokens.size()));
  return masked;
}

SourceNoise::SourceNoise(const Options& options)
    : options_(options.data.noise),
      is_masked_(options.model.kind == ModelKind::masked_language_model) {}

void SourceNoise::apply(Example& example, const Corpus& corpus, Random& random) const {
  const auto& part = corpus.part_of(example.index);
  const std::size_t tags = part.source_tag.empty() ? 0 : 1;  // first tokens, which stay
  const auto text = std::span<const std::int32_t>(example.source).subspan(tags);
  const auto replace_text = [&](TokenList changed) {
    changed.insert(changed.begin(), example.source.begin(), example.source.begin() + tags);
    example.source = std::move(changed);
  };
  if (is_masked_) {
    auto masked = mask_tokens(text, options_.mask, corpus.codec().source->size(), random);
    replace_text(std::move(masked.tokens));
    for (auto& position : masked.positions) position += static_cast<std::int32_t>(tags);
    example.masked = std::move(masked.positions);
    example.target = std::move(masked.originals);
  } else if (is_active() && part.has_equal_sides) {
    replace_text(add_noise(text, options_, random));
  }
}

Batch SourceNoise::batch(std::span<const Example> examples) const {
  return is_masked_ ? make_masked_batch(examples) : make_batch(examples);
}

Batch SourceNoise::batch(const Corpus& corpus, std::span<const std::int64_t> pairs,
                         std::uint64_t seed) const {
  if (!is_active()) return make_batch(corpus, pairs);
  std::vector<Example> examples;
  for (const auto i : pairs) {
    Random random(seed, static_cast<std::uint64_t>(i));
    apply(examples.emplace_back(example_of(corpus, i)), corpus, random);
  }
  return batch(examples);
}

}  // namespace regard
