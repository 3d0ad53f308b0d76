#include "commands/translate/attention_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/choice.h"
#include "base/error.h"
#include "base/strings.h"
#include "commands/model_report.h"
#include "commands/translate/attention_output.h"
#include "translation/word_alignment.h"

namespace regard {
namespace {

std::vector<AttentionMap> maps_named(const std::vector<std::string>& given) {
  std::vector<AttentionMap> maps;
  for (const auto& name : given) {
    maps.push_back(choice_named<AttentionMap>("--attention-map", name));
  }
  std::ranges::sort(maps);
  const auto repeated = std::ranges::unique(maps);
  maps.erase(repeated.begin(), repeated.end());
  return maps;
}

std::string map_name(AttentionMap map) {
  return std::string(enum_name(map));
}

void check_has_map(AttentionMap map, const LoadedModel& model) {
  const auto& options = model.contents.options.model;
  const auto path = model.path.string();
  if (map == AttentionMap::source) return require_attention(model, "--attention-map source");
  if (head_counts(map, options).layers > 0) return;
  if (map == AttentionMap::encoder) {
    throw ConfigError(
        "--attention-map encoder: the encoder of the model {} is recurrent, without "
        "self-attention; leave it out, or train with model.encoder.kind: transformer or "
        "model.encoder.self_attention_layers above 0",
        path);
  }
  throw ConfigError(
      "--attention-map decoder: the decoder of the model {} is recurrent, without self-attention; "
      "leave it out, or train with model.decoder.kind: transformer",
      path);
}

void check_index(const char* option, std::int64_t found, std::int64_t count, const char* what,
                 AttentionMap map, const LoadedModel& model) {
  if (found <= count) return;
  if (count == 0) {
    throw ConfigError(
        "{}: the attention to the source of the model {} has no heads (model.attention.kind: {}); "
        "leave it out",
        option, model.path.string(), attention_kind(model.contents.options.model));
  }
  throw ConfigError("{} {}: --attention-map {} of the model {} has {}; give 1 to {}", option, found,
                    map_name(map), model.path.string(), counted(count, what), count);
}

AttentionMatrix head_matrix(const HeadWeights& weights, std::size_t l, std::size_t h) {
  const auto head = fmt::format("head {}", h + 1);
  return {weights.size() == 1 ? head : fmt::format("layer {}, {}", l + 1, head), weights[l][h]};
}

}  // namespace

HeadCounts head_counts(AttentionMap map, const ModelOptions& o) {
  const auto& encoder = o.encoder;
  switch (map) {
    case AttentionMap::encoder:
      if (!has_self_attention(encoder)) return {};
      return {
          encoder.kind == EncoderKind::transformer ? encoder.layers : encoder.self_attention_layers,
          encoder.self_attention.heads};
    case AttentionMap::source:
      if (o.decoder.kind == LayerKind::recurrent) {
        return o.attention.kind == AttentionKind::multi_head ? HeadCounts{1, o.attention.heads}
                                                             : HeadCounts{};
      }
      [[fallthrough]];
    case AttentionMap::decoder:
      if (o.decoder.kind == LayerKind::recurrent) return {};
      return {o.decoder.layers, o.decoder.self_attention.heads};
  }
  return {};
}

HeadWeights source_heads(const Explanation& explanation) {
  HeadWeights weights;
  for (const auto& step : explanation.steps) {
    weights.resize(step.heads.size());
    for (std::size_t l = 0; l < step.heads.size(); ++l) {
      weights[l].resize(step.heads[l].size());
      for (std::size_t h = 0; h < step.heads[l].size(); ++h) {
        const auto& row = step.heads[l][h];
        weights[l][h].insert(weights[l][h].end(), row.begin(), row.end());
      }
    }
  }
  return weights;
}

AttentionMatrix mean_of_last_layer(const HeadWeights& weights) {
  const auto& heads = weights.back();
  AttentionMatrix mean{weights.size() == 1 ? "mean of the heads" : "last layer, mean of its heads",
                       heads[0]};
  for (std::size_t h = 1; h < heads.size(); ++h) {
    for (std::size_t i = 0; i < heads[h].size(); ++i) mean.weights[i] += heads[h][i];
  }
  for (auto& weight : mean.weights) weight /= static_cast<float>(heads.size());
  return mean;
}

std::vector<AttentionMatrix> head_matrices(const HeadWeights& weights) {
  std::vector<AttentionMatrix> matrices;
  for (std::size_t l = 0; l < weights.size(); ++l) {
    for (std::size_t h = 0; h < weights[l].size(); ++h) {
      matrices.push_back(head_matrix(weights, l, h));
    }
  }
  return matrices;
}

AttentionPicture self_attention_picture(const std::vector<std::string>& tokens,
                                        std::vector<AttentionMatrix> matrices) {
  AttentionPicture picture{"", tokens, tokens, std::move(matrices)};
  picture.source_axis = "key";
  picture.target_axis = "query";
  return picture;
}

AttentionSelection::AttentionSelection(const AttentionChoice& choice, const LoadedModel& model,
                                       const Translator& translator)
    : model_(model),
      translator_(translator),
      maps_(maps_named(choice.maps)),
      layer_(choice.layer),
      head_(choice.head) {
  if (!has_self_attention() && !selects_heads()) return;
  for (const auto map : maps_) {
    check_has_map(map, model);
    const auto counts = head_counts(map, model.contents.options.model);
    check_index("--attention-layer", layer_, counts.layers, "layer", map, model);
    check_index("--attention-head", head_, counts.heads, "head", map, model);
  }
}

bool AttentionSelection::has(AttentionMap map) const {
  return std::ranges::find(maps_, map) != maps_.end();
}

ExplainedSelfAttention AttentionSelection::self_attention(const std::string& line,
                                                          const Translation& translation,
                                                          std::size_t index) const {
  return regard::self_attention(model_.contents, model_.device, translator_.packed_weights(), line,
                                translation, index);
}

std::vector<AttentionMatrix> AttentionSelection::select(const HeadWeights& weights) const {
  if (!selects_heads()) return {mean_of_last_layer(weights)};
  const auto l = layer_ > 0 ? static_cast<std::size_t>(layer_) - 1 : weights.size() - 1;
  if (head_ > 0) return {head_matrix(weights, l, static_cast<std::size_t>(head_) - 1)};
  std::vector<AttentionMatrix> matrices;
  for (std::size_t h = 0; h < weights[l].size(); ++h) {
    matrices.push_back(head_matrix(weights, l, h));
  }
  return matrices;
}

AttentionPicture AttentionSelection::source_picture(const std::string& line,
                                                    const Translation& translation) const {
  const auto& hypothesis = translation.hypotheses.front();
  AttentionPicture picture;
  const auto& data = model_.contents.options.data;
  picture.source = token_labels(translation.source_tokens, source_token_kind(data));
  picture.column_seconds = translation.column_seconds;
  picture.image = source_image(model_.contents.codec, line);
  picture.grid_rows = static_cast<std::size_t>(model_.contents.codec.grid.rows);
  picture.target = token_labels(translator_.tokens(hypothesis, translation), data.tokenizer.kind);
  if (selects_heads()) {
    const auto explanation = explain(model_.contents, model_.device, line, translation);
    picture.matrices = select(source_heads(explanation));
    return picture;
  }
  AttentionMatrix matrix;
  for (const auto& row : hypothesis.weights) {
    matrix.weights.insert(matrix.weights.end(), row.begin(), row.end());
  }
  if (maps_.size() > 1) matrix.caption = "attention";
  picture.matrices.push_back(std::move(matrix));
  return picture;
}

std::vector<AttentionPicture> AttentionSelection::pictures(const std::string& line,
                                                           const Translation& translation,
                                                           WeightScale scale) const {
  std::vector<AttentionPicture> pictures;
  if (has(AttentionMap::source)) pictures.push_back(source_picture(line, translation));
  if (has_self_attention()) {
    const auto weights = self_attention(line, translation, 0);
    const auto add = [&](const std::vector<std::string>& tokens, const HeadWeights& heads) {
      const auto kind = model_.contents.options.data.tokenizer.kind;
      pictures.push_back(self_attention_picture(token_labels(tokens, kind), select(heads)));
    };
    if (has(AttentionMap::encoder)) add(weights.source_tokens, weights.encoder);
    if (has(AttentionMap::decoder)) add(weights.inputs, weights.decoder);
  }
  const bool only_default = maps_.size() == 1 && has(AttentionMap::source) && !selects_heads();
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    pictures[i].scale = scale;
    if (only_default) continue;
    for (auto& matrix : pictures[i].matrices) {
      matrix.caption = fmt::format("{}: {}", map_name(maps_[i]), matrix.caption);
    }
  }
  return pictures;
}

}  // namespace regard
