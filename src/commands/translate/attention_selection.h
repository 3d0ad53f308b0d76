// The attention that `regard translate` writes and draws: --attention-map, --attention-layer and
// --attention-head.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "commands/loaded_model.h"
#include "report/alignment_picture.h"
#include "translation/explanation.h"

namespace regard {

// Attention to the source, self-attention of the encoder, self-attention of the decoder.
enum class AttentionMap { source, encoder, decoder };
constexpr std::array<std::string_view, 3> enum_names(AttentionMap) {
  return {"source", "encoder", "decoder"};
}

// The number of layers with heads, and of heads in each. Both are 0 for attention without heads.
struct HeadCounts {
  std::int64_t layers = 0;
  std::int64_t heads = 0;
};
HeadCounts head_counts(AttentionMap map, const ModelOptions& options);

// Returns the weights of the heads of the attention to the source.
HeadWeights source_heads(const Explanation& explanation);
// Returns a matrix for the mean over the heads of the last layer.
AttentionMatrix mean_of_last_layer(const HeadWeights& weights);
// Returns a matrix for each head of each layer.
std::vector<AttentionMatrix> head_matrices(const HeadWeights& weights);

// Returns a picture of self-attention: rows are the queries, columns the keys.
AttentionPicture self_attention_picture(const std::vector<std::string>& tokens,
                                        std::vector<AttentionMatrix> matrices);

// Thread-safe.
class AttentionSelection {
 public:
  // The model and the translator must outlive this object. Throws ConfigError if an option has no
  // valid value or the model lacks the attention.
  AttentionSelection(const AttentionChoice& choice, const LoadedModel& model,
                     const Translator& translator);

  bool has(AttentionMap map) const;
  bool has_self_attention() const {
    return has(AttentionMap::encoder) || has(AttentionMap::decoder);
  }
  const std::vector<AttentionMap>& maps() const { return maps_; }

  // Returns the self-attention of hypothesis `index` of the line's translation.
  ExplainedSelfAttention self_attention(const std::string& line, const Translation& translation,
                                        std::size_t index) const;
  // Returns a picture of each selected map of the best hypothesis, at least one. The maps have
  // their captions unless only the attention to the source is selected, without layer and head. The
  // translation must have a hypothesis.
  std::vector<AttentionPicture> pictures(const std::string& line, const Translation& translation,
                                         WeightScale scale) const;

 private:
  bool selects_heads() const { return layer_ > 0 || head_ > 0; }
  // Returns the matrices of the selected layer and head.
  std::vector<AttentionMatrix> select(const HeadWeights& weights) const;
  AttentionPicture source_picture(const std::string& line, const Translation& translation) const;

  const LoadedModel& model_;
  const Translator& translator_;
  std::vector<AttentionMap> maps_;  // distinct, in the order of AttentionMap
  std::int64_t layer_;              // from 1; 0: not given
  std::int64_t head_;               // from 1; 0: not given
};

}  // namespace regard
