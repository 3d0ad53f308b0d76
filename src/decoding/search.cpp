#include "decoding/search.h"

#include <torch/utils.h>

#include <algorithm>

#include "decoding/beam_search.h"
#include "decoding/greedy_search.h"
#include "decoding/sampling.h"

namespace regard {

namespace {

// Beam search for those of whom something is demanded, greedy search for the others: what is
// demanded of one sentence changes the search of no other in the batch.
std::vector<std::vector<Hypothesis>> greedy_but_for_demands(
    Seq2Seq& model, const torch::Tensor& source, const torch::Tensor& lengths,
    const SearchOptions& options, const std::vector<SentenceOptions>& sentences) {
  std::vector<std::vector<Hypothesis>> found(sentences.size());
  for (const bool demanding : {false, true}) {
    std::vector<std::int64_t> rows;
    std::vector<SentenceOptions> of_rows;
    for (std::size_t b = 0; b < sentences.size(); ++b) {
      if (sentences[b].demanded.empty() == demanding) continue;
      rows.push_back(static_cast<std::int64_t>(b));
      of_rows.push_back(sentences[b]);
    }
    if (rows.empty()) continue;
    const auto index = torch::tensor(rows, torch::kInt64);
    const auto their_lengths = lengths.index_select(0, index);
    const auto longest = their_lengths.max().item<std::int64_t>();
    const auto their_source =
        source.index_select(0, index.to(source.device())).narrow(1, 0, longest);
    const auto search_for = demanding ? beam_search : greedy_search;
    auto found_here = search_for(model, their_source, their_lengths, options, of_rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      found[static_cast<std::size_t>(rows[i])] = std::move(found_here[i]);
    }
  }
  return found;
}

}  // namespace

std::int64_t output_limit(std::int64_t source_length, const SearchOptions& options,
                          const SentenceOptions& sentence) {
  if (options.max_output_ratio <= 0) return options.max_output_length;
  auto needed = static_cast<std::int64_t>(sentence.prefix.size());
  for (const auto& phrase : sentence.demanded) needed += static_cast<std::int64_t>(phrase.size());
  // Compared as it is: a ratio may be beyond all integers.
  const auto longest = static_cast<double>(options.max_output_length);
  const auto by_ratio = static_cast<std::int64_t>(
      std::min(longest, options.max_output_ratio * static_cast<double>(source_length) + 10));
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
  options.throw_if_cancelled();
  const torch::InferenceMode guard;
  const kernels::WithPackedWeights with(packed);
  if (options.samples > 0) return sample(model, source, lengths, options, sentences);
  if (options.beam_size > 1) return beam_search(model, source, lengths, options, sentences);
  const auto demands = [](const auto& sentence) { return !sentence.demanded.empty(); };
  if (std::none_of(sentences.begin(), sentences.end(), demands)) {
    return greedy_search(model, source, lengths, options, sentences);
  }
  return greedy_but_for_demands(model, source, lengths, options, sentences);
}

std::vector<std::vector<Hypothesis>> search(Seq2Seq& model, const torch::Tensor& source,
                                            const torch::Tensor& lengths,
                                            const SearchOptions& options,
                                            const std::vector<SentenceOptions>& sentences) {
  kernels::PackedWeights packed;
  return search(model, source, lengths, options, sentences, packed);
}

}  // namespace regard
