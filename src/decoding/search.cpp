#include "decoding/search.h"

#include <torch/utils.h>

#include <algorithm>

#include "decoding/beam_search.h"
#include "decoding/greedy_search.h"
#include "decoding/sampling.h"

namespace regard {

std::int64_t output_limit(std::int64_t source_length, const SearchOptions& options,
                          const SentenceOptions& sentence) {
  if (options.max_output_ratio <= 0) return options.max_output_length;
  auto needed = static_cast<std::int64_t>(sentence.prefix.size());
  for (const auto& phrase : sentence.demanded) needed += static_cast<std::int64_t>(phrase.size());
  const auto by_ratio =
      static_cast<std::int64_t>(options.max_output_ratio * static_cast<double>(source_length) + 10);
  return std::min(options.max_output_length,
                  std::max({by_ratio, options.min_output_length + 1, needed + 1}));
}

std::vector<std::vector<Hypothesis>> search(Seq2Seq& model, const torch::Tensor& source,
                                            const torch::Tensor& lengths,
                                            const SearchOptions& options,
                                            const std::vector<SentenceOptions>& sentences,
                                            kernels::PackedWeights& packed) {
  if (sentences.empty()) {
    return search(model, source, lengths, options,
                  std::vector<SentenceOptions>(static_cast<std::size_t>(source.size(0))), packed);
  }
  const torch::InferenceMode guard;
  const kernels::WithPackedWeights with(packed);
  if (options.samples > 0) return sample(model, source, lengths, options, sentences);
  const bool plain = std::all_of(sentences.begin(), sentences.end(),
                                 [](const auto& sentence) { return sentence.demanded.empty(); });
  return options.beam_size == 1 && plain ? greedy_search(model, source, lengths, options, sentences)
                                         : beam_search(model, source, lengths, options, sentences);
}

std::vector<std::vector<Hypothesis>> search(Seq2Seq& model, const torch::Tensor& source,
                                            const torch::Tensor& lengths,
                                            const SearchOptions& options,
                                            const std::vector<SentenceOptions>& sentences) {
  kernels::PackedWeights packed;
  return search(model, source, lengths, options, sentences, packed);
}

}  // namespace regard
