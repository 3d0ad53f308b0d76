#include "decoding/beam_search.h"

#include <algorithm>
#include <limits>

#include "decoding/attention_rows.h"
#include "decoding/beam.h"

namespace regard {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// [0 0 0 1 1 1 …]: row b of a batch W times.
torch::Tensor repeated_rows(std::int64_t B, std::int64_t W, const torch::TensorOptions& options) {
  return torch::arange(B, options).repeat_interleave(W);
}

// The best 2W continuations of each sentence, on the CPU.
class Candidates {
 public:
  // scores [n, W]: log P of each hypothesis; log_p [n · W, V]; weights [n · W, S] or undefined.
  Candidates(const torch::Tensor& scores, const torch::Tensor& log_p, const torch::Tensor& weights)
      : W_(scores.size(1)), V_(log_p.size(1)), weights_(weights) {
    const auto n = scores.size(0);
    const auto total = (scores.unsqueeze(-1) + log_p.view({n, W_, V_})).view({n, W_ * V_});
    const auto best = total.topk(std::min(2 * W_, W_ * V_), -1);
    totals_ = std::get<0>(best).to(torch::kCPU, torch::kDouble).contiguous();
    indices_ = std::get<1>(best).to(torch::kCPU).contiguous();
  }

  std::vector<Candidate> of(std::size_t sentence, std::int64_t source_length) const {
    const auto width = indices_.size(1);
    std::vector<Candidate> candidates(width);
    for (std::int64_t k = 0; k < width; ++k) {
      const auto at = static_cast<std::int64_t>(sentence) * width + k;
      const auto index = indices_.data_ptr<std::int64_t>()[at];
      auto& candidate = candidates[k];
      candidate = {index / V_, index % V_, totals_.data_ptr<double>()[at], {}};
      if (weights_) {
        candidate.weights = weights_.row(sentence * W_ + candidate.parent, source_length);
      }
    }
    return candidates;
  }

 private:
  std::int64_t W_;
  std::int64_t V_;
  torch::Tensor totals_;   // [n, 2W]
  torch::Tensor indices_;  // [n, 2W] into W · V
  AttentionRows weights_;
};

// What goes into the next step: one entry for each row of the batch, W rows a sentence.
struct Rows {
  std::vector<std::int64_t> parents;
  std::vector<std::int64_t> tokens;
  std::vector<double> scores;

  // Places that no candidate fills repeat the first with no probability.
  void add(std::size_t sentence, std::int64_t W, const std::vector<Candidate>& going_on) {
    for (std::int64_t k = 0; k < W; ++k) {
      const bool filled = k < static_cast<std::int64_t>(going_on.size());
      const auto& candidate = going_on[filled ? k : 0];
      parents.push_back(static_cast<std::int64_t>(sentence) * W + candidate.parent);
      tokens.push_back(candidate.token);
      scores.push_back(filled ? candidate.log_probability : minus_infinity);
    }
  }
};

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(Seq2Seq& model, const torch::Tensor& source,
                                                 const torch::Tensor& lengths,
                                                 const SearchOptions& options) {
  const auto B = source.size(0);
  const auto W = options.beam_size;
  std::vector<Beam> beams;
  std::vector<std::size_t> alive;  // which sentence each group of W rows belongs to
  for (std::int64_t b = 0; b < B; ++b) {
    beams.emplace_back(lengths[b].item<std::int64_t>(), options);
    alive.push_back(static_cast<std::size_t>(b));
  }

  const auto first_rows = repeated_rows(B, W, source.options());
  const auto encoded = model.encode(source, lengths);
  auto state = model.start(encoded).select(first_rows);
  auto memory = encoded.select(first_rows);
  auto tokens = torch::full({B * W}, options.begin_token, source.options());
  // All W hypotheses begin alike: only the first counts.
  auto scores = torch::full({B, W}, minus_infinity, memory.summary.options());
  scores.select(1, 0).fill_(0);

  while (!alive.empty()) {
    const auto step = model.step(tokens, state, memory);
    const Candidates candidates(scores, next_log_probabilities(model, step.readout, options),
                                options.want_weights ? step.weights : torch::Tensor());
    Rows next;
    std::vector<std::size_t> still_alive;
    for (std::size_t i = 0; i < alive.size(); ++i) {
      auto& beam = beams[alive[i]];
      const auto going_on = beam.advance(candidates.of(i, beam.source_length()));
      if (going_on.empty()) continue;
      next.add(i, W, going_on);
      still_alive.push_back(alive[i]);
    }
    const auto parents = torch::tensor(next.parents, source.options());
    state = step.state.select(parents);
    if (still_alive.size() < alive.size()) memory = memory.select(parents);
    tokens = torch::tensor(next.tokens, source.options());
    scores = torch::tensor(next.scores, scores.options()).view({-1, W});
    alive = std::move(still_alive);
  }

  std::vector<std::vector<Hypothesis>> found;
  for (const auto& beam : beams) found.push_back(beam.n_best());
  return found;
}

}  // namespace regard
