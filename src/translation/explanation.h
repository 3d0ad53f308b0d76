// A translation retold step by step, in the numbers of its attention.
#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "translation/model_folder.h"
#include "translation/translator.h"

namespace regard {

struct ExplainedStep {
  std::string token;           // what was said
  double probability = 0;      // P(y_t | y_<t, x)
  std::vector<float> query;    // the state that asked; empty where the model has none
  std::vector<float> scores;   // e_ts of each source token; empty where there are none
  std::vector<float> weights;  // alpha_ts of each
  std::vector<float> context;  // c_t
};

struct Explanation {
  std::vector<std::string> source_tokens;  // with </s>
  std::vector<ExplainedStep> steps;
};

// The best hypothesis of `translation`, which is that of `line`; no steps where it has none.
Explanation explain(const TranslationModel& model, torch::Device device, const std::string& line,
                    const Translation& translation);

}  // namespace regard
