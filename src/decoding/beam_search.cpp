#include "decoding/beam_search.h"

#include <limits>

#include "decoding/beam_groups.h"
#include "decoding/candidates.h"
#include "decoding/logits_processor.h"

namespace regard {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// The inputs of the next step: one entry for each row of the batch, W rows per beam.
struct Rows {
  std::vector<std::int64_t> parents;
  std::vector<std::int64_t> tokens;
  std::vector<double> log_p;

  // Fills missing rows with the first candidate, or any, with log-probability −∞.
  void add(std::size_t beam, std::int64_t W, const std::vector<Candidate>& continuing) {
    const Candidate none;
    for (std::int64_t k = 0; k < W; ++k) {
      const bool filled = k < static_cast<std::int64_t>(continuing.size());
      const auto& candidate = continuing.empty() ? none : continuing[filled ? k : 0];
      parents.push_back(static_cast<std::int64_t>(beam) * W + candidate.parent);
      tokens.push_back(candidate.token);
      log_p.push_back(filled ? candidate.log_probability : minus_infinity);
    }
  }
};

// Returns one history for each row of the batch.
std::vector<History> histories_of(const std::vector<BeamGroups>& sentences,
                                  const std::vector<std::size_t>& alive) {
  std::vector<History> histories;
  for (const auto sentence : alive) sentences[sentence].add_histories(histories);
  return histories;
}

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(Seq2Seq& model, const torch::Tensor& source,
                                                 const torch::Tensor& lengths,
                                                 const SearchOptions& options,
                                                 const std::vector<SentenceOptions>& sentences) {
  const auto B = source.size(0);
  const auto beam_options = group_options(options);
  const auto W = beam_options.beam_size;
  const auto rows = W * options.beam_groups;  // per sentence
  const LogitsProcessor processor(options, sentences);
  std::vector<BeamGroups> groups;
  std::vector<std::size_t> alive;  // the sentences in the batch
  for (std::int64_t b = 0; b < B; ++b) {
    groups.emplace_back(lengths[b].item<std::int64_t>(), beam_options,
                        sentences[static_cast<std::size_t>(b)]);
    alive.push_back(static_cast<std::size_t>(b));
  }

  const auto index = torch::TensorOptions(torch::kInt64).device(source.device());
  auto encoded = model.encode(source, lengths);
  auto state = model.initial_state(encoded).select(
      torch::arange(B, index).repeat_interleave(rows));  // rows 0 0 0 1 1 1 …
  auto tokens = torch::full({B * rows}, bos_id, index);
  // All W hypotheses of a beam are equal at the start, so only the first one counts.
  std::vector<double> log_p(static_cast<std::size_t>(B * rows), minus_infinity);
  for (std::size_t row = 0; row < log_p.size(); row += static_cast<std::size_t>(W)) log_p[row] = 0;

  while (!alive.empty()) {
    options.throw_if_cancelled();
    const auto step = model.step(tokens, state, encoded);
    // At least 2W tokens have no diversity penalty, whatever the other groups have selected.
    const auto best = processor.best(
        model.output_layer().logits(step, encoded), rows + W,
        processor.needs_histories() ? histories_of(groups, alive) : std::vector<History>());
    const Candidates candidates(beam_options, log_p, best,
                                options.needs_weights() ? step.weights : torch::Tensor());
    Rows next;
    std::vector<std::int64_t> unfinished;  // indices in the batch of sentences that continue
    std::vector<std::size_t> still_alive;
    for (std::size_t i = 0; i < alive.size(); ++i) {
      auto& sentence = groups[alive[i]];
      const auto continuing = sentence.advance(i, candidates);
      if (sentence.are_complete()) continue;
      for (std::size_t g = 0; g < continuing.size(); ++g) {
        next.add(i * continuing.size() + g, W, continuing[g]);
      }
      unfinished.push_back(static_cast<std::int64_t>(i));
      still_alive.push_back(alive[i]);
    }
    state = step.state.select(torch::tensor(next.parents, index));
    if (unfinished.size() < alive.size()) {
      encoded = encoded.select(torch::tensor(unfinished, index));
    }
    tokens = torch::tensor(next.tokens, index);
    log_p = std::move(next.log_p);
    alive = std::move(still_alive);
  }

  std::vector<std::vector<Hypothesis>> results;
  for (const auto& sentence : groups) {
    results.push_back(sentence.n_best());
    if (options.want_tree) results.back().front().tree = sentence.tree();
  }
  return results;
}

}  // namespace regard
