#include "decoding/beam_search.h"

#include <limits>

#include "decoding/beam_groups.h"
#include "decoding/candidates.h"
#include "decoding/next_tokens.h"

namespace regard {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// What goes into the next step: one entry for each row of the batch, W rows a beam.
struct Rows {
  std::vector<std::int64_t> parents;
  std::vector<std::int64_t> tokens;
  std::vector<double> log_p;

  // Places that no candidate fills repeat the first, or any, with no probability.
  void add(std::size_t beam, std::int64_t W, const std::vector<Candidate>& going_on) {
    const Candidate none;
    for (std::int64_t k = 0; k < W; ++k) {
      const bool filled = k < static_cast<std::int64_t>(going_on.size());
      const auto& candidate = going_on.empty() ? none : going_on[filled ? k : 0];
      parents.push_back(static_cast<std::int64_t>(beam) * W + candidate.parent);
      tokens.push_back(candidate.token);
      log_p.push_back(filled ? candidate.log_probability : minus_infinity);
    }
  }
};

// One for each row of the batch.
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
  const auto of_group = options_of_group(options);
  const auto W = of_group.beam_size;
  const auto all = W * options.beam_groups;  // hypotheses of a sentence
  const TokenChooser chooser(options, sentences);
  std::vector<BeamGroups> groups;
  std::vector<std::size_t> alive;  // which sentence each group of rows belongs to
  for (std::int64_t b = 0; b < B; ++b) {
    groups.emplace_back(lengths[b].item<std::int64_t>(), of_group,
                        sentences[static_cast<std::size_t>(b)]);
    alive.push_back(static_cast<std::size_t>(b));
  }

  const auto index = torch::TensorOptions(torch::kInt64).device(source.device());
  auto memory = model.encode(source, lengths);
  auto state = model.start(memory).select(
      torch::arange(B, index).repeat_interleave(all));  // rows 0 0 0 1 1 1 …
  auto tokens = torch::full({B * all}, bos_id, index);
  // All W hypotheses of a beam begin alike: only the first counts.
  std::vector<double> log_p(static_cast<std::size_t>(B * all), minus_infinity);
  for (std::size_t row = 0; row < log_p.size(); row += static_cast<std::size_t>(W)) log_p[row] = 0;

  while (!alive.empty()) {
    options.throw_if_cancelled();
    const auto step = model.step(tokens, state, memory);
    // 2W without a penalty are left, whatever the groups before have said.
    const auto best = chooser.best(
        model.output().logits(step, memory), all + W,
        chooser.needs_histories() ? histories_of(groups, alive) : std::vector<History>());
    const Candidates candidates(of_group, log_p, best,
                                options.needs_weights() ? step.weights : torch::Tensor());
    Rows next;
    std::vector<std::int64_t> staying;  // sentences of the batch that go on
    std::vector<std::size_t> still_alive;
    for (std::size_t i = 0; i < alive.size(); ++i) {
      auto& sentence = groups[alive[i]];
      const auto going_on = sentence.advance(i, candidates);
      if (sentence.have_ended()) continue;
      for (std::size_t g = 0; g < going_on.size(); ++g) {
        next.add(i * going_on.size() + g, W, going_on[g]);
      }
      staying.push_back(static_cast<std::int64_t>(i));
      still_alive.push_back(alive[i]);
    }
    state = step.state.select(torch::tensor(next.parents, index));
    if (staying.size() < alive.size()) {
      memory = memory.select(torch::tensor(staying, index));
    }
    tokens = torch::tensor(next.tokens, index);
    log_p = std::move(next.log_p);
    alive = std::move(still_alive);
  }

  std::vector<std::vector<Hypothesis>> found;
  for (const auto& sentence : groups) {
    found.push_back(sentence.n_best());
    if (options.want_tree) found.back().front().tree = sentence.tree();
  }
  return found;
}

}  // namespace regard
