// Computes a translation again and collects the intermediate values of its attention: step by step,
// or the self-attention of all positions.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/packed_weights.h"
#include "translation/model_folder.h"
#include "translation/translator.h"

namespace regard {

struct ExplainedStep {
  std::string token;           // y_t
  double probability = 0;      // P(y_t | y_<t, x)
  std::vector<float> query;    // decoder state; empty if the model has none
  std::vector<float> scores;   // e_ts of each source token; empty if the attention has none
  std::vector<float> weights;  // α_ts of each source token
  std::vector<float> context;  // c_t
  // Other quantities of the attention, with their symbols in its equations.
  std::vector<std::pair<std::string, std::vector<float>>> quantities = {};
  bool is_hard = false;  // all weight is on one position, selected by softmax_s(e_ts)
  // Weights by layer and head, if the attention has heads.
  std::vector<std::vector<std::vector<float>>> heads = {};
  // Pointer output: P(y_t = position s), with </s> last. Empty for other outputs.
  std::vector<float> pointer = {};
  std::int64_t selected_position = -1;  // position of y_t with pointer output; otherwise -1
  // Copy output: probability that y_t is generated from the vocabulary, not copied.
  std::optional<double> p_gen = {};
};

struct Explanation {
  std::vector<std::string> source_tokens;  // with </s>
  std::vector<std::size_t> tags;           // as in Translation
  double column_seconds = 0;               // as in Translation
  std::vector<ExplainedStep> steps;
};

// Explains the best hypothesis of `translation`, which must be the translation of `line` by
// `model`. The model must be on `device`. The result has no steps if there is no hypothesis (a
// blank line).
Explanation explain(const TranslationModel& model, torch::Device device, const std::string& line,
                    const Translation& translation);

// The weights of heads: [layer][head], each a matrix, row by row. Row i has the weights with which
// position i attends to every position.
using HeadWeights = std::vector<std::vector<std::vector<float>>>;

// The self-attention of a source sentence and of one translation. The weights of a side without
// self-attention are empty.
struct ExplainedSelfAttention {
  std::vector<std::string> source_tokens;  // S tokens, with </s>
  std::vector<std::string> inputs;         // of the decoder: T tokens, <s> y_1 … y_{T-1}
  HeadWeights encoder;                     // matrices [S, S]
  HeadWeights decoder;                     // matrices [T, T], 0 at positions after the row's own
};

// Computes the self-attention of hypothesis `index` of `translation`, which must be a translation
// of `line` by `model`. Row t of the decoder computes y_t from its inputs so far. The model must be
// on `device`, in evaluation mode. With the packed weights of the search, the states are those of
// the search, bit by bit. Thread-safe.
ExplainedSelfAttention self_attention(const TranslationModel& model, torch::Device device,
                                      kernels::PackedWeights& packed, const std::string& line,
                                      const Translation& translation, std::size_t index);

}  // namespace regard
