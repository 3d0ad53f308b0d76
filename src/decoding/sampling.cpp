#include "decoding/sampling.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "decoding/next_tokens.h"
#include "decoding/single_paths.h"

namespace regard {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

struct Share {
  std::int64_t token;
  double probability;  // of P', up to a factor
};

// Most probable first, of equals the lower token.
bool goes_before(const Share& a, const Share& b) {
  return a.probability != b.probability ? a.probability > b.probability : a.token < b.token;
}

double total_of(const std::vector<Share>& shares) {
  double total = 0;
  for (const auto& share : shares) total += share.probability;
  return total;
}

void keep_top_k(std::vector<Share>& shares, std::size_t k) {
  if (k == 0 || k >= shares.size()) return;
  std::nth_element(shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(k), shares.end(),
                   goes_before);
  shares.resize(k);
}

void keep_top_p(std::vector<Share>& shares, double p) {
  if (p >= 1) return;
  std::sort(shares.begin(), shares.end(), goes_before);
  const auto wanted = p * total_of(shares);
  double total = 0;
  std::size_t kept = 0;
  while (kept < shares.size() && total < wanted) total += shares[kept++].probability;
  shares.resize(kept);
}

}  // namespace

std::int64_t draw(const double* log_p, std::int64_t V, const SearchOptions& options,
                  Random& random) {
  const auto u = random.uniform();  // one number a token, whatever is left to choose from
  const auto best = *std::max_element(log_p, log_p + V);
  std::vector<Share> shares;
  for (std::int64_t y = 0; y < V; ++y) {
    const auto probability = std::exp((log_p[y] - best) / options.temperature);
    if (probability > 0) shares.push_back({y, probability});  // nor NaN
  }
  keep_top_k(shares, static_cast<std::size_t>(options.top_k));
  keep_top_p(shares, options.top_p);
  if (shares.empty()) return -1;
  auto left = u * total_of(shares);
  for (const auto& share : shares) {
    left -= share.probability;
    if (left < 0) return share.token;
  }
  return shares.back().token;
}

std::vector<std::vector<Hypothesis>> sample(Seq2Seq& model, const torch::Tensor& source,
                                            const torch::Tensor& lengths,
                                            const SearchOptions& options,
                                            const std::vector<SentenceOptions>& sentences) {
  const auto B = source.size(0);
  std::vector<std::int64_t> path_lengths;  // of the sources of all samples, a sentence's in a row
  std::vector<SentenceOptions> of_paths;
  std::vector<Random> randoms;
  for (std::int64_t b = 0; b < B; ++b) {
    const auto& sentence = sentences[static_cast<std::size_t>(b)];
    Random of_line(static_cast<std::uint64_t>(options.seed),
                   static_cast<std::uint64_t>(sentence.number));
    const auto line_seed = of_line.next();
    for (std::int64_t n = 0; n < options.samples; ++n) {
      path_lengths.push_back(lengths[b].item<std::int64_t>());
      of_paths.push_back(sentence);
      randoms.emplace_back(line_seed, static_cast<std::uint64_t>(n));
    }
  }

  const TokenChooser chooser(options, sentences);
  const auto pick = [&](const torch::Tensor& logits, const std::vector<std::int64_t>& paths,
                        const std::vector<History>& histories) {
    const auto all = chooser.log_probabilities(logits, histories);  // [N, V]
    const auto N = all.size(0);
    NextTokens next = {torch::full({N, 1}, eos_id, torch::kInt64),
                       torch::full({N, 1}, minus_infinity, torch::kDouble)};
    for (std::int64_t n = 0; n < N; ++n) {
      const auto* log_p = all.const_data_ptr<double>() + n * all.size(1);
      auto& random = randoms[static_cast<std::size_t>(paths[static_cast<std::size_t>(n)])];
      const auto token = draw(log_p, all.size(1), options, random);
      if (token < 0) continue;
      next.tokens.data_ptr<std::int64_t>()[n] = token;
      next.log_p.data_ptr<double>()[n] = log_p[token];
    }
    return next;
  };
  const auto rows = torch::arange(B, torch::TensorOptions(torch::kInt64).device(source.device()))
                        .repeat_interleave(options.samples);  // 0 0 0 1 1 1 …
  auto paths = single_paths(model, model.encode(source, lengths).select(rows), path_lengths,
                            options, of_paths, pick);

  std::vector<std::vector<Hypothesis>> found(static_cast<std::size_t>(B));
  for (std::size_t i = 0; i < paths.size(); ++i) {
    found[i / static_cast<std::size_t>(options.samples)].push_back(std::move(paths[i]));
  }
  return found;
}

}  // namespace regard
