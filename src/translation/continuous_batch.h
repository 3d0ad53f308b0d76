// Translates sentences with one thread, in batches that sentences join and leave between two steps
// (continuous batching; Orca, Yu et al. 2022).
//
// Sentences share a running search if they have the same search options and their lengths are not
// too different, since each step costs as much as the longest source and translation of its batch.
// All searches of the thread advance in turn, one step each.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <vector>

#include "decoding/search.h"
#include "kernels/packed_weights.h"
#include "model/seq2seq.h"
#include "translation/translation_queue.h"

namespace regard {

class ContinuousBatch {
 public:
  // The steps of a translation that the translator provides.
  struct Steps {
    // Returns the options of the search for a sentence.
    std::function<const SearchRequest&(const QueuedSentence&)> search_request;
    // Returns the options of a sentence, complete with its shortlist.
    std::function<SentenceOptions(const QueuedSentence&)> sentence_options;
    // Completes a translation whose hypotheses are set.
    std::function<void(QueuedSentence&)> complete;
    // Returns the text of the first tokens of a translation.
    std::function<std::string(const QueuedSentence&, std::vector<std::int32_t>)> text;
  };

  // Has at most `batch_size` sentences at a time. `graphs` may be null. All parameters must outlive
  // this object.
  ContinuousBatch(Seq2Seq& model, torch::Device device, kernels::PackedWeights& packed,
                  SearchGraphs* graphs, const Steps& steps, std::size_t batch_size,
                  SentenceSupply& supply);

  // Translates sentences, at most `batch_size`, and those that the supply has meanwhile. Each is
  // finished or failed at the end. If a batch has an error other than CancelledSearch, its
  // sentences are translated again one by one, so that only those with an error fail.
  void run(QueuedSentences sentences);

 private:
  // A running search.
  struct Lane {
    Lane(Seq2Seq& model, const SearchRequest& request, kernels::PackedWeights& packed,
         SearchGraphs* graphs, std::size_t source_length)
        : options(request), search(model, options, packed, graphs), longest(source_length) {}

    SearchRequest options;
    RunningSearch search;
    std::map<std::size_t, QueuedSentence*> sentences;  // by id
    std::size_t longest;                               // number of source tokens
    bool is_closed = false;  // takes no more sentences: it has shortlists, or only one sentence
  };

  std::size_t size() const;
  bool is_open() const;
  void add(const QueuedSentences& sentences);
  Lane& lane_for(const QueuedSentence& sentence);
  Lane& new_lane(const QueuedSentence& sentence);
  void join(Lane& lane, const QueuedSentences& sentences);
  void step(Lane& lane);
  void end_cancelled(Lane& lane);
  void report_partial(const Lane& lane);
  void fail(const QueuedSentences& sentences);
  void try_alone(QueuedSentence* sentence);

  Seq2Seq& model_;
  torch::Device device_;
  kernels::PackedWeights& packed_;
  SearchGraphs* graphs_;
  const Steps& steps_;
  std::size_t batch_size_;
  SentenceSupply& supply_;
  std::list<Lane> lanes_;
  std::size_t next_id_ = 0;
};

}  // namespace regard
