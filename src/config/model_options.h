// Section `model`: sizes and kinds. The letters are those of ARCHITECTURE.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/field.h"

namespace regard {

// Where the GRU's reset gate acts: on the old state, before its product with U (Cho 2014), or on
// the product (cuDNN).
enum class ResetGate { before, after };
constexpr std::array<std::string_view, 2> enum_names(ResetGate) {
  return {"before", "after"};
}

struct EncoderOptions {
  std::int64_t embedding_dim = 256;
  std::int64_t hidden_size = 512;
  std::int64_t layers = 1;
  bool bidirectional = true;
  ResetGate reset_gate = ResetGate::before;
};

template <typename Field>
void describe(EncoderOptions& o, Field&& field) {
  field("embedding_dim", o.embedding_dim, "width E of a source token", at_least(1));
  field("hidden_size", o.hidden_size, "width D of a state, in each direction", at_least(1));
  field("layers", o.layers, "GRU layers L, one on the other", between(1, 16));
  field("bidirectional", o.bidirectional,
        "read the sentence both ways and concatenate the states; else left to right only");
  field("reset_gate", o.reset_gate,
        "the reset gate acts on the state before its product with U, or after it, as in cuDNN");
}

enum class InitialState { bridge, last, mean, zero };
constexpr std::array<std::string_view, 4> enum_names(InitialState) {
  return {"bridge", "last", "mean", "zero"};
}

// Which state asks the attention: "auto" is the kind's own habit.
enum class Query { automatic, last, between, fresh };
constexpr std::array<std::string_view, 4> enum_names(Query) {
  return {"auto", "last", "between", "new"};
}

struct DecoderOptions {
  std::int64_t embedding_dim = 256;
  std::int64_t hidden_size = 512;
  std::int64_t layers = 1;
  ResetGate reset_gate = ResetGate::before;
  InitialState initial_state = InitialState::bridge;
  Query query = Query::automatic;
  bool input_feeding = false;
  std::int64_t readout_size = 512;
};

template <typename Field>
void describe(DecoderOptions& o, Field&& field) {
  field("embedding_dim", o.embedding_dim, "width E of a target token", at_least(1));
  field("hidden_size", o.hidden_size, "width D of a state", at_least(1));
  field("layers", o.layers, "GRU layers L, one on the other", between(1, 16));
  field("reset_gate", o.reset_gate,
        "the reset gate acts on the state before its product with U, or after it, as in cuDNN");
  field("initial_state", o.initial_state,
        "s_0: tanh(W last + b) of the encoder's last states (bridge), these states themselves "
        "(last), tanh(W mean + b) of the mean over all states (mean), or zero");
  field(
      "query", o.query,
      "which state asks where to look: the last, s_{t-1} (Bahdanau: look, then generate), the new, "
      "s_t of the top layer (Luong: generate, then look), or the one between the two GRU steps of "
      "Nematus's conditional GRU; auto is new for concat, else last");
  field("input_feeding", o.input_feeding,
        "the layer under the output of the step before goes into the next step (Luong 2015)");
  field("readout_size", o.readout_size,
        "width of the layer tanh(W_y y + W_s s + W_c c + b) under the output layer", at_least(1));
}

enum class FixedContext { last, mean };
constexpr std::array<std::string_view, 2> enum_names(FixedContext) {
  return {"last", "mean"};
}

// What stands in for the gradient through a position that was drawn.
enum class HardEstimator { reinforce, gumbel };
constexpr std::array<std::string_view, 2> enum_names(HardEstimator) {
  return {"reinforce", "gumbel"};
}

struct AttentionOptions {
  std::string kind = "additive";
  std::int64_t size = 512;
  bool project_keys = false;
  std::string score = "general";
  std::int64_t window = 10;
  std::int64_t max_positions = 256;
  HardEstimator estimator = HardEstimator::reinforce;
  double temperature = 1;
  double entropy = 0.01;
  std::int64_t anneal_steps = 0;
  std::int64_t shift = 1;
  std::int64_t heads = 8;
  double fertility = 2;
  double coverage_loss = 0;
  FixedContext fixed_context = FixedContext::last;
};

template <typename Field>
void describe(AttentionOptions& o, Field&& field) {
  field(
      "kind", o.kind,
      "where the decoder looks at each step, by the names of docs/attention.md; none is one fixed "
      "context at every step");
  field("size", o.size,
        "additive, concat, coverage: width A of the layer that compares state and key; multi_head: "
        "of all heads",
        at_least(1));
  field("project_keys", o.project_keys,
        "dot, scaled_dot, cosine: compare the query with K h_s, as wide as the query, in place of "
        "h_s; needed where decoder and encoder states differ in width");
  field("score", o.score,
        "local_m, local_p: the content score inside the window; hard: of what is drawn from");
  field("window", o.window, "local_m, local_p: D, of a window of 2 D + 1 positions", at_least(1));
  field("max_positions", o.max_positions, "location: the longest source, in tokens", at_least(1));
  field("estimator", o.estimator,
        "hard: the gradient through a drawn position, by REINFORCE, or straight through Gumbel "
        "noise");
  field("temperature", o.temperature, "hard, gumbel: tau; the lower, the harder and the noisier",
        at_least(0.01));
  field("entropy", o.entropy, "hard, reinforce: what a nat of the weights' entropy is worth",
        at_least(0));
  field("anneal_steps", o.anneal_steps,
        "hard: updates over which reading softly gives way to drawing", at_least(0));
  field("shift", o.shift, "ntm: K, of shifts by −K … K positions", between(0, 16));
  field("heads", o.heads, "multi_head: how many heads share the size", at_least(1));
  field("fertility", o.fertility, "coverage: N, the most steps that a position is expected to take",
        at_least(0.01));
  field("coverage_loss", o.coverage_loss,
        "coverage: the weight of the loss for looking at the same position again", at_least(0));
  field("fixed_context", o.fixed_context,
        "none: c is the last states of both directions, or the mean over all positions");
}

struct DropoutOptions {
  double embeddings = 0.2;
  double states = 0.2;
  double readout = 0.2;
};

template <typename Field>
void describe(DropoutOptions& o, Field&& field) {
  field("embeddings", o.embeddings, "on the embedded tokens, source and target", between(0, 0.99));
  field("states", o.states, "on the encoder's states, and between stacked layers",
        between(0, 0.99));
  field("readout", o.readout, "on the layer under the output layer", between(0, 0.99));
}

// Which of the three [V, E] matrices are one: none, target embedding and output layer (Press and
// Wolf 2017), or source embedding as well (needs a joint vocabulary).
enum class TiedEmbeddings { none, output, all };
constexpr std::array<std::string_view, 3> enum_names(TiedEmbeddings) {
  return {"none", "output", "all"};
}

struct ModelOptions {
  EncoderOptions encoder;
  DecoderOptions decoder;
  AttentionOptions attention;
  DropoutOptions dropout;
  TiedEmbeddings tied_embeddings = TiedEmbeddings::none;
};

template <typename Field>
void describe(ModelOptions& o, Field&& field) {
  field("encoder", o.encoder, "source tokens to states h_s");
  field("decoder", o.decoder, "states s_t and the layer under the output");
  field("attention", o.attention, "states h_s to the context c_t");
  field("dropout", o.dropout, "probabilities of dropping a unit in training");
  field("tied_embeddings", o.tied_embeddings,
        "share the target embedding with the output layer (output), and the source embedding too "
        "(all: needs a joint vocabulary)");
}

}  // namespace regard
