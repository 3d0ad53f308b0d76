#include "config/kinds.h"

#include <vector>

#include "base/counted.h"
#include "config/writer.h"

namespace regard {
namespace {

// Keys that have one reader, each standing for all below it.
struct Reader {
  std::vector<std::string> keys;
  std::string name;
  bool is_there;
};

std::vector<Reader> readers(const ModelOptions& o) {
  const bool recurrent_encoder = o.encoder.kind == LayerKind::recurrent;
  const bool recurrent_decoder = o.decoder.kind == LayerKind::recurrent;
  const bool mixes_context = recurrent_decoder && o.attention.kind != "none";
  const auto learned = [](const SelfAttentionOptions& side) {
    return side.position == PositionKind::learned;
  };
  const std::string e = "model.encoder.";
  const std::string d = "model.decoder.";
  return {
      {{e + "bidirectional", e + "cell", e + "reset_gate", e + "residual", e + "layer_norm",
        e + "self_attention_layers"},
       "a recurrent encoder",
       recurrent_encoder},
      {{e + "reset_gate"}, e + "cell: gru", o.encoder.cell == CellKind::gru},
      {{e + "heads", e + "feed_forward_size", e + "norm", e + "position", e + "max_positions"},
       "an encoder of kind transformer or with self_attention_layers",
       attends_to_itself(o.encoder)},
      {{e + "max_positions"}, e + "position: learned", learned(o.encoder.self_attention)},
      {{d + "cell", d + "reset_gate", d + "residual", d + "layer_norm", d + "initial_state",
        d + "query", d + "input_feeding", d + "readout_size", "model.attention."},
       "a recurrent decoder",
       recurrent_decoder},
      {{d + "reset_gate"}, d + "cell: gru", o.decoder.cell == CellKind::gru},
      {{d + "heads", d + "feed_forward_size", d + "norm", d + "position", d + "max_positions"},
       "a decoder of kind transformer",
       !recurrent_decoder},
      {{d + "max_positions"}, d + "position: learned", learned(o.decoder.self_attention)},
      {{"model.dropout.attention"},
       "an attention other than none",
       mixes_context || attends_to_itself(o.encoder) || !recurrent_decoder},
  };
}

std::string why_unread(const std::vector<Reader>& readers, const std::string& key) {
  for (const auto& reader : readers) {
    for (const auto& owned : reader.keys) {
      if (!reader.is_there && key.starts_with(owned)) return "only " + reader.name + " reads it";
    }
  }
  return "";
}

void check_heads(const std::string& side, std::int64_t width, std::int64_t heads,
                 Contradictions& problems) {
  if (width % heads == 0) return;
  problems.add(
      "{}.heads: found {}, wanted a divisor of the width that the heads share, {} "
      "({}.hidden_size)",
      side, heads, width, side);
}

void check_widths(const std::string& side, std::int64_t embedding_dim, std::int64_t hidden_size,
                  Contradictions& problems) {
  if (embedding_dim == hidden_size) return;
  problems.add(
      "{}.embedding_dim is {}, but {}.hidden_size is {}: a transformer adds to what it reads, "
      "which takes one width; make them equal",
      side, embedding_dim, side, hidden_size);
}

void refuse_fewer(const std::string& key, std::int64_t found, std::int64_t wanted,
                  const std::string& why, Contradictions& problems) {
  if (found < wanted) problems.add("{} is {}, but {}: wanted {} at least", key, found, why, wanted);
}

void check_self_attention(const std::string& side, const SelfAttentionOptions& o,
                          std::int64_t width, std::int64_t max_length, Contradictions& problems) {
  check_heads(side, width, o.heads, problems);
  if (o.position == PositionKind::learned) {
    check_positions(side + ".max_positions", o.max_positions, max_length, problems);
  }
}

}  // namespace

void check_positions(const std::string& key, std::int64_t positions, std::int64_t max_length,
                     Contradictions& problems) {
  refuse_fewer(key, positions, max_length + 1,
               fmt::format("sentences have up to {} (data.max_length), </s> not counted",
                           counted(max_length, "token")),
               problems);
}

void refuse_unread(const Options& defaults, const Options& given,
                   const std::function<std::string(const std::string&)>& reason,
                   Contradictions& problems) {
  for (const auto& difference : differing_keys(defaults, given)) {
    const auto why = reason(difference.substr(0, difference.find(':')));
    if (!why.empty()) problems.add("{}: {}; remove it", difference, why);
  }
}

void check_kinds(const Options& options, Contradictions& problems) {
  const auto& encoder = options.model.encoder;
  const auto& decoder = options.model.decoder;
  const auto known = readers(options.model);
  refuse_unread(
      Options{}, options, [&](const std::string& key) { return why_unread(known, key); }, problems);

  if (encoder.kind == LayerKind::transformer) {
    check_widths("model.encoder", encoder.embedding_dim, encoder.hidden_size, problems);
  }
  if (attends_to_itself(encoder)) {
    check_self_attention("model.encoder", encoder.self_attention, state_size(encoder),
                         options.data.max_length, problems);
  }
  if (decoder.kind == LayerKind::transformer) {
    check_widths("model.decoder", decoder.embedding_dim, decoder.hidden_size, problems);
    check_self_attention("model.decoder", decoder.self_attention, decoder.hidden_size,
                         options.data.max_length, problems);
    if (decoder.self_attention.position == PositionKind::learned) {
      const auto longest = options.testing.max_output_length;
      refuse_fewer("model.decoder.max_positions", decoder.self_attention.max_positions, longest,
                   fmt::format("translations have up to {} (testing.max_output_length)", longest),
                   problems);
    }
  }
}

}  // namespace regard
