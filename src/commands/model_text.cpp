#include "commands/model_text.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "config/scalar.h"
#include "model/attention/table.h"

namespace regard {
namespace {

std::string layers(std::int64_t n, const std::string& what) {
  return counted(n, what + " layer");
}

std::string self_attention(const SelfAttentionOptions& o, PositionKind when_automatic) {
  const auto position = o.position == PositionKind::automatic ? when_automatic : o.position;
  return fmt::format(
      "{}, feed-forward {}, {}-norm, {}", counted(o.heads, "head"), o.feed_forward_size,
      to_yaml(o.norm),
      position == PositionKind::none ? "no positions" : to_yaml(position) + " positions");
}

// "2 LSTM layers of 512, residual".
template <typename Side>
std::string recurrent(const Side& o) {
  const auto cell = o.cell == CellKind::gru ? "GRU" : o.cell == CellKind::lstm ? "LSTM" : "tanh";
  return fmt::format("{} of {}{}{}", layers(o.layers, cell), o.hidden_size,
                     o.residual ? ", residual" : "", o.layer_norm ? ", layer-normalised" : "");
}

std::string encoder_text(const EncoderOptions& o) {
  if (o.kind == LayerKind::transformer) {
    return fmt::format("{} of {}, {}", layers(o.layers, "Transformer"), o.hidden_size,
                       self_attention(o.self_attention, PositionKind::sinusoidal));
  }
  auto text = fmt::format("{}, embeddings {}{}", recurrent(o), o.embedding_dim,
                          o.bidirectional ? ", in both directions" : "");
  if (o.self_attention_layers > 0) {
    text += fmt::format("; on top {} of {}, {}", layers(o.self_attention_layers, "self-attention"),
                        state_size(o), self_attention(o.self_attention, PositionKind::none));
  }
  return text;
}

std::string decoder_text(const DecoderOptions& o) {
  if (o.kind == LayerKind::transformer) {
    return fmt::format("{} of {}, {}", layers(o.layers, "Transformer"), o.hidden_size,
                       self_attention(o.self_attention, PositionKind::sinusoidal));
  }
  return fmt::format("{}, embeddings {}, readout {}{}{}", recurrent(o), o.embedding_dim,
                     o.readout_size,
                     o.query == Query::automatic ? "" : ", query " + to_yaml(o.query),
                     o.input_feeding ? ", input feeding" : "");
}

}  // namespace

std::string layers_text(const ModelOptions& o) {
  const auto attention = o.decoder.kind == LayerKind::transformer
                             ? "multi_head, in each of the decoder's layers"
                             : attention_text(o.attention);
  return fmt::format(
      "attention  {}\nencoder    {}\ndecoder    {}{}\n", attention, encoder_text(o.encoder),
      decoder_text(o.decoder),
      o.output.kind == OutputKind::vocabulary ? "" : ", output " + to_yaml(o.output.kind));
}

std::string attention_kind(const ModelOptions& o) {
  return o.decoder.kind == LayerKind::transformer ? "multi_head" : o.attention.kind;
}

}  // namespace regard
