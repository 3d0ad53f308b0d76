// The interface of a sequence-to-sequence model, as seen by training and search.
//
// encode() reads a batch of source sentences once. The model then computes P(y_t | y_<t, x) for
// each target step t: decode() computes all steps of a given target, step() one step after the
// tokens that the search chose. The batch is the first dimension of every tensor here.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/multi_head.h"
#include "model/source_batch.h"

namespace regard {

// Indices of rows [N] int64, which may repeat: the same numbers in both places.
struct RowIndices {
  torch::Tensor on_cpu;
  torch::Tensor on_device;  // of the tensors from which rows are selected
};

// Tensors that the decoder and the output layer precompute once per batch of source sentences, such
// as the keys of attention. Maps the address of each module to the tensors of the module. Each
// module defines the order of its tensors, which may be undefined. The batch is the first dimension
// of every tensor, so that select() works for all modules.
class DecoderContext {
 public:
  using Tensors = std::vector<torch::Tensor>;

  // Replaces the tensors of the module.
  void set(const void* module, Tensors tensors);
  // Returns the tensors of the module. Throws std::logic_error if it stored none.
  const Tensors& at(const void* module) const;
  // Returns the tensors of all modules, in the order of the first set() call of each module.
  std::vector<torch::Tensor*> all();

  // Selects the same sentences as EncoderOutput::select().
  DecoderContext select(const torch::Tensor& rows) const;
  // Appends the sentences of another batch, whose modules are the same.
  void append(const DecoderContext& other);

 private:
  std::vector<std::pair<const void*, Tensors>> tensors_;  // few entries: linear search
};

class BatchShortlist;  // model/output/batch_shortlist.h

// A batch of encoded source sentences; constant over the decoding steps.
struct EncoderOutput {
  torch::Tensor states;  // h [B, S, C]; arbitrary at padding
  torch::Tensor mask;    // [B, S] bool, true at real positions
  // [B] int64: number of states; padding follows. On the CPU, unless the batch is padded.
  torch::Tensor lengths;
  torch::Tensor lengths_on_device;  // the same on the device of the states
  torch::Tensor padding;            // [B, 1, S] bool, true at padding
  // The bias of attention scores [B, 1, 1, S]: 0 at real positions, −∞ at padding. Undefined on the
  // CPU, before set_bias(), and if there is no padding.
  torch::Tensor bias = {};
  torch::Tensor summary;  // [B, C] sentence vector, such as the final encoder states
  // The state [B, state_size] of each recurrent layer after its last step (rnn/cell.h); empty
  // unless the decoder starts with them.
  std::vector<torch::Tensor> last_states = {};
  DecoderContext context = {};  // filled by prepare() of decoder and output layer
  // Ensemble: the output of each member; then `states`, `summary` and `context` are empty.
  std::vector<EncoderOutput> members = {};
  // The target tokens that each sentence may generate; null: all.
  std::shared_ptr<BatchShortlist> shortlist = {};
  torch::Tensor sentences = {};  // [B] int64 on the CPU: the index in the shortlist

  // Sets lengths, mask and padding of sentences of at most S tokens whose states are on the device.
  void set_lengths(const torch::Tensor& of_sentences, std::int64_t S, torch::Device device);
  // Computes the bias, in the type of `like`, so that attention need not compute it at each step.
  void set_bias(const torch::Tensor& like);
  // Returns the padding for attention to the states, whose queries are like `like`.
  kernels::Padding attention_padding(const torch::Tensor& like,
                                     bool is_self_attention = false) const;
  // Returns the sentences with the indices `rows`, in this order.
  EncoderOutput select(const RowIndices& rows) const;
  // The same. Waits for the device of `rows`.
  EncoderOutput select(const torch::Tensor& rows) const {
    return select(RowIndices{rows.cpu(), rows});
  }
  // Appends the sentences of another batch of the same model, which may have another S. What is
  // shorter is filled with 0. Neither may have a shortlist.
  void append(const EncoderOutput& other);
};

// Decoder state between two steps.
struct DecoderState {
  // Recurrent: the state [N, state_size] of each layer (rnn/cell.h).
  std::vector<torch::Tensor> layers = {};
  // Transformer: the keys and values of the earlier positions for each layer, and the row of them
  // that each hypothesis continues [N] int64; undefined: its own (transformer/layers.h). The rows
  // are copied only by the next step.
  std::vector<torch::Tensor> pasts = {};
  torch::Tensor past_rows = {};
  torch::Tensor readout = {};  // [N, R] of step t − 1; undefined without input feeding
  std::vector<torch::Tensor> attention = {};  // per-step attention state, each [N, …]
  std::int64_t position = 0;  // t of the next step, counted from 0; the largest of all rows
  // [N] int64: t of each row, if they differ; undefined if all are at `position`. On the CPU, but
  // in the graphs of a search on the device, where `position` is only a bound.
  torch::Tensor positions = {};
  std::vector<DecoderState> members = {};  // ensemble: the state of each member

  // Returns the hypotheses with the indices `rows`, in this order.
  DecoderState select(const RowIndices& rows) const;
  // Appends new hypotheses, before their first step, of another batch of the same model.
  void append(const DecoderState& other);
  // Sets the position of the step after `last`.
  void set_position_after(const DecoderState& last);
};

// The result of one step for N hypotheses.
struct DecoderStep {
  torch::Tensor readout;  // [N, R], the input of the output layer; undefined for an ensemble
  torch::Tensor weights;  // [N, S] attention α_t; undefined if not computed
  DecoderState state;
  torch::Tensor hidden = {};  // s_t [N, D] of the top layer
  torch::Tensor input = {};   // of the decoder (input_layer.h) [N, E], or [N, D] for a Transformer
  std::vector<DecoderStep> members = {};  // ensemble: the step of each member, without its state
};

// Loss terms of an attention during training, one value per row and step. A term that the attention
// does not have is undefined.
struct AttentionLoss {
  torch::Tensor penalty;  // added to the objective
  // For REINFORCE (output/loss.h): λ_r log of the attention weight of the sampled position.
  torch::Tensor sampled_log_p;
};

// All steps of a batch, with the given target as history.
struct DecoderOutput {
  torch::Tensor readout =
      {};  // [B, T, R], the input of the output layer; undefined for an ensemble
  torch::Tensor weights = {};               // [B, T, S] attention α_t; undefined if not computed
  torch::Tensor hidden = {};                // s_t [B, T, D] of the top layer
  torch::Tensor input = {};                 // of the decoder [B, T, E], or [B, T, D]
  AttentionLoss attention_loss = {};        // each [B, T]
  std::vector<DecoderOutput> members = {};  // ensemble: the output of each member
};

// Intermediate values of the attention at one step, for visualisation. Members that a model does
// not compute are undefined.
struct AttentionDetail {
  torch::Tensor query = {};    // [N, D] decoder state
  torch::Tensor scores = {};   // [N, S] e_ts; arbitrary at padding
  torch::Tensor context = {};  // [N, C]
  // The weights of each head, [N, H, S] for each layer with multi-head attention to the source.
  std::vector<torch::Tensor> heads = {};
  // Other quantities in the equations of the weights, each [N, k] with its symbol, such as "p_t".
  std::vector<std::pair<std::string, torch::Tensor>> quantities = {};
  bool is_hard = false;  // all weight is on one position
};

// The weights of self-attention, before dropout: one tensor for each layer that has it, with the
// weights of each head. Row i has the weights with which position i attends to every position.
struct SelfAttention {
  std::vector<torch::Tensor> encoder = {};  // each [B, H, S, S], 0 at padding; rows of padding: any
  std::vector<torch::Tensor> decoder = {};  // each [B, H, T, T], 0 at positions after the row's own
};

// The maximum sentence length that a model accepts, in tokens including </s>, and the configuration
// key that sets it.
struct LengthLimit {
  std::int64_t max_tokens;
  std::string key;
};

class OutputLayer;

class Seq2Seq : public torch::nn::Module {
 public:
  virtual EncoderOutput encode(const SourceBatch& source) = 0;
  // Returns the state before the first step, one row per sentence.
  virtual DecoderState initial_state(const EncoderOutput& encoded) = 0;
  // Runs one step for N hypotheses. tokens [N] int64 is the last token of each. N = G · B, with G
  // consecutive hypotheses per sentence. Returns the attention weights if they are wanted and there
  // are any; otherwise only if they cost nothing.
  virtual DecoderStep step(const torch::Tensor& tokens, const DecoderState& state,
                           const EncoderOutput& encoded, bool want_weights = true) = 0;
  // Returns the intermediate values of the attention in step() with the same arguments.
  virtual AttentionDetail explain(const torch::Tensor& /*tokens*/, const DecoderState& /*state*/,
                                  const EncoderOutput& /*encoded*/) {
    return {};
  }
  // Runs all steps with the given target as history. input [B, T] int64 is <s> y_1 … y_{T-1}; for a
  // masked language model, the masked positions.
  // Returns the attention weights if they are wanted and there are any; otherwise only if they cost
  // nothing. In a search (kernels/mode.h), readout, hidden and weights have the bits of step() in
  // evaluation mode.
  virtual DecoderOutput decode(const torch::Tensor& input, const EncoderOutput& encoded,
                               bool want_weights = false) = 0;
  // Returns the self-attention of encode(source) and of decode() with one target per source,
  // input [B, T]. Empty for a side without self-attention, and for an ensemble.
  virtual SelfAttention self_attention(const SourceBatch& /*source*/,
                                       const torch::Tensor& /*input*/) {
    return {};
  }
  // Must be called before each update, with the number of the update, from 1. Used by modules that
  // change during training, such as annealed hard attention.
  virtual void set_training_step(std::int64_t /*step*/) {}
  // Return the maximum length, or nothing if there is none. Callers throw InputError for longer
  // sentences.
  virtual std::optional<LengthLimit> source_limit() const { return {}; }
  virtual std::optional<LengthLimit> target_limit() const { return {}; }
  // True if step() returns attention weights, which attention plots and alignments require.
  virtual bool has_attention_weights() const { return false; }
  // Returns the layer that computes the probabilities of the next token.
  virtual OutputLayer& output_layer() = 0;
};

// Puts a model into evaluation mode for its lifetime, then restores the mode.
class EvaluationMode {
 public:
  explicit EvaluationMode(Seq2Seq& model) : model_(model), was_training_(model.is_training()) {
    model_.eval();
  }
  ~EvaluationMode() { model_.train(was_training_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  Seq2Seq& model_;
  bool was_training_;
};

// Returns all trained parameters with their names ("encoder.layer0.W"). The tensors are not copied.
std::vector<std::pair<std::string, torch::Tensor>> parameters_of(const Seq2Seq& model);

}  // namespace regard
