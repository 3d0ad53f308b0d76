#include "decoding/greedy_search.h"

#include "decoding/attention_rows.h"

namespace regard {

std::vector<std::vector<Hypothesis>> greedy_search(Seq2Seq& model, const torch::Tensor& source,
                                                   const torch::Tensor& lengths,
                                                   const SearchOptions& options) {
  const auto B = source.size(0);
  std::vector<std::vector<Hypothesis>> found(B, std::vector<Hypothesis>(1));
  std::vector<std::int64_t> alive(B);  // which sentence each row of the batch belongs to
  for (std::int64_t b = 0; b < B; ++b) alive[b] = b;

  const auto index = torch::TensorOptions(torch::kInt64).device(source.device());
  auto memory = model.encode(source, lengths);
  auto state = model.start(memory);
  auto tokens = torch::full({B}, options.begin_token, index);
  while (!alive.empty()) {
    auto step = model.step(tokens, state, memory);
    const auto best = next_tokens(model.output().logits(step, memory), 1, options);
    const AttentionRows weights(options.want_weights ? step.weights : torch::Tensor());

    std::vector<std::int64_t> staying;  // rows of sentences that go on
    for (std::size_t row = 0; row < alive.size(); ++row) {
      auto& hypothesis = found[alive[row]][0];
      const auto token = best.tokens.data_ptr<std::int64_t>()[row];
      const auto source_length = lengths[alive[row]].item<std::int64_t>();
      hypothesis.log_probability += best.log_p.data_ptr<double>()[row];
      hypothesis.finished = token == options.end_token;
      if (!hypothesis.finished) hypothesis.tokens.push_back(static_cast<std::int32_t>(token));
      if (weights) hypothesis.weights.push_back(weights.row(row, source_length));
      const auto length = static_cast<std::int64_t>(hypothesis.tokens.size());
      if (!hypothesis.finished && length < output_limit(source_length, options)) {
        staying.push_back(static_cast<std::int64_t>(row));
      } else {
        hypothesis.score = hypothesis.log_probability /
                           length_penalty(length + hypothesis.finished, options.beam_alpha);
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
