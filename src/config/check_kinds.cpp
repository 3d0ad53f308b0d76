#include "config/check.h"

#include <vector>

#include "base/strings.h"
#include "config/writer.h"

namespace regard {
namespace {

// A part that a model may have, and the keys that only this part uses.
struct Part {
  std::vector<std::string> key_prefixes;  // a full key, or "model.attention." for a whole section
  std::string name;
  bool exists;  // true if the configured model has this part
};

std::vector<Part> model_parts(const Options& options) {
  const ModelOptions& o = options.model;
  const bool is_translation = o.kind == ModelKind::translation;
  const bool reads_features = options.data.source == SourceKind::features;
  const bool recurrent_encoder = o.encoder.kind == EncoderKind::recurrent;
  const bool reads_images = o.encoder.kind == EncoderKind::convolutional;
  const bool recurrent_decoder = o.decoder.kind == LayerKind::recurrent;
  const bool recurrent_attention = recurrent_decoder && o.attention.kind != "none";
  const auto learned = [](const SelfAttentionOptions& side) {
    return side.position == PositionKind::learned;
  };
  const std::string e = "model.encoder.";
  const std::string d = "model.decoder.";
  return {
      {{"model.attention.", d + "initial_state", d + "query", "model.output.",
        "data.noise.span_length", "data.noise.drop", "data.noise.shuffle"},
       "a model of kind translation",
       is_translation},
      {{e, "data.noise."}, "a model with an encoder", o.kind != ModelKind::language_model},
      {{d, "model.dropout.readout"},
       "a model with a decoder",
       o.kind != ModelKind::masked_language_model},
      {{"data.noise.span_length"}, "data.noise.mask above 0", options.data.noise.mask > 0},
      {{e + "bidirectional", e + "reverse", e + "cell", e + "reset_gate", e + "residual",
        e + "layer_norm", e + "self_attention_layers", e + "pyramidal"},
       "a recurrent encoder",
       recurrent_encoder},
      {{e + "embedding_dim", e + "frame_stacking"},
       "an encoder of kind recurrent or transformer",
       !reads_images},
      {{e + "image_height", e + "image_channels"},
       "an encoder of kind convolutional",
       reads_images},
      {{e + "frame_stacking", e + "pyramidal", "data.max_frames"},
       "data.source: features",
       reads_features},
      {{e + "reset_gate"}, e + "cell: gru", o.encoder.cell == CellKind::gru},
      {{e + "reverse"}, "an encoder with bidirectional: false", !o.encoder.bidirectional},
      {{e + "heads", e + "feed_forward_size", e + "norm", e + "position", e + "max_positions"},
       "an encoder of kind transformer or with self_attention_layers",
       has_self_attention(o.encoder)},
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
       (is_translation && recurrent_attention) || has_self_attention(o.encoder) ||
           !recurrent_decoder},
      {{"training.minimum_risk."},
       "training.objective: minimum_risk",
       options.training.objective == Objective::minimum_risk},
  };
}

// Returns the reason why the model does not use a key, or "" if it does.
std::string why_unused(const std::vector<Part>& parts, const std::string& key) {
  for (const auto& part : parts) {
    for (const auto& prefix : part.key_prefixes) {
      if (!part.exists && key.starts_with(prefix)) return "only " + part.name + " uses it";
    }
  }
  return "";
}

// In the functions below, `side` is "model.encoder" or "model.decoder".
void check_heads(const std::string& side, std::int64_t width, std::int64_t heads,
                 ConfigErrors& errors) {
  if (width % heads == 0) return;
  errors.add(
      "{}.heads: found {}, expected a divisor of the width that the heads share, {} "
      "({}.hidden_size)",
      side, heads, width, side);
}

void check_at_least(const std::string& key, std::int64_t found, std::int64_t min,
                    const std::string& why, ConfigErrors& errors) {
  if (found < min) errors.add("{} is {}, but {}: expected at least {}", key, found, why, min);
}

void check_self_attention(const std::string& side, const SelfAttentionOptions& o,
                          std::int64_t width, std::int64_t max_length, ConfigErrors& errors) {
  check_heads(side, width, o.heads, errors);
  if (o.position == PositionKind::learned) {
    check_positions(side + ".max_positions", o.max_positions, max_length, errors);
  }
  if (o.position == PositionKind::rotary && width % o.heads == 0 && width / o.heads % 2 != 0) {
    errors.add(
        "{}.position: found rotary with heads of width {}, expected an even width, because pairs "
        "of numbers are rotated; change {}.heads ({}) or the width that they share, {} "
        "({}.hidden_size)",
        side, width / o.heads, side, o.heads, width, side);
  }
}

}  // namespace

void check_positions(const std::string& key, std::int64_t positions, std::int64_t max_length,
                     ConfigErrors& errors) {
  check_at_least(key, positions, max_length + 1,
                 fmt::format("sentences have up to {} (data.max_length), without </s>",
                             counted(max_length, "token")),
                 errors);
}

void reject_unused(Options defaults, const Options& given,
                   const std::function<std::string(const std::string&)>& reason,
                   ConfigErrors& errors) {
  // The configuration of a run says what `auto` was, also if nothing reads it.
  auto& project_keys = defaults.model.attention.project_keys;
  if (given.model.attention.project_keys == ProjectKeys::no) project_keys = ProjectKeys::no;
  // So does that of an earlier version, whose defaults were others.
  auto& estimator = defaults.model.attention.estimator;
  if (given.model.attention.estimator == HardEstimator::reinforce) {
    estimator = HardEstimator::reinforce;
  }
  for (const auto& difference : option_differences(defaults, given)) {
    const auto why = reason(difference.substr(0, difference.find(':')));
    if (!why.empty()) errors.add("{}: {}; remove it", difference, why);
  }
}

void check_kinds(const Options& options, ConfigErrors& errors) {
  const auto& encoder = options.model.encoder;
  const auto& decoder = options.model.decoder;
  const auto parts = model_parts(options);
  reject_unused(
      Options{}, options, [&](const std::string& key) { return why_unused(parts, key); }, errors);

  if (has_self_attention(encoder)) {
    check_self_attention("model.encoder", encoder.self_attention, state_size(encoder),
                         max_source_states(options) - 1, errors);
  }
  const bool has_decoder = options.model.kind != ModelKind::masked_language_model;
  if (has_decoder && decoder.kind == LayerKind::transformer) {
    check_self_attention("model.decoder", decoder.self_attention, decoder.hidden_size,
                         options.data.max_length, errors);
    if (decoder.self_attention.position == PositionKind::learned) {
      const auto longest = options.testing.max_output_length;
      check_at_least("model.decoder.max_positions", decoder.self_attention.max_positions, longest,
                     fmt::format("translations have up to {} (testing.max_output_length)", longest),
                     errors);
    }
  }
}

}  // namespace regard
