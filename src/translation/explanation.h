// A translation retold step by step, in the numbers of its attention.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "translation/model_folder.h"
#include "translation/translator.h"

namespace regard {

struct ExplainedStep {
  std::string token;           // what was said
  double probability = 0;      // P(y_t | y_<t, x)
  std::vector<float> query;    // the state that asked; empty where the model has none
  std::vector<float> scores;   // e_ts of each source token; empty where there are none
  std::vector<float> weights;  // α_ts of each
  std::vector<float> context;  // c_t
  // What else the weights are made of, by the names of the equations.
  std::vector<std::pair<std::string, std::vector<float>>> numbers = {};
  bool is_choice = false;  // the weights are those of one position, which softmax_s(e_ts) chooses
  // Of each layer each head's weights, where the attention has heads.
  std::vector<std::vector<std::vector<float>>> heads = {};
  // Where the output points: P(y_t = position s), that of </s> last; empty for other outputs.
  std::vector<float> pointer = {};
  std::int64_t pointed = -1;             // the position that was said; -1 for other outputs
  std::optional<double> generates = {};  // where the output can copy: p_gen
};

struct Explanation {
  std::vector<std::string> source_tokens;  // with </s>
  std::vector<ExplainedStep> steps;
};

// The best hypothesis of `translation`, which is that of `line`; no steps where it has none.
Explanation explain(const TranslationModel& model, torch::Device device, const std::string& line,
                    const Translation& translation);

}  // namespace regard
