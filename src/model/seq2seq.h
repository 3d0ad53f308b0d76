// What the training loop and the search know of a translator: never more than this.
//
// A source sentence is read once into a Memory; the target is then produced step by step, P(y_t |
// y_<t, x), either with the given target as history (decode) or with what the search chose (step).
// Every tensor here has the batch as its first dimension.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regard {

// A batch of source sentences as the decoder sees them; constant over the steps.
struct Memory {
  torch::Tensor values;       // [B, S, C] what the context is made of: the states h_s
  torch::Tensor mask;         // [B, S] bool, true at real positions
  torch::Tensor lengths;      // [B] int64 on the CPU: the real positions of each, which come first
  torch::Tensor summary;      // [B, C] the encoder's last states
  torch::Tensor context;      // [B, C] c, where it is the same at every step
  torch::Tensor keys;         // [B, S, A] what queries are compared with; with heads [B, H, S, d]
  torch::Tensor head_values;  // [B, H, S, d] what each head mixes
  // The values times the matrices that a context meets in the decoder, where contexts are mixtures:
  // C Σ_s α_ts h_s = Σ_s α_ts (C h_s), and C h_s is the same at every step.
  torch::Tensor gate_values;     // [B, S, K · D], K the gates of a cell
  torch::Tensor readout_values;  // [B, S, R]
  // Of a Transformer, keys and values of each layer, side by side: L times [B, S, 2D].
  std::vector<torch::Tensor> layers;
  // What the output needs of a sentence, by its kind (model/output/).
  torch::Tensor elements;     // [B, S, E] the embedded source
  torch::Tensor copy_ids;     // [B, S] int64: each source token in the target's vocabulary
  torch::Tensor output_keys;  // [B, S, A]
  // Of an ensemble, each member's.
  std::vector<Memory> members;

  // The sentences `rows` [N], in this order, repetitions allowed.
  Memory select(const torch::Tensor& rows) const;
};

// What the decoder carries from one step to the next.
struct DecoderState {
  // What each of L layers carries: a recurrent one its state [N, …]; a Transformer's the keys and
  // values of the t steps so far, side by side [N, t, 2D].
  std::vector<torch::Tensor> layers;
  torch::Tensor readout;  // [N, R], of the step before; undefined without input feeding
  std::vector<torch::Tensor> attention;    // what the attention carries, each [N, …]
  std::int64_t position = 0;               // t, of the step to come
  std::vector<DecoderState> members = {};  // of an ensemble, each member's

  DecoderState select(const torch::Tensor& rows) const;
};

struct DecoderStep {
  torch::Tensor readout;  // [N, R], ready for the output
  torch::Tensor weights;  // [N, S] attention α_t; undefined without attention
  DecoderState state;
  torch::Tensor top = {};    // s_t [N, D], the top layer's
  torch::Tensor input = {};  // y_{t-1} [N, E], embedded
};

// What an attention adds to the training loss at each step and for each row; undefined where it
// adds nothing.
struct AttentionLoss {
  torch::Tensor penalty;     // added as it stands
  torch::Tensor log_choice;  // log-probability of the position that was drawn (loss/reinforce.h)
};

// All steps of a batch, with a given history.
struct Decoded {
  torch::Tensor readout = {};  // [B, T, R], ready for the output
  torch::Tensor weights = {};  // [B, T, S] attention α_t; undefined where nobody asks for it
  torch::Tensor top = {};      // s_t [B, T, D], the top layer's
  torch::Tensor input = {};    // y_{t-1} [B, T, E], embedded
  AttentionLoss attention_loss = {};  // each [B, T]
};

// How the attention of a step came to its weights, for people to read. What a model does not have
// is undefined.
struct AttentionDetail {
  torch::Tensor query;    // [N, D] the state that asked
  torch::Tensor scores;   // [N, S] e_ts that the weights begin with; open at padding
  torch::Tensor context;  // [N, C]
  // Of each layer whose attention to the source has heads: [N, H, S].
  std::vector<torch::Tensor> heads = {};
  // What else the weights are made of, by the names of the equations, each [N, k].
  std::vector<std::pair<std::string, torch::Tensor>> numbers = {};
  bool is_choice = false;  // the weights are those of one position, which softmax_s(e_t) chooses
};

// The longest sentence that a model takes, in tokens with </s>, and the key that says so.
struct LengthLimit {
  std::int64_t tokens;
  std::string key;
};

class Output;

class Seq2Seq : public torch::nn::Module {
 public:
  // source [B, S] int64 token ids, each sentence ending in </s>, padded behind; or what else data/
  // makes of a source: [B, S, 2] ids with the same tokens' ids in the target's vocabulary, [B, S, F
  // + 1] numbers. lengths [B] int64 with </s>, on the CPU.
  virtual Memory encode(const torch::Tensor& source, const torch::Tensor& lengths) = 0;
  virtual DecoderState start(const Memory& memory) = 0;
  // One step for N hypotheses: tokens [N] int64, the ones before. N = G · B, G hypotheses in a row
  // for each sentence of the memory.
  virtual DecoderStep step(const torch::Tensor& tokens, const DecoderState& state,
                           const Memory& memory) = 0;
  // Of the step that step() would make.
  virtual AttentionDetail explain(const torch::Tensor& /*tokens*/, const DecoderState& /*state*/,
                                  const Memory& /*memory*/) {
    return {};
  }
  // All steps with a given history: input [B, T] int64, <s> y_1 … y_{T-1}.
  virtual Decoded decode(const torch::Tensor& input, const Memory& memory) = 0;
  // Called before each update with its number, from 1, for what changes in the course of a
  // training.
  virtual void at_step(std::int64_t /*step*/) {}
  // Nothing where there is none. A longer source, a longer target is an InputError.
  virtual std::optional<LengthLimit> source_limit() const { return {}; }
  virtual std::optional<LengthLimit> target_limit() const { return {}; }
  // The decoder's weights say which positions it looks at, for pictures and alignments.
  virtual bool shows_attention() const { return false; }
  // How probable each next token is after such a step (model/output/output.h).
  virtual Output& output() = 0;
};

// All that is trained, under its name in the model ("encoder.layer0.W"): the tensors themselves,
// not copies.
std::vector<std::pair<std::string, torch::Tensor>> parameters_of(const Seq2Seq& model);

}  // namespace regard
