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

// Returns the fields of the SelfAttentionOptions of a side. `layers` reads them, `positions`
// learned positions.
template <typename Side>
constexpr auto self_attention_fields(SelfAttentionOptions Side::*side, Part layers,
                                     Part positions) {
  const auto at = [side](auto member) { return Nested{side, member}; };
  using Both = SelfAttentionOptions;
  return std::tuple{
      field("heads", at(&Both::heads), "number of attention heads, which share the width D",
            at_least(1), only(layers)),
      field("feed_forward_size", at(&Both::feed_forward_size),
            "width F of the feed-forward layer max(0, x W_1 + b_1) W_2 + b_2", at_least(1),
            only(layers)),
      field("norm", at(&Both::norm),
            "layer normalisation before each sublayer and at the end (pre), or after each sublayer "
            "(post)",
            only(layers)),
      field("position", at(&Both::position),
            "position encoding by sines and cosines, by a learned vector for each position, by "
            "rotations of queries and keys, so that scores depend on distances (Su et al. 2021), "
            "or none; auto is sinusoidal, or none on top of recurrent states",
            only(layers)),
      field("max_positions", at(&Both::max_positions),
            "maximum length of a sentence in tokens, with </s>", at_least(1),
            only(layers, positions))};
}

// Returns the fields of recurrent layers. `Side` is EncoderOptions or DecoderOptions. `layers`
// reads them, `gru` those of its cell.
template <typename Side>
constexpr auto recurrent_fields(Part layers, Part gru) {
  return std::tuple{
      field("cell", &Side::cell,
            "gated recurrent units, long short-term memory, or simple tanh cells", only(layers)),
      field("reset_gate", &Side::reset_gate,
            "the reset gate is applied to the state before its product with U, or after it as in "
            "cuDNN",
            only(layers, gru)),
      field("residual", &Side::residual,
            "residual connections around all layers except the first (He et al. 2016)",
            only(layers)),
      field("layer_norm", &Side::layer_norm,
            "layer normalisation of the input of all layers except the first, and of the output of "
            "the last",
            only(layers))};
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

  static constexpr auto fields = std::tuple_cat(
      std::tuple{
          field("kind", &EncoderOptions::kind,
                "recurrent layers, self-attention layers (Vaswani et al. 2017), or for images, "
                "blocks of a 3 x 3 convolution, layer normalisation, ReLU and 2 x 2 max pooling, "
                "whose grid of cells is attended to (Xu et al. 2015)"),
          field("numbers", &EncoderOptions::numbers,
                "each source word is a vector x of this many numbers, such as 0.5,-2 for two, or "
                "each frame of data.source: features is one, and its embedding is W x + b; "
                "convolutional: a row of pixels; 0: words have embeddings",
                at_least(0)),
          field("frame_stacking", &EncoderOptions::frame_stacking,
                "number of consecutive frames that are one input of the encoder", between(1, 64),
                only(Part::sequence_encoder, Part::features)),
          field("embedding_dim", &EncoderOptions::embedding_dim, "width E of a source token",
                at_least(1), only(Part::sequence_encoder)),
          field("hidden_size", &EncoderOptions::hidden_size,
                "width D of a state, in each direction; for a transformer of another width than "
                "embedding_dim, a matrix projects the embeddings; convolutional: the channels of "
                "the last block, of which each block below has half as many",
                at_least(1)),
          field("layers", &EncoderOptions::layers,
                "number L of stacked layers; convolutional: number of blocks, each of which halves "
                "height and width",
                between(1, 16)),
          field("bidirectional", &EncoderOptions::bidirectional,
                "read the sentence in both directions and concatenate the states; otherwise only "
                "left to right",
                only(Part::recurrent_encoder)),
          field("reverse", &EncoderOptions::reverse,
                "read the sentence from right to left, which is what reversing the source does "
                "(Sutskever 2014)",
                only(Part::recurrent_encoder, Part::one_direction)),
          field("pyramidal", &EncoderOptions::pyramidal,
                "each layer above the first reads the concatenation of two consecutive states of "
                "the layer below, which halves the number of states (Chan et al. 2016)",
                only(Part::recurrent_encoder, Part::features)),
          field("image_height", &EncoderOptions::image_height,
                "height H of an image, in pixels: the number of frames of each item",
                between(0, 4096), only(Part::convolutional_encoder)),
          field("image_channels", &EncoderOptions::image_channels,
                "numbers of a pixel; an image is numbers / image_channels pixels wide",
                between(1, 1024), only(Part::convolutional_encoder))},
      recurrent_fields<EncoderOptions>(Part::recurrent_encoder, Part::gru_encoder),
      std::tuple{field("self_attention_layers", &EncoderOptions::self_attention_layers,
                       "number of transformer layers on top of the recurrent layers; the five keys "
                       "below apply to them",
                       between(0, 16), only(Part::recurrent_encoder))},
      self_attention_fields(&EncoderOptions::self_attention, Part::encoder_self_attention,
                            Part::encoder_positions));
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
  bool operator==(const Grid&) const = default;
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

// The source of the first state of a recurrent decoder.
enum class InitialState { bridge, last, mean, zero, layers };
constexpr std::array<std::string_view, 5> enum_names(InitialState) {
  return {"bridge", "last", "mean", "zero", "layers"};
}

// The decoder state that is the query of attention: s_{t-1} (last), the intermediate state of the
// conditional GRU (between), or s_t (new). "auto" is the default of the attention.
enum class Query { automatic, last, between, new_ };
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

  static constexpr auto fields = std::tuple_cat(
      std::tuple{
          field("kind", &DecoderOptions::kind,
                "recurrent layers with model.attention, or transformer layers with attention to "
                "the target so far and to the source (Vaswani et al. 2017)"),
          field("embedding_dim", &DecoderOptions::embedding_dim, "width E of a target token",
                at_least(1)),
          field("hidden_size", &DecoderOptions::hidden_size,
                "width D of a state; for a transformer of another width than embedding_dim, a "
                "matrix projects the embeddings",
                at_least(1)),
          field("layers", &DecoderOptions::layers, "number L of stacked layers", between(1, 16))},
      recurrent_fields<DecoderOptions>(Part::recurrent_decoder, Part::gru_decoder),
      std::tuple{
          field("initial_state", &DecoderOptions::initial_state,
                "s_0 is tanh(W last + b) of the encoder's last states (bridge), these states "
                "themselves (last), tanh(W mean + b) of the mean over all states (mean), zero, or "
                "in each layer the last state of the same encoder layer, with the memory of an "
                "LSTM (layers; Sutskever 2014); after self-attention, which has no last state, the "
                "mean replaces it",
                only(Part::recurrent_decoder, Part::translation)),
          field("query", &DecoderOptions::query,
                "the query of attention: last, s_{t-1} (Bahdanau); new, s_t of the top layer "
                "(Luong); or between, the state between the two steps of the conditional GRU of "
                "Nematus; auto is the usual query of the kind of attention (docs/attention.md)",
                only(Part::recurrent_decoder, Part::translation)),
          field("input_feeding", &DecoderOptions::input_feeding,
                "feed the readout layer of each step into the next step (Luong 2015)",
                only(Part::recurrent_decoder)),
          field(
              "readout_size", &DecoderOptions::readout_size,
              "width of the readout layer tanh(W_y y + W_s s + W_c c + b) before the output layer",
              at_least(1), only(Part::recurrent_decoder))},
      self_attention_fields(&DecoderOptions::self_attention, Part::transformer_decoder,
                            Part::decoder_positions));
};

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

// The kinds of attention (model/attention/table.h).
enum class AttentionKind {
  none,
  additive,
  concat,
  dot,
  scaled_dot,
  general,
  cosine,
  location,
  local_m,
  local_p,
  hard,
  ntm,
  multi_head,
  coverage,
  monotonic,
  location_aware,
};
constexpr std::array<std::string_view, 16> enum_names(AttentionKind) {
  return {"none",       "additive", "concat",    "dot",           "scaled_dot", "general",
          "cosine",     "location", "local_m",   "local_p",       "hard",       "ntm",
          "multi_head", "coverage", "monotonic", "location_aware"};
}

struct AttentionOptions {
  AttentionKind kind = AttentionKind::additive;
  std::int64_t size = 512;
  ProjectKeys project_keys = ProjectKeys::automatic;
  Sharpness sharpness = Sharpness::learned;
  AttentionKind score = AttentionKind::general;
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

  using Kind = AttentionKind;
  // The kinds that contain the content score `score`.
  static constexpr Readers with_score = only(Kind::local_m, Kind::local_p, Kind::hard);

  static constexpr auto fields = std::tuple{
      field("kind", &AttentionOptions::kind,
            "attention mechanism, by its name in docs/attention.md; none uses a fixed context at "
            "every step"),
      field("size", &AttentionOptions::size,
            "width A of the layer that compares state and key, or of all heads together",
            at_least(1),
            usually(Kind::additive, Kind::concat, Kind::multi_head, Kind::coverage, Kind::monotonic,
                    Kind::location_aware)),
      field("project_keys", &AttentionOptions::project_keys,
            "compare the query with K h_s instead of h_s; scores without a matrix, such as dot, "
            "need it if decoder and encoder states differ in width, which is when auto is true",
            only(Kind::dot, Kind::scaled_dot, Kind::cosine)),
      field(
          "sharpness", &AttentionOptions::sharpness,
          "beta, one learned number, or computed from the query of each step (Graves), or none: 1",
          only(Kind::cosine)),
      field("score", &AttentionOptions::score,
            "the kind of the content score inside another attention, such as local_p or hard",
            with_score),
      field("window", &AttentionOptions::window, "D, for a window of 2 D + 1 positions",
            at_least(1), only(Kind::local_m, Kind::local_p)),
      field("max_positions", &AttentionOptions::max_positions,
            "maximum length of a source sentence in tokens, with </s>", at_least(1),
            only(Kind::location)),
      field("estimator", &AttentionOptions::estimator,
            "gradient estimator for a sampled position, REINFORCE or straight-through Gumbel "
            "softmax, which translates better (docs/attention.md)",
            only(Kind::hard)),
      field("temperature", &AttentionOptions::temperature,
            "tau; lower is closer to hard attention, with noisier gradients", at_least(0.01),
            only(Kind::hard, Part::gumbel)),
      field("reward", &AttentionOptions::reward,
            "weight of the reward for a sampled position, relative to the loss of the words; at 1 "
            "the gradient is unbiased and very noisy",
            at_least(0), only(Kind::hard, Part::reinforce)),
      field("entropy", &AttentionOptions::entropy,
            "weight of the entropy of the attention weights, in nats", at_least(0),
            only(Kind::hard, Part::reinforce)),
      field("anneal_steps", &AttentionOptions::anneal_steps,
            "number of updates over which soft attention changes to sampling", at_least(0),
            only(Kind::hard)),
      field("shift", &AttentionOptions::shift, "K, for shifts by −K … K positions", between(0, 16),
            only(Kind::ntm)),
      field("filters", &AttentionOptions::filters,
            "k, the number of filters over the previous weights", between(1, 1024),
            only(Kind::location_aware)),
      field("filter_width", &AttentionOptions::filter_width,
            "number of positions that a filter covers, an odd number", between(1, 1023),
            only(Kind::location_aware)),
      field("heads", &AttentionOptions::heads, "number of heads, which share `size`", at_least(1),
            only(Kind::multi_head)),
      field("fertility", &AttentionOptions::fertility,
            "N, the maximum number of steps expected to attend to a position", at_least(0.01),
            only(Kind::coverage)),
      field("coverage_loss", &AttentionOptions::coverage_loss,
            "weight of the loss for attending to the same position again", at_least(0),
            only(Kind::coverage)),
      field("fixed_context", &AttentionOptions::fixed_context,
            "the context c is the last states of both directions, or the mean over all positions; "
            "initial: no step has a context, only the initial state depends on the source "
            "(Sutskever 2014)",
            only(Kind::none))};
};

// True if the kind reads the option, such as &AttentionOptions::window.
template <typename T>
bool is_read(const AttentionOptions& options, T AttentionOptions::*option) {
  bool result = false;
  for_each_field(
      [&](const auto& field, const auto&) {
        if constexpr (std::same_as<std::remove_cvref_t<decltype(field.get)>,
                                   T AttentionOptions::*>) {
          if (field.get == option) result = is_read(options, field.readers);
        }
      },
      options);
  return result;
}

// The prediction of the output layer: a token of the vocabulary, a source position (Vinyals 2015),
// or a token of the vocabulary or the source (See 2017).
enum class OutputKind { vocabulary, pointer, copy };
constexpr std::array<std::string_view, 3> enum_names(OutputKind) {
  return {"vocabulary", "pointer", "copy"};
}
// True if predictions refer to the tokens of the source.
constexpr bool refers_to_source(OutputKind kind) {
  return kind == OutputKind::pointer || kind == OutputKind::copy;
}

struct OutputOptions {
  OutputKind kind = OutputKind::vocabulary;
  std::int64_t size = 512;

  static constexpr auto fields = std::tuple{
      field("kind", &OutputOptions::kind,
            "vocabulary: a token of the vocabulary; pointer: a source position, counted from 0 "
            "(Vinyals 2015); copy: a token of the vocabulary or any token of the source (See "
            "2017); for other tokens than words, data.tokenizer.joint must be true"),
      field("size", &OutputOptions::size, "width A of the layer that compares state and position",
            at_least(1), only(Part::pointer))};
};

struct DropoutOptions {
  double embeddings = 0.2;
  double states = 0.2;
  double readout = 0.2;
  double attention = 0;
  double tokens = 0;

  static constexpr auto fields = std::tuple{
      field("embeddings", &DropoutOptions::embeddings,
            "on source and target embeddings, with position encodings", between(0, 0.99)),
      field("states", &DropoutOptions::states,
            "on the encoder's states, and between stacked layers; in a transformer, on the output "
            "of each sublayer and inside the feed-forward layer",
            between(0, 0.99)),
      field("readout", &DropoutOptions::readout, "on the readout layer", between(0, 0.99),
            only(Part::decoder)),
      field("attention", &DropoutOptions::attention,
            "on the attention weights, and those of self-attention", between(0, 0.99),
            only(Part::attention_weights)),
      field("tokens", &DropoutOptions::tokens,
            "on whole source and target tokens, whose embedding becomes 0 (word dropout, Iyyer et "
            "al. 2015)",
            between(0, 0.99))};
};

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

  static constexpr auto fields = std::tuple{
      field("kind", &ModelOptions::kind,
            "translation: P(y | x) with an encoder and a decoder; language_model: P(y), with a "
            "decoder only, and masked_language_model: P(masked tokens | the others), with an "
            "encoder only; both are trained on the target side (docs/language_models.md)"),
      field("encoder", &ModelOptions::encoder, "computes states h_s from source tokens",
            only(Part::encoder)),
      field("decoder", &ModelOptions::decoder, "computes states s_t and the readout layer",
            only(Part::decoder)),
      field("attention", &ModelOptions::attention,
            "computes the context c_t from states h_s; docs/attention.md lists the kinds and the "
            "options of each",
            only(Part::translation, Part::recurrent_decoder)),
      field("output", &ModelOptions::output,
            "predicts the next token from state s_t and context c_t", only(Part::translation)),
      field("dropout", &ModelOptions::dropout, "dropout probabilities in training"),
      field("tied_embeddings", &ModelOptions::tied_embeddings,
            "share the target embedding with the output layer (output), and the source embedding "
            "too (all: needs a joint vocabulary)")};
};

}  // namespace regard
