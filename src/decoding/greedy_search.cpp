#include "decoding/greedy_search.h"

#include "decoding/next_tokens.h"
#include "decoding/single_paths.h"

namespace regard {

std::vector<std::vector<Hypothesis>> greedy_search(Seq2Seq& model, const torch::Tensor& source,
                                                   const torch::Tensor& lengths,
                                                   const SearchOptions& options,
                                                   const std::vector<SentenceOptions>& sentences) {
  const TokenChooser chooser(options, sentences);
  const auto best = [&](const torch::Tensor& logits, const std::vector<std::int64_t>& /*paths*/,
                        const std::vector<History>& histories) {
    return chooser.best(logits, 1, histories);
  };
  const std::vector<std::int64_t> source_lengths(
      lengths.data_ptr<std::int64_t>(), lengths.data_ptr<std::int64_t>() + lengths.size(0));
  std::vector<std::vector<Hypothesis>> found;
  for (auto& hypothesis : single_paths(model, model.encode(source, lengths), source_lengths,
                                       options, sentences, best)) {
    found.push_back({std::move(hypothesis)});
  }
  return found;
}

}  // namespace regard
