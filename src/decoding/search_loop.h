// The batch of a search, which sentences join and leave between two steps, and the interface that
// all searches implement.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "decoding/logits_processor.h"
#include "decoding/search.h"
#include "decoding/search_graphs.h"
#include "model/seq2seq.h"

namespace regard {

// A sentence of a search. Its address does not change, because hypotheses refer to the options.
struct SearchedSentence {
  std::size_t id;
  std::int64_t source_length;  // number of encoder states
  SentenceOptions options;
};

// Returns the indices of the sentences of `encoded`, each n times: 0 0 0 1 1 1 …
RowIndices repeated_rows(const EncoderOutput& encoded, std::int64_t n);

// The encoder states of B sentences and the decoder states of N = G · B hypotheses, with G
// consecutive rows per sentence.
class DecoderBatch {
 public:
  // `graphs` may be null.
  DecoderBatch(Seq2Seq& model, SearchGraphs* graphs) : model_(model), graphs_(graphs) {}

  const EncoderOutput& encoded() const { return encoded_; }

  // Appends encoded sentences, each with G rows at the first step. Sentences with a shortlist need
  // an empty batch. Leaves the batch unchanged if it throws.
  void append(EncoderOutput encoded, const std::vector<std::int64_t>& first_tokens, std::int64_t G);

  // Computes the next step of all rows. The batch keeps the states before it. Returns the attention
  // weights if they are wanted.
  DecoderStep step(bool want_weights) {
    leave_slot();
    return model_.step(tokens_, state_, encoded_, want_weights);
  }
  // The same with the k best tokens of each row (LogitsProcessor::best()), by a graph of the device
  // if that is possible; then the step is empty.
  struct Best {
    DecoderStep step;
    NextTokens tokens;
  };
  Best best(const LogitsProcessor& processor, std::int64_t k, const std::vector<History>& histories,
            bool want_weights);

  // Continues after a step with the rows `parents` of it, each followed by its token. `sentences`
  // are the indices of the sentences that remain; empty parents empty the batch.
  void advance(const DecoderStep& step, const std::vector<std::int64_t>& parents,
               const std::vector<std::int64_t>& tokens, const std::vector<std::int64_t>& sentences);
  // Keeps these sentences, each with G rows, at the step where they are.
  void keep(const std::vector<std::int64_t>& sentences, std::int64_t G);

 private:
  // Returns the lists, which one copy brings to the device.
  std::vector<RowIndices> on_device(const std::vector<std::vector<std::int64_t>>& lists) const;
  void keep_sentences(const RowIndices& sentences);
  void clear();
  // Returns the k best tokens of a step by a graph, or nullopt if it cannot be captured.
  std::optional<kernels::TopK> graphed_step(std::int64_t k);
  // Moves the batch out of its slot, if it is in one.
  void leave_slot();

  Seq2Seq& model_;
  SearchGraphs* graphs_;
  std::unique_ptr<GraphedBatch> slot_;  // if not null, the tensors below are empty
  std::int64_t sentences_ = 0;
  EncoderOutput encoded_;
  DecoderState state_;
  torch::Tensor tokens_;  // [N]: the inputs of the next step
};

// A search in progress. RunningSearch has the contract of its functions; the caller disables
// gradients and is in kernels::Mode::search().
class SearchLoop {
 public:
  virtual ~SearchLoop() = default;

  // `sentences` have one entry per sentence of `encoded`.
  virtual void add(EncoderOutput encoded,
                   std::vector<std::unique_ptr<SearchedSentence>> sentences) = 0;
  virtual std::vector<RunningSearch::Finished> step() = 0;
  virtual void remove(const std::vector<std::size_t>& ids) = 0;
  virtual std::size_t size() const = 0;
  // Appends the result of RunningSearch::best_so_far().
  virtual void add_best(BestSoFar& best) const = 0;
};

// Return a search, which the parameters must outlive: one with options.samples samples per
// sentence, in the order of sampling, or greedy search if there are none, which ignores
// options.beam_size (decode_loop.cpp); and a beam search (beam_search.cpp).
std::unique_ptr<SearchLoop> decode_loop(Seq2Seq& model, const SearchRequest& options,
                                        SearchGraphs* graphs);
std::unique_ptr<SearchLoop> beam_search(Seq2Seq& model, const SearchRequest& options,
                                        SearchGraphs* graphs);

}  // namespace regard
