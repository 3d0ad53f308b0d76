#include "decoding/single_paths.h"

#include <torch/utils.h>

#include <cmath>
#include <numeric>

#include "decoding/attention_rows.h"
#include "decoding/score.h"

namespace regard {
namespace {

// Takes the token in, unless it is none; false where the hypothesis ends.
bool extend(Hypothesis& hypothesis, std::int64_t token, double log_p, std::int64_t longest) {
  if (!std::isfinite(log_p)) return false;  // nothing may come next
  hypothesis.log_probability += log_p;
  hypothesis.token_log_p.push_back(log_p);
  hypothesis.finished = token == eos_id;
  if (!hypothesis.finished) hypothesis.tokens.push_back(static_cast<std::int32_t>(token));
  return !hypothesis.finished && static_cast<std::int64_t>(hypothesis.tokens.size()) < longest;
}

}  // namespace

std::vector<Hypothesis> single_paths(Seq2Seq& model, Memory memory,
                                     const std::vector<std::int64_t>& lengths,
                                     const SearchOptions& options,
                                     const std::vector<SentenceOptions>& sentences,
                                     const PickTokens& pick) {
  std::vector<Hypothesis> found(lengths.size());
  std::vector<std::int64_t> alive(lengths.size());  // whose each row of the batch is
  std::iota(alive.begin(), alive.end(), 0);

  auto state = model.start(memory);
  const auto index = torch::TensorOptions(torch::kInt64).device(memory.mask.device());
  auto tokens = torch::full({static_cast<std::int64_t>(alive.size())}, bos_id, index);
  while (!alive.empty()) {
    options.throw_if_cancelled();
    auto step = model.step(tokens, state, memory);
    std::vector<History> histories;
    for (const auto path : alive) histories.push_back({found[path].tokens, &sentences[path]});
    const auto picked = pick(model.output().logits(step, memory), alive, histories);
    const AttentionRows weights(options.needs_weights() ? step.weights : torch::Tensor());

    std::vector<std::int64_t> staying;  // rows that go on
    for (std::size_t row = 0; row < alive.size(); ++row) {
      auto& hypothesis = found[alive[row]];
      const auto length = lengths[alive[row]];
      const auto log_p = picked.log_p.data_ptr<double>()[row];
      if (weights && std::isfinite(log_p)) hypothesis.weights.push_back(weights.row(row, length));
      if (extend(hypothesis, picked.tokens.data_ptr<std::int64_t>()[row], log_p,
                 output_limit(length, options, sentences[alive[row]]))) {
        staying.push_back(static_cast<std::int64_t>(row));
      } else {
        hypothesis.score = score_of(hypothesis, options);
        if (!options.want_weights) hypothesis.weights.clear();
      }
    }

    state = std::move(step.state);
    tokens = picked.tokens.squeeze(1).to(memory.mask.device());
    if (staying.size() < alive.size()) {
      const auto rows = torch::tensor(staying, index);
      state = state.select(rows);
      memory = memory.select(rows);
      tokens = tokens.index_select(0, rows);
      for (auto& row : staying) row = alive[row];
      alive = std::move(staying);
    }
  }
  return found;
}

}  // namespace regard
