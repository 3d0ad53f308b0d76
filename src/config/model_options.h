// Section `model`: sizes and kinds. The letters are those of ARCHITECTURE.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/field.h"

namespace regard {

// What a recurrent layer is made of.
enum class CellKind { gru, lstm, tanh };
constexpr std::array<std::string_view, 3> enum_names(CellKind) {
  return {"gru", "lstm", "tanh"};
}

// Where the GRU's reset gate acts: on the old state, before its product with U (Cho 2014), or on
// the product (cuDNN).
enum class ResetGate { before, after };
constexpr std::array<std::string_view, 2> enum_names(ResetGate) {
  return {"before", "after"};
}

// What the layers of an encoder or a decoder are.
enum class LayerKind { recurrent, transformer };
constexpr std::array<std::string_view, 2> enum_names(LayerKind) {
  return {"recurrent", "transformer"};
}

// Where a Transformer normalises: before each sublayer, and once at the end, or after each.
enum class NormPlace { pre, post };
constexpr std::array<std::string_view, 2> enum_names(NormPlace) {
  return {"pre", "post"};
}

// How self-attention knows of places: "auto" is sinusoidal, or none over recurrent states.
enum class PositionKind { automatic, sinusoidal, learned, none };
constexpr std::array<std::string_view, 4> enum_names(PositionKind) {
  return {"auto", "sinusoidal", "learned", "none"};
}

// Keys of model.encoder and of model.decoder alike.
struct SelfAttentionOptions {
  std::int64_t heads = 8;
  std::int64_t feed_forward_size = 2048;
  NormPlace norm = NormPlace::pre;
  PositionKind position = PositionKind::automatic;
  std::int64_t max_positions = 256;
};

template <typename Field>
void describe_self_attention(SelfAttentionOptions& o, Field&& field) {
  field("heads", o.heads, "transformer: how many heads of attention share the width D",
        at_least(1));
  field("feed_forward_size", o.feed_forward_size,
        "transformer: width F of the layer inside max(0, x W_1 + b_1) W_2 + b_2", at_least(1));
  field("norm", o.norm,
        "transformer: layer normalisation before each sublayer and once at the end, or after each");
  field("position", o.position,
        "transformer: what tells positions apart, sines and cosines, a learned vector for each, or "
        "nothing; auto is sinusoidal, or none over recurrent states, which know their place");
  field("max_positions", o.max_positions,
        "position learned: the longest sentence, in tokens with </s>", at_least(1));
}

// Of both sides' recurrent layers.
template <typename Side, typename Field>
void describe_recurrent(Side& o, Field&& field) {
  field("cell", o.cell,
        "recurrent: gated recurrent units, long short-term memory, or simple tanh cells");
  field("reset_gate", o.reset_gate,
        "gru: the reset gate acts on the state before its product with U, or after it, as in "
        "cuDNN");
  field("residual", o.residual,
        "recurrent: each layer but the first adds to what it reads (He et al. 2016)");
  field("layer_norm", o.layer_norm,
        "recurrent: layer normalisation of what each layer but the first reads, and at the top");
}

struct EncoderOptions {
  LayerKind kind = LayerKind::recurrent;
  std::int64_t numbers = 0;
  std::int64_t embedding_dim = 256;
  std::int64_t hidden_size = 512;
  std::int64_t layers = 1;
  bool bidirectional = true;
  CellKind cell = CellKind::gru;
  ResetGate reset_gate = ResetGate::before;
  bool residual = false;
  bool layer_norm = false;
  std::int64_t self_attention_layers = 0;
  SelfAttentionOptions self_attention;
};

// The width C of a state.
constexpr std::int64_t state_size(const EncoderOptions& o) {
  return o.kind == LayerKind::recurrent && o.bidirectional ? 2 * o.hidden_size : o.hidden_size;
}

constexpr bool attends_to_itself(const EncoderOptions& o) {
  return o.kind == LayerKind::transformer || o.self_attention_layers > 0;
}

template <typename Field>
void describe(EncoderOptions& o, Field&& field) {
  field("kind", o.kind, "recurrent layers, or layers of self-attention (Vaswani et al. 2017)");
  field(
      "numbers", o.numbers,
      "each source word is a vector of so many numbers, as in 0.5,-2 for two, embedded as W x + b "
      "in place of a row of the embedding; 0: words have embeddings",
      at_least(0));
  field("embedding_dim", o.embedding_dim, "width E of a source token", at_least(1));
  field("hidden_size", o.hidden_size,
        "width D of a state, in each direction; a transformer has one width, also embedding_dim's",
        at_least(1));
  field("layers", o.layers, "layers L, one on the other", between(1, 16));
  field("bidirectional", o.bidirectional,
        "recurrent: read the sentence both ways and concatenate the states; else left to right "
        "only");
  describe_recurrent(o, field);
  field("self_attention_layers", o.self_attention_layers,
        "recurrent: layers of a transformer on top of the states, with the five keys below",
        between(0, 16));
  describe_self_attention(o.self_attention, field);
}

enum class InitialState { bridge, last, mean, zero };
constexpr std::array<std::string_view, 4> enum_names(InitialState) {
  return {"bridge", "last", "mean", "zero"};
}

// Which state asks the attention: "auto" is the kind's own.
enum class Query { automatic, last, between, fresh };
constexpr std::array<std::string_view, 4> enum_names(Query) {
  return {"auto", "last", "between", "new"};
}

struct DecoderOptions {
  LayerKind kind = LayerKind::recurrent;
  std::int64_t embedding_dim = 256;
  std::int64_t hidden_size = 512;
  std::int64_t layers = 1;
  CellKind cell = CellKind::gru;
  ResetGate reset_gate = ResetGate::before;
  bool residual = false;
  bool layer_norm = false;
  InitialState initial_state = InitialState::bridge;
  Query query = Query::automatic;
  bool input_feeding = false;
  std::int64_t readout_size = 512;
  SelfAttentionOptions self_attention;
};

template <typename Field>
void describe(DecoderOptions& o, Field&& field) {
  field("kind", o.kind,
        "recurrent layers with model.attention, or layers of attention to the target so far and to "
        "the source (Vaswani et al. 2017)");
  field("embedding_dim", o.embedding_dim, "width E of a target token", at_least(1));
  field("hidden_size", o.hidden_size,
        "width D of a state; a transformer has one width, also embedding_dim's", at_least(1));
  field("layers", o.layers, "layers L, one on the other", between(1, 16));
  describe_recurrent(o, field);
  field("initial_state", o.initial_state,
        "recurrent: s_0, tanh(W last + b) of the encoder's last states (bridge), these states "
        "themselves (last), tanh(W mean + b) of the mean over all states (mean), or zero; of "
        "self-attention, which has no last state, the mean is taken for it");
  field("query", o.query,
        "recurrent: which state asks where to look, the last, s_{t-1} (Bahdanau: look, then "
        "generate), the new, s_t of the top layer (Luong: generate, then look), or the one "
        "between the two steps of Nematus's conditional GRU; auto is "
        "new for concat, local_m and local_p, else last");
  field("input_feeding", o.input_feeding,
        "recurrent: the layer under the output of the step before goes into the next step (Luong "
        "2015)");
  field("readout_size", o.readout_size,
        "recurrent: width of the layer tanh(W_y y + W_s s + W_c c + b) under the output layer",
        at_least(1));
  describe_self_attention(o.self_attention, field);
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
  double reward = 0.01;
  double entropy = 0.01;
  std::int64_t anneal_steps = 0;
  std::int64_t shift = 1;
  std::int64_t heads = 8;
  double fertility = 2;
  double coverage_loss = 0;
  FixedContext fixed_context = FixedContext::last;
  // model.dropout.attention, no key of its own: for an attention that mixes its context itself.
  double dropout = 0;
};

template <typename Field>
void describe(AttentionOptions& o, Field&& field) {
  field(
      "kind", o.kind,
      "where the decoder looks at each step, by the names of docs/attention.md; none is one fixed "
      "context at every step");
  field("size", o.size,
        "additive, concat, coverage, monotonic: width A of the layer that compares state and key; "
        "multi_head: of all heads",
        at_least(1));
  field("project_keys", o.project_keys,
        "dot, scaled_dot, cosine: compare the query with K h_s, as wide as the query, in place of "
        "h_s; needed where decoder and encoder states differ in width");
  field("score", o.score,
        "local_m, local_p: the content score inside the window, additive, concat, dot, scaled_dot, "
        "general or cosine; hard: of what is drawn from");
  field("window", o.window, "local_m, local_p: D, of a window of 2 D + 1 positions", at_least(1));
  field("max_positions", o.max_positions, "location: the longest source, in tokens with </s>",
        at_least(1));
  field("estimator", o.estimator,
        "hard: the gradient through a drawn position, by REINFORCE, or straight through Gumbel "
        "noise");
  field("temperature", o.temperature, "hard, gumbel: tau; the lower, the harder and the noisier",
        at_least(0.01));
  field("reward", o.reward,
        "hard, reinforce: what a drawn position earned counts this much beside the words' own "
        "loss; at 1 the gradient is without bias, and very noisy",
        at_least(0));
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

// What the model says: a word of its vocabulary, a position of the source (Vinyals 2015), or a word
// of either (See 2017).
enum class OutputKind { vocabulary, pointer, copy };
constexpr std::array<std::string_view, 3> enum_names(OutputKind) {
  return {"vocabulary", "pointer", "copy"};
}

struct OutputOptions {
  OutputKind kind = OutputKind::vocabulary;
  std::int64_t size = 512;
};

template <typename Field>
void describe(OutputOptions& o, Field&& field) {
  field("kind", o.kind,
        "a token of the vocabulary; pointer: a position of the source, counted from 0 (Vinyals "
        "2015); copy: a word of the vocabulary or one copied from the source, seen in training or "
        "not (See 2017)");
  field("size", o.size, "pointer: width A of the layer that compares state and position",
        at_least(1));
}

struct DropoutOptions {
  double embeddings = 0.2;
  double states = 0.2;
  double readout = 0.2;
  double attention = 0;
};

template <typename Field>
void describe(DropoutOptions& o, Field&& field) {
  field("embeddings", o.embeddings,
        "on the embedded tokens, source and target, with their positions", between(0, 0.99));
  field("states", o.states,
        "on the encoder's states, and between stacked layers; of a transformer on what each "
        "sublayer adds, and inside of the feed-forward",
        between(0, 0.99));
  field("readout", o.readout, "on the layer under the output layer", between(0, 0.99));
  field("attention", o.attention,
        "on the weights with which contexts are mixed, and those of self-attention",
        between(0, 0.99));
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
  OutputOptions output;
  DropoutOptions dropout;
  TiedEmbeddings tied_embeddings = TiedEmbeddings::none;
};

template <typename Field>
void describe(ModelOptions& o, Field&& field) {
  field("encoder", o.encoder, "source tokens to states h_s");
  field("decoder", o.decoder, "states s_t and the layer under the output");
  field("attention", o.attention, "states h_s to the context c_t");
  field("output", o.output, "state s_t and context c_t to the next token");
  field("dropout", o.dropout, "probabilities of dropping a unit in training");
  field("tied_embeddings", o.tied_embeddings,
        "share the target embedding with the output layer (output), and the source embedding too "
        "(all: needs a joint vocabulary)");
}

}  // namespace regard
