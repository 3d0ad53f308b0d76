#include "translation/check_search.h"

#include "base/counted.h"
#include "base/error.h"
#include "config/check.h"

namespace regard {

void check_search(const TestingOptions& options, const Seq2Seq& model) {
  check_testing_options(options);
  if (options.coverage_beta > 0 && !model.shows_attention()) {
    throw ConfigError(
        "coverage_beta is {}, but the model has no attention, and coverage is a sum of attention "
        "weights; set it to 0",
        options.coverage_beta);
  }
  const auto limit = model.target_limit();
  if (limit && options.max_output_length > limit->tokens) {
    throw ConfigError(
        "max_output_length is {}, but the model takes {} ({}); set it to that or less",
        options.max_output_length, counted(limit->tokens, "token"), limit->key);
  }
}

}  // namespace regard
