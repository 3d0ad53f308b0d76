// Decodes a translation again, step by step, to show the values inside its attention.
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
  std::string token;           // y_t
  double probability = 0;      // P(y_t | y_<t, x)
  std::vector<float> query;    // decoder state; empty if the model has none
  std::vector<float> scores;   // e_ts of each source token; empty if there are none
  std::vector<float> weights;  // α_ts of each source token
  std::vector<float> context;  // c_t
  // Further values of the attention, by their names in its equations.
  std::vector<std::pair<std::string, std::vector<float>>> quantities = {};
  bool is_hard = false;  // hard attention: one position, chosen by softmax_s(e_ts)
  // Weights by layer and head, if the attention has heads.
  std::vector<std::vector<std::vector<float>>> heads = {};
  // For a pointer output: P(y_t = position s), </s> last; empty for other outputs.
  std::vector<float> pointer = {};
  std::int64_t pointed = -1;         // the position chosen; -1 for other outputs
  std::optional<double> p_gen = {};  // if the output can copy
};

struct Explanation {
  std::vector<std::string> source_tokens;  // with </s>
  std::vector<ExplainedStep> steps;
};

// Explains the best hypothesis of `translation`, the translation of `line`. Has no steps if there
// is no hypothesis.
Explanation explain(const TranslationModel& model, torch::Device device, const std::string& line,
                    const Translation& translation);

}  // namespace regard
