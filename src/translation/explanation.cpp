#include "translation/explanation.h"

#include <torch/utils.h>

#include "data/batch.h"
#include "model/output/output.h"

namespace regard {
namespace {

// A row [1, n] as numbers; none where it is undefined.
std::vector<float> numbers(const torch::Tensor& row) {
  if (!row.defined()) return {};
  const auto flat = row.to(torch::kCPU, torch::kFloat).contiguous();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

}  // namespace

Explanation explain(const TranslationModel& loaded, torch::Device device, const std::string& line,
                    const Translation& translation) {
  Explanation explanation{translation.source_tokens, {}};
  if (translation.hypotheses.empty()) return explanation;
  const torch::InferenceMode guard;
  auto& model = *loaded.model;
  model.eval();
  const std::vector<SourceLine> source = {loaded.tokenizers.encode_source(line)};
  const auto batch = make_source_batch(source).to(device);
  const auto& best = translation.hypotheses.front();
  const SearchOptions special;
  std::vector<std::int64_t> said(best.tokens.begin(), best.tokens.end());
  if (best.finished) said.push_back(special.end_token);

  const auto memory = model.encode(batch.source, batch.source_lengths);
  auto state = model.start(memory);
  auto before = special.begin_token;
  for (const auto token : said) {
    const auto input = torch::full({1}, before, torch::dtype(torch::kLong).device(device));
    const auto detail = model.explain(input, state, memory);
    const auto step = model.step(input, state, memory);
    const auto p = model.output().logits(step, memory).softmax(-1)[0][token].item<double>();
    const auto word =
        loaded.tokenizers.target_token(static_cast<std::int32_t>(token), translation.more_words);
    explanation.steps.push_back({word, p, numbers(detail.query), numbers(detail.scores),
                                 numbers(step.weights), numbers(detail.context)});
    state = step.state;
    before = token;
  }
  return explanation;
}

}  // namespace regard
