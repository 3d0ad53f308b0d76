#include "translation/explanation.h"

#include <torch/utils.h>

#include "base/special_tokens.h"
#include "data/batch.h"
#include "kernels/mode.h"
#include "model/output/output_layer.h"

namespace regard {
namespace {

// Converts a row [1, n]. Returns an empty vector for an undefined tensor.
std::vector<float> to_vector(const torch::Tensor& row) {
  if (!row.defined()) return {};
  const auto flat = row.to(torch::kCPU, torch::kFloat).contiguous();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

// Converts the weights of heads [1, H, S] or [1, H, T, S].
std::vector<std::vector<float>> head_weights(const torch::Tensor& heads) {
  std::vector<std::vector<float>> rows;
  for (std::int64_t h = 0; h < heads.size(1); ++h) rows.push_back(to_vector(heads.select(1, h)));
  return rows;
}

// Converts the weights of each layer, [1, H, T, S].
HeadWeights layer_weights(const std::vector<torch::Tensor>& layers) {
  HeadWeights weights;
  for (const auto& layer : layers) weights.push_back(head_weights(layer));
  return weights;
}

// Returns the ids of the hypothesis, with </s> if it was reached.
std::vector<std::int64_t> target_ids(const Hypothesis& hypothesis) {
  std::vector<std::int64_t> ids(hypothesis.tokens.begin(), hypothesis.tokens.end());
  if (hypothesis.finished) ids.push_back(eos_id);
  return ids;
}

// Converts P of a pointer output over token ids [V] to P over the source positions, with </s> last.
std::vector<float> by_position(const torch::Tensor& P, std::size_t positions) {
  const auto token_probabilities = to_vector(P);
  const auto first = token_probabilities.begin() + first_position_id;
  std::vector<float> pointer(first, first + static_cast<std::ptrdiff_t>(positions) - 1);
  pointer.push_back(token_probabilities[eos_id]);
  return pointer;
}

}  // namespace

Explanation explain(const TranslationModel& loaded, torch::Device device, const std::string& line,
                    const Translation& translation) {
  Explanation explanation;
  if (translation.hypotheses.empty()) return explanation;
  const torch::InferenceMode guard;
  auto& model = *loaded.model;
  if (model.is_training()) model.eval();  // other threads may be reading the mode
  const std::vector<SourceLine> source = {loaded.codec.encode_source(line)};
  explanation.source_tokens = source_tokens(loaded.codec, line, source[0]);
  explanation.tags = tag_positions(loaded.codec, explanation.source_tokens);
  explanation.column_seconds = seconds_per_state(loaded.codec, line);
  const auto batch = make_source_batch(source).to(device);
  const auto target = target_ids(translation.hypotheses.front());

  const auto encoded = model.encode(batch.source);
  auto state = model.initial_state(encoded);
  std::int64_t previous = loaded.codec.first_target;
  for (const auto token : target) {
    const auto input = torch::full({1}, previous, torch::dtype(torch::kLong).device(device));
    const auto detail = model.explain(input, state, encoded);
    const auto step = model.step(input, state, encoded);
    const auto P = model.output_layer().logits(step, encoded).softmax(-1)[0];  // [V]
    const auto p = P[token].item<double>();
    const auto word =
        loaded.codec.target_token(static_cast<std::int32_t>(token), translation.oov_words);
    explanation.steps.push_back({word, p, to_vector(detail.query), to_vector(detail.scores),
                                 to_vector(step.weights), to_vector(detail.context)});
    auto& explained = explanation.steps.back();
    for (const auto& [name, row] : detail.quantities) {
      explained.quantities.emplace_back(name, to_vector(row));
    }
    explained.is_hard = detail.is_hard;
    for (const auto& layer : detail.heads) explained.heads.push_back(head_weights(layer));
    if (loaded.options.model.output.kind == OutputKind::pointer) {
      const auto positions = explanation.source_tokens.size();
      explained.pointer = by_position(P, positions);
      explained.selected_position =
          token == eos_id ? static_cast<std::int64_t>(positions) - 1 : token - first_position_id;
    }
    const auto p_gen = model.output_layer().generation_probability(step, encoded);
    if (p_gen.defined()) explained.p_gen = p_gen.item<double>();
    state = step.state;
    previous = token;
  }
  return explanation;
}

ExplainedSelfAttention self_attention(const TranslationModel& loaded, torch::Device device,
                                      kernels::PackedWeights& packed, const std::string& line,
                                      const Translation& translation, std::size_t index) {
  const torch::InferenceMode guard;
  const auto mode = kernels::Mode::search(packed);
  const std::vector<SourceLine> source = {loaded.codec.encode_source(line)};
  const auto batch = make_source_batch(source).to(device);
  auto ids = target_ids(translation.hypotheses.at(index));
  ids.insert(ids.begin(), loaded.codec.first_target);
  ids.pop_back();
  const auto input = torch::tensor(ids, torch::kLong).unsqueeze(0).to(device);  // [1, T]
  const auto weights = loaded.model->self_attention(batch.source, input);

  ExplainedSelfAttention explained;
  explained.source_tokens = source_tokens(loaded.codec, line, source[0]);
  explained.encoder = layer_weights(weights.encoder);
  explained.decoder = layer_weights(weights.decoder);
  explained.inputs = {loaded.codec.target->token(loaded.codec.first_target)};
  for (std::size_t t = 1; t < ids.size(); ++t) {
    explained.inputs.push_back(
        loaded.codec.target_token(static_cast<std::int32_t>(ids[t]), translation.oov_words));
  }
  return explained;
}

}  // namespace regard
