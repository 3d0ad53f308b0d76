#include "decoding/search.h"

#include <torch/utils.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

#include "config/output_lengths.h"
#include "decoding/search_graphs.h"
#include "decoding/search_loop.h"
#include "kernels/device.h"
#include "kernels/mode.h"
#include "model/output/batch_shortlist.h"

namespace regard {

bool have_same_results(const SearchRequest& a, const SearchRequest& b) {
  return static_cast<const SearchOptions&>(a) == b && a.n_best == b.n_best &&
         a.suppressed_tokens == b.suppressed_tokens && a.words == b.words &&
         a.want_weights == b.want_weights && a.want_tree == b.want_tree &&
         !a.cancelled == !b.cancelled;
}

std::int64_t output_limit(std::int64_t source_length, const SearchRequest& options,
                          const SentenceOptions& sentence) {
  if (options.max_output_ratio <= 0) return options.max_output_length;
  auto needed = static_cast<std::int64_t>(sentence.prefix.size());
  for (const auto& phrase : sentence.required_phrases) needed += phrase.length();
  return std::min(options.max_output_length,
                  std::max({output_limit_by_source(source_length, options),
                            options.min_output_length + 1, needed + 1}));
}

std::int64_t sentences_at_once(const SearchRequest& options, std::int64_t batch_size,
                               torch::Device device) {
  constexpr std::int64_t rows_on_cpu = 256;
  constexpr std::int64_t rows_on_device = 4096;
  const auto rows = device.is_cpu() ? rows_on_cpu : rows_on_device;
  if (options.samples == 0) return batch_size;
  return std::clamp<std::int64_t>(rows / options.samples, 1, batch_size);
}

RunningSearch::RunningSearch(Seq2Seq& model, const SearchRequest& options,
                             kernels::PackedWeights& packed, SearchGraphs* graphs)
    : model_(model), options_(options), packed_(packed), graphs_(graphs) {
  const bool beam = options_.samples == 0 && options_.beam_size > 1;
  loops_.push_back(beam ? beam_search(model_, options_, graphs_)
                        : decode_loop(model_, options_, graphs_));
}
RunningSearch::~RunningSearch() = default;

void RunningSearch::remove(const std::vector<std::size_t>& ids) {
  const torch::InferenceMode guard;
  for (const auto& loop : loops_) {
    if (loop->size() > 0) loop->remove(ids);
  }
}

std::size_t RunningSearch::size() const {
  std::size_t size = 0;
  for (const auto& loop : loops_) size += loop->size();
  return size;
}

BestSoFar RunningSearch::best_so_far() const {
  BestSoFar best;
  for (const auto& loop : loops_) loop->add_best(best);
  return best;
}

// Returns the search for a sentence with these options.
SearchLoop& RunningSearch::loop_of(const SentenceOptions& sentence) {
  const bool is_greedy = options_.samples == 0 && options_.beam_size == 1;
  if (!is_greedy || sentence.required_phrases.empty()) return *loops_[0];
  if (loops_.size() == 1) loops_.push_back(beam_search(model_, options_, graphs_));
  return *loops_[1];
}

EncoderOutput RunningSearch::encode(const SourceBatch& source,
                                    const std::vector<SentenceOptions>& sentences) {
  auto encoded = model_.encode(graphs_ != nullptr ? graphs_->padded(source) : source);
  if (sentences[0].shortlist.empty()) return encoded;
  std::vector<std::vector<std::int32_t>> lists;
  for (const auto& sentence : sentences) lists.push_back(sentence.shortlist);
  set_shortlist(encoded, std::make_shared<BatchShortlist>(lists, encoded.mask.device()));
  return encoded;
}

void RunningSearch::add(const SourceBatch& source, std::vector<SentenceOptions> sentences,
                        const std::vector<std::size_t>& ids) {
  const torch::InferenceMode guard;
  const auto mode = kernels::Mode::search(packed_);
  const auto encoded = encode(source, sentences);
  struct Joining {
    std::vector<std::int64_t> rows;
    std::vector<std::unique_ptr<SearchedSentence>> sentences;
  };
  std::map<SearchLoop*, Joining> joining;
  for (std::size_t b = 0; b < sentences.size(); ++b) {
    auto& [rows, joined] = joining[&loop_of(sentences[b])];
    rows.push_back(static_cast<std::int64_t>(b));
    joined.push_back(std::make_unique<SearchedSentence>(SearchedSentence{
        ids[b], encoded.lengths[rows.back()].item<std::int64_t>(), std::move(sentences[b])}));
  }
  try {
    for (auto& [loop, joined] : joining) {
      const bool all = joined.rows.size() == ids.size();
      const auto rows = torch::tensor(joined.rows, torch::kInt64);
      const RowIndices index = {rows, to_device(rows, encoded.mask.device())};
      loop->add(all ? encoded : encoded.select(index), std::move(joined.sentences));
    }
  } catch (...) {
    remove(ids);
    throw;
  }
}

std::vector<RunningSearch::Finished> RunningSearch::step() {
  options_.throw_if_cancelled();
  const torch::InferenceMode guard;
  const auto mode = kernels::Mode::search(packed_);
  std::vector<Finished> finished;
  for (const auto& loop : loops_) {
    if (loop->size() > 0) std::ranges::move(loop->step(), std::back_inserter(finished));
  }
  return finished;
}

std::vector<std::vector<Hypothesis>> search(Seq2Seq& model, const SourceBatch& source,
                                            const SearchRequest& options,
                                            const std::vector<SentenceOptions>& sentences,
                                            kernels::PackedWeights& packed) {
  options.throw_if_cancelled();
  const auto B = static_cast<std::size_t>(source.size());
  std::vector<std::size_t> ids(B);
  std::iota(ids.begin(), ids.end(), 0);
  RunningSearch running(model, options, packed);
  running.add(source, sentences.empty() ? std::vector<SentenceOptions>(B) : sentences, ids);
  std::vector<std::vector<Hypothesis>> results(B);
  while (running.size() > 0) {
    for (auto& [id, hypotheses] : running.step()) results[id] = std::move(hypotheses);
  }
  return results;
}

std::vector<std::vector<Hypothesis>> search(Seq2Seq& model, const SourceBatch& source,
                                            const SearchRequest& options,
                                            const std::vector<SentenceOptions>& sentences) {
  kernels::PackedWeights packed;
  return search(model, source, options, sentences, packed);
}

}  // namespace regard
