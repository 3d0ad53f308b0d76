// Steps of a search as graphs of a device. A GPU computes a step of a small model in a fraction of
// the time in which the processor launches its operations, so they are captured once and repeated
// by one launch (kernels/device_graph.h).
//
// A graph repeats its operations on the same memory. So a batch moves into a *slot*: the encoded
// sentences and the states of B sentences with G hypotheses each, where B and the number of
// encoder states are rounded up to few sizes. Sentences that have ended stay in the slot and are
// computed to no purpose, until half of them have ended; then the others move to a smaller slot.
// Which hypotheses continue, their last tokens and their positions are numbers on the device, so
// one graph serves all steps of all batches of its shape.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <vector>

#include "kernels/device_graph.h"
#include "kernels/token_probabilities.h"
#include "model/seq2seq.h"

namespace regard {

// The slots of one model for searches on one device. Not thread-safe.
class SearchGraphs {
 public:
  // The model must be in evaluation mode and outlive this object; its weights must not change.
  SearchGraphs(Seq2Seq& model, torch::Device device);
  ~SearchGraphs();

  // False if LibTorch cannot capture operations of the device, or after disable().
  bool is_enabled() const { return is_enabled_; }
  // Captures nothing more, because of an error, which is logged. Frees the slots, those in use when
  // their batches leave.
  void disable(const std::exception& error);
  // False if positions of the states are so high that their encodings are not on the device yet.
  static bool can_take(const DecoderState& state);

  // Returns ids of source sentences with padding up to a number of positions that few batches have.
  SourceBatch padded(const SourceBatch& source) const;

 private:
  friend class GraphedBatch;
  struct Slot;
  void give_back(Slot& slot);
  // Returns an unused slot for tensors of these sizes, made of them if there is none.
  Slot& slot_for(EncoderOutput encoded, DecoderState state, std::int64_t k);
  void release_oldest();
  // Computes the step of a slot, and returns the block of the best tokens on the device.
  torch::Tensor run(Slot& slot);
  torch::Tensor compute(Slot& slot);

  Seq2Seq& model_;
  GraphCapture capture_;
  bool is_enabled_;
  std::int64_t uses_ = 0;
  std::list<Slot> slots_;
};

// A batch in a slot.
class GraphedBatch {
 public:
  // Moves a batch in: B sentences, the states of N = G · B hypotheses and their last tokens, for
  // steps that return the k best tokens of each.
  GraphedBatch(SearchGraphs& graphs, EncoderOutput encoded, const DecoderState& state,
               const torch::Tensor& tokens, std::int64_t k);
  ~GraphedBatch();
  GraphedBatch(const GraphedBatch&) = delete;
  GraphedBatch& operator=(const GraphedBatch&) = delete;

  // Computes the next step of all hypotheses. If it throws, the batch is as before.
  void step();
  // Returns the best tokens of each after step(), at most k. Waits for the device once.
  kernels::TopK best() const;
  // As DecoderBatch::advance() after a step().
  void advance(const std::vector<std::int64_t>& parents, const std::vector<std::int64_t>& tokens,
               const std::vector<std::int64_t>& sentences);
  // True if the batch should move out, because half of its sentences have ended or its states have
  // no room for a further position.
  bool should_move(std::int64_t k) const;

  // The batch as it is now, to move it out.
  EncoderOutput encoded() const;
  DecoderState state() const;
  torch::Tensor tokens() const;

 private:
  // The rows of the slot that belong to sentences that have not ended, in their order.
  std::vector<std::int64_t> live_rows() const;

  SearchGraphs& graphs_;
  SearchGraphs::Slot* slot_;
  EncoderOutput encoded_;  // as it moved in
  std::int64_t G_;
  std::int64_t k_;
  std::int64_t steps_ = 0;
  std::vector<std::int64_t> places_;   // in the slot, of each sentence that has not ended
  std::vector<std::int64_t> started_;  // the position of each place when the batch moved in
  // parents_ has the row that each row of the slot continues, tokens_ its last token.
  std::vector<std::int64_t> parents_, tokens_;
  torch::Tensor best_;  // of the last step, on the device
};

}  // namespace regard
