// Section `model`: architecture and sizes. ARCHITECTURE.md explains the letters for sizes, such as
// D and E.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/field.h"

namespace regard {

// The probability that a model computes: of a translation given its source, of a text, or of the
// masked tokens of a text given the others.
enum class ModelKind { translation, language_model, masked_language_model };
constexpr std::array<std::string_view, 3> enum_names(ModelKind) {
  return {"translation", "language_model", "masked_language_model"};
}

// The cell of a recurrent layer.
enum class CellKind { gru, lstm, tanh };
constexpr std::array<std::string_view, 3> enum_names(CellKind) {
  return {"gru", "lstm", "tanh"};
}

// The GRU's reset gate multiplies the old state before its product with U (Cho 2014), or the
// product itself (cuDNN).
enum class ResetGate { before, after };
constexpr std::array<std::string_view, 2> enum_names(ResetGate) {
  return {"before", "after"};
}

// The kind of layers of a decoder.
enum class LayerKind { recurrent, transformer };
constexpr std::array<std::string_view, 2> enum_names(LayerKind) {
  return {"recurrent", "transformer"};
}

// The kind of layers of an encoder.
enum class EncoderKind { recurrent, transformer, convolutional };
constexpr std::array<std::string_view, 3> enum_names(EncoderKind) {
  return {"recurrent", "transformer", "convolutional"};
}

// Position of layer normalisation in a Transformer: before each sublayer and at the end, or after
// each.
enum class NormPlacement { pre, post };
constexpr std::array<std::string_view, 2> enum_names(NormPlacement) {
  return {"pre", "post"};
}

// Position encoding of self-attention. "auto" is sinusoidal, or none on top of recurrent states.
enum class PositionKind { automatic, sinusoidal, learned, rotary, none };
constexpr std::array<std::string_view, 5> enum_names(PositionKind) {
  return {"auto", "sinusoidal", "learned", "rotary", "none"};
}

// Keys that model.encoder and model.decoder both have. Not a section of its own.
struct SelfAttentionOptions {
  std::int64_t heads = 8;
  std::int64_t feed_forward_size = 2048;
  NormPlacement norm = NormPlacement::pre;
  PositionKind position = PositionKind::automatic;
  std::int64_t max_positions = 256;
};

template <typename Field>
void describe_self_attention(SelfAttentionOptions& o, Field&& field) {
  field("heads", o.heads, "transformer: number of attention heads, which share the width D",
        at_least(1));
  field("feed_forward_size", o.feed_forward_size,
        "transformer: width F of the feed-forward layer max(0, x W_1 + b_1) W_2 + b_2",
        at_least(1));
  field("norm", o.norm,
        "transformer: layer normalisation before each sublayer and at the end (pre), or after each "
        "sublayer (post)");
  field("position", o.position,
        "transformer: position encoding by sines and cosines, by a learned vector for each "
        "position, by rotations of queries and keys, so that scores depend on distances (Su et al. "
        "2021), or none; auto is sinusoidal, or none on top of recurrent states");
  field("max_positions", o.max_positions,
        "position learned: maximum length of a sentence in tokens, with </s>", at_least(1));
}

// Describes the keys of recurrent layers. `Side` is EncoderOptions or DecoderOptions.
template <typename Side, typename Field>
void describe_recurrent(Side& o, Field&& field) {
  field("cell", o.cell,
        "recurrent: gated recurrent units, long short-term memory, or simple tanh cells");
  field("reset_gate", o.reset_gate,
        "gru: the reset gate is applied to the state before its product with U, or after it as in "
        "cuDNN");
  field("residual", o.residual,
        "recurrent: residual connections around all layers except the first (He et al. 2016)");
  field("layer_norm", o.layer_norm,
        "recurrent: layer normalisation of the input of all layers except the first, and of the "
        "output of the last");
}

struct EncoderOptions {
  EncoderKind kind = EncoderKind::recurrent;
  std::int64_t numbers = 0;
  std::int64_t frame_stacking = 1;
  std::int64_t embedding_dim = 256;
  std::int64_t hidden_size = 512;
  std::int64_t layers = 1;
  bool bidirectional = true;
  bool reverse = false;
  bool pyramidal = false;
  std::int64_t image_height = 0;
  std::int64_t image_channels = 3;
  CellKind cell = CellKind::gru;
  ResetGate reset_gate = ResetGate::before;
  bool residual = false;
  bool layer_norm = false;
  std::int64_t self_attention_layers = 0;
  SelfAttentionOptions self_attention;
};

// Returns the width C of an encoder state.
constexpr std::int64_t state_size(const EncoderOptions& o) {
  return o.kind == EncoderKind::recurrent && o.bidirectional ? 2 * o.hidden_size : o.hidden_size;
}

// The cells into which a convolutional encoder divides an image; its states are the cells, row by
// row.
struct Grid {
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  std::int64_t size() const { return rows * columns; }
};

// Returns the grid of a convolutional encoder whose options are valid; no cells for other kinds.
constexpr Grid grid_of(const EncoderOptions& o) {
  if (o.kind != EncoderKind::convolutional) return {};
  return {o.image_height >> o.layers, o.numbers / o.image_channels >> o.layers};
}

// Returns how many frames of a source of features become one encoder state. A sentence of n tokens
// or frames and </s> has ceil((n + 1) / this) states.
constexpr std::int64_t frames_per_state(const EncoderOptions& o) {
  return o.frame_stacking << (o.pyramidal ? o.layers - 1 : 0);
}

constexpr bool has_self_attention(const EncoderOptions& o) {
  return o.kind == EncoderKind::transformer || o.self_attention_layers > 0;
}

template <typename Field>
void describe(EncoderOptions& o, Field&& field) {
  field(
      "kind", o.kind,
      "recurrent layers, self-attention layers (Vaswani et al. 2017), or for images, blocks of a "
      "3 x 3 convolution, layer normalisation, ReLU and 2 x 2 max pooling, whose grid of cells is "
      "attended to (Xu et al. 2015)");
  field(
      "numbers", o.numbers,
      "each source word is a vector x of this many numbers, such as 0.5,-2 for two, or each frame "
      "of data.source: features is one, and its embedding is W x + b; convolutional: a row of "
      "pixels; 0: words have embeddings",
      at_least(0));
  field("frame_stacking", o.frame_stacking,
        "source features: number of consecutive frames that are one input of the encoder",
        between(1, 64));
  field("embedding_dim", o.embedding_dim, "width E of a source token", at_least(1));
  field("hidden_size", o.hidden_size,
        "width D of a state, in each direction; for a transformer of another width than "
        "embedding_dim, a matrix projects the embeddings; convolutional: the channels of the last "
        "block, of which each block below has half as many",
        at_least(1));
  field("layers", o.layers,
        "number L of stacked layers; convolutional: number of blocks, each of which halves height "
        "and width",
        between(1, 16));
  field("bidirectional", o.bidirectional,
        "recurrent: read the sentence in both directions and concatenate the states; otherwise "
        "only left to right");
  field("reverse", o.reverse,
        "recurrent, not bidirectional: read the sentence from right to left, which is what "
        "reversing the source does (Sutskever 2014)");
  field("pyramidal", o.pyramidal,
        "recurrent, source features: each layer above the first reads the concatenation of two "
        "consecutive states of the layer below, which halves the number of states (Chan et al. "
        "2016)");
  field("image_height", o.image_height,
        "convolutional: height H of an image, in pixels: the number of frames of each item",
        between(0, 4096));
  field("image_channels", o.image_channels,
        "convolutional: numbers of a pixel; an image is numbers / image_channels pixels wide",
        between(1, 1024));
  describe_recurrent(o, field);
  field("self_attention_layers", o.self_attention_layers,
        "recurrent: number of transformer layers on top of the recurrent layers; the five keys "
        "below apply to them",
        between(0, 16));
  describe_self_attention(o.self_attention, field);
}

// The source of the first state of a recurrent decoder.
enum class InitialState { bridge, last, mean, zero, layers };
constexpr std::array<std::string_view, 5> enum_names(InitialState) {
  return {"bridge", "last", "mean", "zero", "layers"};
}

// The decoder state that is the query of attention: s_{t-1} (`pre`), s_t (`post`), or the
// intermediate state of the conditional GRU. "auto" is the default of the attention.
enum class Query { automatic, pre, conditional, post };
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
        "recurrent layers with model.attention, or transformer layers with attention to the target "
        "so far and to the source (Vaswani et al. 2017)");
  field("embedding_dim", o.embedding_dim, "width E of a target token", at_least(1));
  field("hidden_size", o.hidden_size,
        "width D of a state; for a transformer of another width than embedding_dim, a matrix "
        "projects the embeddings",
        at_least(1));
  field("layers", o.layers, "number L of stacked layers", between(1, 16));
  describe_recurrent(o, field);
  field("initial_state", o.initial_state,
        "recurrent: s_0 is tanh(W last + b) of the encoder's last states (bridge), these states "
        "themselves (last), tanh(W mean + b) of the mean over all states (mean), zero, or in each "
        "layer the last state of the same encoder layer, with the memory of an LSTM (layers; "
        "Sutskever 2014); after self-attention, which has no last state, the mean replaces it");
  field("query", o.query,
        "recurrent: the query of attention: last, s_{t-1} (Bahdanau); new, s_t of the top layer "
        "(Luong); or between, the state between the two steps of the conditional GRU of Nematus; "
        "auto is the usual query of the kind of attention (docs/attention.md)");
  field("input_feeding", o.input_feeding,
        "recurrent: feed the readout layer of each step into the next step (Luong 2015)");
  field("readout_size", o.readout_size,
        "recurrent: width of the readout layer tanh(W_y y + W_s s + W_c c + b) before the output "
        "layer",
        at_least(1));
  describe_self_attention(o.self_attention, field);
}

// The context of every step if attention.kind is none. With `initial` there is none.
enum class FixedContext { last, mean, initial };
constexpr std::array<std::string_view, 3> enum_names(FixedContext) {
  return {"last", "mean", "initial"};
}

// Gradient estimator for a sampled position. The default is the better one on Multi30k.
enum class HardEstimator { reinforce, gumbel };
constexpr std::array<std::string_view, 2> enum_names(HardEstimator) {
  return {"reinforce", "gumbel"};
}

// Says whether a matrix computes the keys: with "auto" if decoder and encoder states differ in
// width.
enum class ProjectKeys { automatic, yes, no };
constexpr std::array<std::string_view, 3> enum_names(ProjectKeys) {
  return {"auto", "true", "false"};
}

// The factor β of a cosine score: one learned number, computed from each query, or 1.
enum class Sharpness { learned, step, none };
constexpr std::array<std::string_view, 3> enum_names(Sharpness) {
  return {"learned", "step", "none"};
}

struct AttentionOptions {
  std::string kind = "additive";
  std::int64_t size = 512;
  ProjectKeys project_keys = ProjectKeys::automatic;
  Sharpness sharpness = Sharpness::learned;
  std::string score = "general";
  std::int64_t window = 10;
  std::int64_t max_positions = 256;
  HardEstimator estimator = HardEstimator::gumbel;
  double temperature = 1;
  double reward = 0.01;
  double entropy = 0.01;
  std::int64_t anneal_steps = 0;
  std::int64_t shift = 1;
  std::int64_t filters = 10;
  std::int64_t filter_width = 15;
  std::int64_t heads = 8;
  double fertility = 2;
  double coverage_loss = 0;
  FixedContext fixed_context = FixedContext::last;
  // A copy of model.dropout.attention, for attentions that compute their context themselves. Not a
  // key.
  double dropout = 0;
};

template <typename Field>
void describe(AttentionOptions& o, Field&& field) {
  field("kind", o.kind,
        "attention mechanism, by its name in docs/attention.md; none uses a fixed context at every "
        "step");
  field("size", o.size,
        "width A of the layer that compares state and key, or of all heads together", at_least(1));
  field(
      "project_keys", o.project_keys,
      "compare the query with K h_s instead of h_s; scores without a matrix, such as dot, need it "
      "if decoder and encoder states differ in width, which is when auto is true");
  field("sharpness", o.sharpness,
        "cosine: beta, one learned number, or computed from the query of each step (Graves), or "
        "none: 1");
  field("score", o.score,
        "the kind of the content score inside another attention, such as local_p or hard");
  field("window", o.window, "D, for a window of 2 D + 1 positions", at_least(1));
  field("max_positions", o.max_positions,
        "location: maximum length of a source sentence in tokens, with </s>", at_least(1));
  field("estimator", o.estimator,
        "hard: gradient estimator for a sampled position, REINFORCE or straight-through Gumbel "
        "softmax, which translates better (docs/attention.md)");
  field("temperature", o.temperature,
        "hard, gumbel: tau; lower is closer to hard attention, with noisier gradients",
        at_least(0.01));
  field("reward", o.reward,
        "hard, reinforce: weight of the reward for a sampled position, relative to the loss of the "
        "words; at 1 the gradient is unbiased and very noisy",
        at_least(0));
  field("entropy", o.entropy,
        "hard, reinforce: weight of the entropy of the attention weights, in nats", at_least(0));
  field("anneal_steps", o.anneal_steps,
        "hard: number of updates over which soft attention changes to sampling", at_least(0));
  field("shift", o.shift, "ntm: K, for shifts by −K … K positions", between(0, 16));
  field("filters", o.filters, "location_aware: k, the number of filters over the previous weights",
        between(1, 1024));
  field("filter_width", o.filter_width,
        "location_aware: number of positions that a filter covers, an odd number",
        between(1, 1023));
  field("heads", o.heads, "multi_head: number of heads, which share `size`", at_least(1));
  field("fertility", o.fertility,
        "coverage: N, the maximum number of steps expected to attend to a position",
        at_least(0.01));
  field("coverage_loss", o.coverage_loss,
        "coverage: weight of the loss for attending to the same position again", at_least(0));
  field(
      "fixed_context", o.fixed_context,
      "none: the context c is the last states of both directions, or the mean over all positions; "
      "initial: no step has a context, only the initial state depends on the source (Sutskever "
      "2014)");
}

// The prediction of the output layer: a token of the vocabulary, a source position (Vinyals 2015),
// or a word of the vocabulary or the source (See 2017).
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
        "vocabulary: a token of the vocabulary; pointer: a source position, counted from 0 "
        "(Vinyals 2015); copy: a word of the vocabulary or any word of the source (See 2017)");
  field("size", o.size, "pointer: width A of the layer that compares state and position",
        at_least(1));
}

struct DropoutOptions {
  double embeddings = 0.2;
  double states = 0.2;
  double readout = 0.2;
  double attention = 0;
  double tokens = 0;
};

template <typename Field>
void describe(DropoutOptions& o, Field&& field) {
  field("embeddings", o.embeddings, "on source and target embeddings, with position encodings",
        between(0, 0.99));
  field("states", o.states,
        "on the encoder's states, and between stacked layers; in a transformer, on the output of "
        "each sublayer and inside the feed-forward layer",
        between(0, 0.99));
  field("readout", o.readout, "on the readout layer", between(0, 0.99));
  field("attention", o.attention, "on the attention weights, and those of self-attention",
        between(0, 0.99));
  field("tokens", o.tokens,
        "on whole source and target tokens, whose embedding becomes 0 (word dropout, Iyyer et al. "
        "2015)",
        between(0, 0.99));
}

// Shared [V, E] matrices: none, target embedding and output layer (Press and Wolf 2017), or also
// the source embedding (needs a joint vocabulary).
enum class TiedEmbeddings { none, output, all };
constexpr std::array<std::string_view, 3> enum_names(TiedEmbeddings) {
  return {"none", "output", "all"};
}

struct ModelOptions {
  ModelKind kind = ModelKind::translation;
  EncoderOptions encoder;
  DecoderOptions decoder;
  AttentionOptions attention;
  OutputOptions output;
  DropoutOptions dropout;
  TiedEmbeddings tied_embeddings = TiedEmbeddings::none;
};

template <typename Field>
void describe(ModelOptions& o, Field&& field) {
  field("kind", o.kind,
        "translation: P(y | x) with an encoder and a decoder; language_model: P(y), with a decoder "
        "only, and masked_language_model: P(masked tokens | the others), with an encoder only; "
        "both are trained on the target side (docs/language_models.md)");
  field("encoder", o.encoder, "computes states h_s from source tokens");
  field("decoder", o.decoder, "computes states s_t and the readout layer");
  field("attention", o.attention,
        "computes the context c_t from states h_s; docs/attention.md lists the kinds and the "
        "options of each");
  field("output", o.output, "predicts the next token from state s_t and context c_t");
  field("dropout", o.dropout, "dropout probabilities in training");
  field("tied_embeddings", o.tied_embeddings,
        "share the target embedding with the output layer (output), and the source embedding too "
        "(all: needs a joint vocabulary)");
}

}  // namespace regard
