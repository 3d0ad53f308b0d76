#include "decoding/sampling.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "decoding/decode_loop.h"
#include "decoding/logits_processor.h"

namespace regard {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

struct TokenProbability {
  std::int64_t token;
  double probability;  // P', not normalised
};

// Orders by decreasing probability, then by token.
bool more_probable(const TokenProbability& a, const TokenProbability& b) {
  return a.probability != b.probability ? a.probability > b.probability : a.token < b.token;
}

double total_probability(const std::vector<TokenProbability>& candidates) {
  double total = 0;
  for (const auto& candidate : candidates) total += candidate.probability;
  return total;
}

void keep_top_k(std::vector<TokenProbability>& candidates, std::size_t k) {
  if (k == 0 || k >= candidates.size()) return;
  std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(k),
                   candidates.end(), more_probable);
  candidates.resize(k);
}

void keep_top_p(std::vector<TokenProbability>& candidates, double p) {
  if (p >= 1) return;
  std::sort(candidates.begin(), candidates.end(), more_probable);
  const auto threshold = p * total_probability(candidates);
  double total = 0;
  std::size_t kept = 0;
  while (kept < candidates.size() && total < threshold) total += candidates[kept++].probability;
  candidates.resize(kept);
}

// Draws from all tokens, without sorting them: draw_token() without top_k and top_p, with the same
// bits.
std::int64_t draw_from_all(const double* log_p, std::int64_t V, double temperature, double u) {
  const auto best = *std::max_element(log_p, log_p + V);
  std::vector<double> probabilities(static_cast<std::size_t>(V));
  double total = 0;
  for (std::int64_t y = 0; y < V; ++y) {
    const auto probability = std::exp((log_p[y] - best) / temperature);
    if (!(probability > 0)) continue;  // also NaN
    probabilities[static_cast<std::size_t>(y)] = probability;
    total += probability;
  }
  auto remaining = u * total;
  std::int64_t last = -1;  // so far, with a probability above 0
  for (std::int64_t y = 0; y < V; ++y) {
    const auto probability = probabilities[static_cast<std::size_t>(y)];
    if (probability == 0) continue;
    remaining -= probability;
    last = y;
    if (remaining < 0) break;
  }
  return last;
}

}  // namespace

std::int64_t draw_token(const double* log_p, std::int64_t V, const SearchOptions& options,
                        Random& random) {
  const auto u = random.uniform();  // before any return: one number per token
  if (options.top_k == 0 && options.top_p >= 1) {
    return draw_from_all(log_p, V, options.temperature, u);
  }
  const auto best = *std::max_element(log_p, log_p + V);
  std::vector<TokenProbability> candidates;
  for (std::int64_t y = 0; y < V; ++y) {
    const auto probability = std::exp((log_p[y] - best) / options.temperature);
    if (probability > 0) candidates.push_back({y, probability});  // false for NaN
  }
  keep_top_k(candidates, static_cast<std::size_t>(options.top_k));
  keep_top_p(candidates, options.top_p);
  if (candidates.empty()) return -1;
  auto remaining = u * total_probability(candidates);
  for (const auto& candidate : candidates) {
    remaining -= candidate.probability;
    if (remaining < 0) return candidate.token;
  }
  return candidates.back().token;
}

std::vector<std::vector<Hypothesis>> sample(Seq2Seq& model, const torch::Tensor& source,
                                            const torch::Tensor& lengths,
                                            const SearchOptions& options,
                                            const std::vector<SentenceOptions>& sentences) {
  const auto B = source.size(0);
  const auto encoded = encode_for_search(model, source, lengths, sentences);
  // One entry per sample. The samples of a sentence are consecutive.
  std::vector<std::int64_t> source_lengths;
  std::vector<SentenceOptions> sample_options;
  std::vector<Random> randoms;
  for (std::int64_t b = 0; b < B; ++b) {
    const auto& sentence = sentences[static_cast<std::size_t>(b)];
    Random line_random(static_cast<std::uint64_t>(options.seed),
                       static_cast<std::uint64_t>(sentence.number));
    const auto line_seed = line_random.next();
    for (std::int64_t n = 0; n < options.samples; ++n) {
      source_lengths.push_back(encoded.lengths[b].item<std::int64_t>());
      sample_options.push_back(sentence);
      randoms.emplace_back(line_seed, static_cast<std::uint64_t>(n));
    }
  }

  const LogitsProcessor processor(options, sentences);
  const auto select = [&](const NextLogits& logits, const std::vector<std::int64_t>& hypotheses,
                          const std::vector<History>& histories) {
    const auto all = processor.log_probabilities(logits, histories);  // [N, V]
    const auto N = all.size(0);
    NextTokens next = {torch::full({N, 1}, eos_id, torch::kInt64),
                       torch::full({N, 1}, minus_infinity, torch::kDouble)};
    for (std::int64_t n = 0; n < N; ++n) {
      const auto* log_p = all.const_data_ptr<double>() + n * all.size(1);
      auto& random = randoms[static_cast<std::size_t>(hypotheses[static_cast<std::size_t>(n)])];
      const auto token = draw_token(log_p, all.size(1), options, random);
      if (token < 0) continue;
      next.tokens.data_ptr<std::int64_t>()[n] = logits.token(n, token);
      next.log_p.data_ptr<double>()[n] = log_p[token];
    }
    return next;
  };
  const auto rows = torch::arange(B, torch::TensorOptions(torch::kInt64).device(source.device()))
                        .repeat_interleave(options.samples);  // 0 0 0 1 1 1 …
  auto samples =
      decode_loop(model, encoded.select(rows), source_lengths, options, sample_options, select);

  std::vector<std::vector<Hypothesis>> results(static_cast<std::size_t>(B));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    results[i / static_cast<std::size_t>(options.samples)].push_back(std::move(samples[i]));
  }
  return results;
}

}  // namespace regard
