#include "decoding/greedy_search.h"

#include <cmath>

#include "decoding/attention_rows.h"
#include "decoding/next_tokens.h"
#include "decoding/score.h"

namespace regard {
namespace {

// Takes the token in, unless it is none; false where the hypothesis ends.
bool extend(Hypothesis& hypothesis, std::int64_t token, double log_p, std::int64_t longest,
            const SearchOptions& options) {
  if (!std::isfinite(log_p)) return false;  // nothing may come next
  hypothesis.log_probability += log_p;
  hypothesis.finished = token == options.end_token;
  if (!hypothesis.finished) hypothesis.tokens.push_back(static_cast<std::int32_t>(token));
  return !hypothesis.finished && static_cast<std::int64_t>(hypothesis.tokens.size()) < longest;
}

}  // namespace

std::vector<std::vector<Hypothesis>> greedy_search(Seq2Seq& model, const torch::Tensor& source,
                                                   const torch::Tensor& lengths,
                                                   const SearchOptions& options) {
  const auto B = source.size(0);
  const TokenChooser chooser(options);
  std::vector<std::vector<Hypothesis>> found(B, std::vector<Hypothesis>(1));
  std::vector<std::int64_t> alive(B);  // which sentence each row of the batch belongs to
  for (std::int64_t b = 0; b < B; ++b) alive[b] = b;

  const auto index = torch::TensorOptions(torch::kInt64).device(source.device());
  auto memory = model.encode(source, lengths);
  auto state = model.start(memory);
  auto tokens = torch::full({B}, options.begin_token, index);
  while (!alive.empty()) {
    auto step = model.step(tokens, state, memory);
    std::vector<std::vector<std::int32_t>> histories;
    if (chooser.needs_histories()) {
      for (const auto b : alive) histories.push_back(found[b][0].tokens);
    }
    const auto best = chooser.best(model.output().logits(step, memory), 1, histories);
    const AttentionRows weights(options.needs_weights() ? step.weights : torch::Tensor());

    std::vector<std::int64_t> staying;  // rows of sentences that go on
    for (std::size_t row = 0; row < alive.size(); ++row) {
      auto& hypothesis = found[alive[row]][0];
      const auto source_length = lengths[alive[row]].item<std::int64_t>();
      const auto log_p = best.log_p.data_ptr<double>()[row];
      if (weights && std::isfinite(log_p)) {
        hypothesis.weights.push_back(weights.row(row, source_length));
      }
      if (extend(hypothesis, best.tokens.data_ptr<std::int64_t>()[row], log_p,
                 output_limit(source_length, options), options)) {
        staying.push_back(static_cast<std::int64_t>(row));
      } else {
        hypothesis.score = score_of(hypothesis, options);
      }
    }

    state = std::move(step.state);
    tokens = best.tokens.squeeze(1).to(source.device());
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
