#include "decoding/search.h"

#include <torch/utils.h>

#include <algorithm>

#include "decoding/beam_search.h"
#include "decoding/decode_loop.h"
#include "decoding/sampling.h"
#include "model/output/batch_shortlist.h"

namespace regard {

namespace {

// Uses beam search for sentences with required phrases and greedy search for the others, so that
// the constraints of a sentence do not change the results of others in the batch.
std::vector<std::vector<Hypothesis>> greedy_or_constrained_search(
    Seq2Seq& model, const torch::Tensor& source, const torch::Tensor& lengths,
    const SearchOptions& options, const std::vector<SentenceOptions>& sentences) {
  std::vector<std::vector<Hypothesis>> results(sentences.size());
  for (const bool constrained : {false, true}) {
    std::vector<std::int64_t> rows;
    std::vector<SentenceOptions> row_options;
    for (std::size_t b = 0; b < sentences.size(); ++b) {
      if (sentences[b].required_phrases.empty() == constrained) continue;
      rows.push_back(static_cast<std::int64_t>(b));
      row_options.push_back(sentences[b]);
    }
    if (rows.empty()) continue;
    const auto index = torch::tensor(rows, torch::kInt64);
    const auto row_lengths = lengths.index_select(0, index);
    const auto longest = row_lengths.max().item<std::int64_t>();
    const auto row_sources =
        source.index_select(0, index.to(source.device())).narrow(1, 0, longest);
    const auto search_rows = constrained ? beam_search : greedy_search;
    auto row_results = search_rows(model, row_sources, row_lengths, options, row_options);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      results[static_cast<std::size_t>(rows[i])] = std::move(row_results[i]);
    }
  }
  return results;
}

}  // namespace

std::int64_t output_limit(std::int64_t source_length, const SearchOptions& options,
                          const SentenceOptions& sentence) {
  if (options.max_output_ratio <= 0) return options.max_output_length;
  auto needed = static_cast<std::int64_t>(sentence.prefix.size());
  for (const auto& phrase : sentence.required_phrases)
    needed += static_cast<std::int64_t>(phrase.size());
  // Compared as floating point, because the product may exceed the range of integers.
  const auto max_length = static_cast<double>(options.max_output_length);
  const auto by_ratio = static_cast<std::int64_t>(
      std::min(max_length, options.max_output_ratio * static_cast<double>(source_length) + 10));
  return std::min(options.max_output_length,
                  std::max({by_ratio, options.min_output_length + 1, needed + 1}));
}

EncoderOutput encode_for_search(Seq2Seq& model, const torch::Tensor& source,
                                const torch::Tensor& lengths,
                                const std::vector<SentenceOptions>& sentences) {
  auto encoded = model.encode(source, lengths);
  if (sentences.empty() || sentences[0].shortlist.empty()) return encoded;
  std::vector<std::vector<std::int32_t>> lists;
  for (const auto& sentence : sentences) lists.push_back(sentence.shortlist);
  set_shortlist(encoded, std::make_shared<BatchShortlist>(lists, encoded.mask.device()));
  return encoded;
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
  options.throw_if_cancelled();
  const torch::InferenceMode guard;
  const kernels::WithPackedWeights with(packed);
  if (options.samples > 0) return sample(model, source, lengths, options, sentences);
  if (options.beam_size > 1) return beam_search(model, source, lengths, options, sentences);
  const auto is_constrained = [](const auto& sentence) {
    return !sentence.required_phrases.empty();
  };
  if (std::none_of(sentences.begin(), sentences.end(), is_constrained)) {
    return greedy_search(model, source, lengths, options, sentences);
  }
  return greedy_or_constrained_search(model, source, lengths, options, sentences);
}

std::vector<std::vector<Hypothesis>> search(Seq2Seq& model, const torch::Tensor& source,
                                            const torch::Tensor& lengths,
                                            const SearchOptions& options,
                                            const std::vector<SentenceOptions>& sentences) {
  kernels::PackedWeights packed;
  return search(model, source, lengths, options, sentences, packed);
}

}  // namespace regard
