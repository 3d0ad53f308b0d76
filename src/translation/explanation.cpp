#include "translation/explanation.h"

#include <torch/utils.h>

#include "base/special_tokens.h"
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

// heads [1, H, S]
std::vector<std::vector<float>> heads_of(const torch::Tensor& heads) {
  std::vector<std::vector<float>> rows;
  for (std::int64_t h = 0; h < heads.size(1); ++h) rows.push_back(numbers(heads.select(1, h)));
  return rows;
}

// A pointer's P of tokens [V] as P of positions, the last of which is </s>.
std::vector<float> by_position(const torch::Tensor& P, std::size_t positions) {
  const auto of_tokens = numbers(P);
  const auto first = of_tokens.begin() + first_position_id;
  std::vector<float> pointer(first, first + static_cast<std::ptrdiff_t>(positions) - 1);
  pointer.push_back(of_tokens[eos_id]);
  return pointer;
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
  std::vector<std::int64_t> said(best.tokens.begin(), best.tokens.end());
  if (best.finished) said.push_back(eos_id);

  const auto memory = model.encode(batch.source, batch.source_lengths);
  auto state = model.start(memory);
  std::int64_t before = bos_id;
  for (const auto token : said) {
    const auto input = torch::full({1}, before, torch::dtype(torch::kLong).device(device));
    const auto detail = model.explain(input, state, memory);
    const auto step = model.step(input, state, memory);
    const auto P = model.output().logits(step, memory).softmax(-1)[0];  // [V]
    const auto p = P[token].item<double>();
    const auto word =
        loaded.tokenizers.target_token(static_cast<std::int32_t>(token), translation.more_words);
    explanation.steps.push_back({word, p, numbers(detail.query), numbers(detail.scores),
                                 numbers(step.weights), numbers(detail.context)});
    auto& explained = explanation.steps.back();
    for (const auto& [name, row] : detail.numbers) {
      explained.numbers.emplace_back(name, numbers(row));
    }
    explained.is_choice = detail.is_choice;
    for (const auto& layer : detail.heads) explained.heads.push_back(heads_of(layer));
    if (loaded.options.model.output.kind == OutputKind::pointer) {
      const auto positions = translation.source_tokens.size();
      explained.pointer = by_position(P, positions);
      explained.pointed =
          token == eos_id ? static_cast<std::int64_t>(positions) - 1 : token - first_position_id;
    }
    const auto generates = model.output().generates(step, memory);
    if (generates.defined()) explained.generates = generates.item<double>();
    state = step.state;
    before = token;
  }
  return explanation;
}

}  // namespace regard
