#include "decoding/search.h"

#include <algorithm>
#include <cmath>

#include "decoding/beam_search.h"
#include "decoding/greedy_search.h"

namespace regard {

double length_penalty(std::int64_t n, double alpha) {
  return std::pow((5.0 + static_cast<double>(n)) / 6.0, alpha);
}

std::int64_t output_limit(std::int64_t source_length, const SearchOptions& options) {
  if (options.max_output_ratio <= 0) return options.max_output_length;
  const auto by_ratio =
      static_cast<std::int64_t>(options.max_output_ratio * static_cast<double>(source_length) + 10);
  return std::min(options.max_output_length, by_ratio);
}

torch::Tensor next_log_probabilities(Seq2Seq& model, const torch::Tensor& readout,
                                     const SearchOptions& options) {
  auto log_p = model.logits(readout).log_softmax(-1);  // [N, V]
  for (const auto token : options.never) {
    log_p.select(1, token).fill_(-std::numeric_limits<double>::infinity());
  }
  return log_p;
}

std::vector<std::vector<Hypothesis>> search(Seq2Seq& model, const torch::Tensor& source,
                                            const torch::Tensor& lengths,
                                            const SearchOptions& options) {
  const torch::InferenceMode guard;
  return options.beam_size == 1 ? greedy_search(model, source, lengths, options)
                                : beam_search(model, source, lengths, options);
}

}  // namespace regard
