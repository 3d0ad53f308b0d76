#include "config/parts.h"

#include <fmt/ranges.h>

#include "config/options.h"
#include "config/scalar.h"

namespace regard {
namespace {

struct PartRow {
  std::string_view name;   // for messages: "only NAME uses it"
  std::string_view label;  // before the help of a key; empty for none
  bool (*exists)(const Options&);
};

bool has_recurrent_encoder(const Options& o) {
  return o.model.encoder.kind == EncoderKind::recurrent;
}
bool has_recurrent_decoder(const Options& o) {
  return o.model.decoder.kind == LayerKind::recurrent;
}

PartRow row_of(Part part) {
  using O = const Options&;
  switch (part) {
    case Part::every:
      return {"", "", [](O) { return true; }};
    case Part::translation:
      return {"a model of kind translation", "translation",
              [](O o) { return o.model.kind == ModelKind::translation; }};
    case Part::encoder:
      return {"a model with an encoder", "",
              [](O o) { return o.model.kind != ModelKind::language_model; }};
    case Part::decoder:
      return {"a model with a decoder", "",
              [](O o) { return o.model.kind != ModelKind::masked_language_model; }};
    case Part::recurrent_encoder:
      return {"a recurrent encoder", "recurrent", has_recurrent_encoder};
    case Part::sequence_encoder:
      return {"an encoder of kind recurrent or transformer", "recurrent or transformer",
              [](O o) { return o.model.encoder.kind != EncoderKind::convolutional; }};
    case Part::convolutional_encoder:
      return {"an encoder of kind convolutional", "convolutional",
              [](O o) { return o.model.encoder.kind == EncoderKind::convolutional; }};
    case Part::gru_encoder:
      return {"model.encoder.cell: gru", "gru",
              [](O o) { return o.model.encoder.cell == CellKind::gru; }};
    case Part::one_direction:
      return {"an encoder with bidirectional: false", "not bidirectional",
              [](O o) { return !o.model.encoder.bidirectional; }};
    case Part::encoder_self_attention:
      return {"an encoder of kind transformer or with self_attention_layers", "transformer",
              [](O o) { return has_self_attention(o.model.encoder); }};
    case Part::encoder_positions:
      return {"model.encoder.position: learned", "position learned",
              [](O o) { return o.model.encoder.self_attention.position == PositionKind::learned; }};
    case Part::recurrent_decoder:
      return {"a recurrent decoder", "recurrent", has_recurrent_decoder};
    case Part::transformer_decoder:
      return {"a decoder of kind transformer", "transformer",
              [](O o) { return !has_recurrent_decoder(o); }};
    case Part::gru_decoder:
      return {"model.decoder.cell: gru", "gru",
              [](O o) { return o.model.decoder.cell == CellKind::gru; }};
    case Part::decoder_positions:
      return {"model.decoder.position: learned", "position learned",
              [](O o) { return o.model.decoder.self_attention.position == PositionKind::learned; }};
    case Part::gumbel:
      return {"model.attention.estimator: gumbel", "gumbel",
              [](O o) { return o.model.attention.estimator == HardEstimator::gumbel; }};
    case Part::reinforce:
      return {"model.attention.estimator: reinforce", "reinforce",
              [](O o) { return o.model.attention.estimator == HardEstimator::reinforce; }};
    case Part::pointer:
      return {"model.output.kind: pointer", "pointer",
              [](O o) { return o.model.output.kind == OutputKind::pointer; }};
    case Part::attention_weights:
      return {"an attention other than none", "", [](O o) {
                return !has_recurrent_decoder(o) || has_self_attention(o.model.encoder) ||
                       (o.model.kind == ModelKind::translation &&
                        o.model.attention.kind != AttentionKind::none);
              }};
    case Part::features:
      return {"data.source: features", "source features",
              [](O o) { return o.data.source == SourceKind::features; }};
    case Part::masking:
      return {"data.noise.mask above 0", "mask above 0", [](O o) { return o.data.noise.mask > 0; }};
    case Part::hallucination:
      return {"data.hallucination.rate above 0", "rate above 0",
              [](O o) { return o.data.hallucination.rate > 0; }};
    case Part::minimum_risk:
      return {"training.objective: minimum_risk", "objective minimum_risk",
              [](O o) { return o.training.objective == Objective::minimum_risk; }};
    case Part::samples:
      return {"search.samples above 0", "samples above 0",
              [](O o) { return o.search.samples > 0; }};
    case Part::beam_groups:
      return {"search.beam_groups above 1", "beam_groups above 1",
              [](O o) { return o.search.beam_groups > 1; }};
  }
  return {};
}

std::vector<std::string_view> names_of(const Readers& readers) {
  std::vector<std::string_view> names;
  const auto all = enum_names(AttentionKind{});
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (readers.has(static_cast<AttentionKind>(i))) names.push_back(all[i]);
  }
  return names;
}

template <typename T>
void reset(T& value, const T& fallback, const Options& options) {
  for_each_field(
      [&]<typename Value>(const auto& field, Value& own, const Value& its_default) {
        if (!field.readers.is_lenient && !why_unread(options, field.readers).empty()) {
          own = its_default;
        } else if constexpr (Section<Value>) {
          reset(own, its_default, options);
        }
      },
      value, fallback);
}

}  // namespace

bool has_part(const Options& options, Part part) {
  return row_of(part).exists(options);
}

std::string why_unread(const Options& options, const Readers& readers) {
  const auto& attention = options.model.attention;
  const bool has_score = AttentionOptions::with_score.has(attention.kind);
  if (readers.attentions != 0 && !readers.has(attention.kind) &&
      !(has_score && readers.has(attention.score))) {
    return fmt::format("{}{} does not read it, only {}", to_yaml(attention.kind),
                       has_score ? " with score " + to_yaml(attention.score) : "",
                       fmt::join(names_of(readers), ", "));
  }
  for (const auto part : readers.parts) {
    if (!has_part(options, part)) return fmt::format("only {} uses it", row_of(part).name);
  }
  return "";
}

bool is_read(const AttentionOptions& attention, const Readers& readers) {
  Options options;
  options.model.attention = attention;
  return why_unread(options, readers).empty();
}

std::string full_help(const Readers& readers, std::string_view help) {
  auto labels = names_of(readers);
  for (const auto part : readers.parts) {
    if (const auto label = row_of(part).label; !label.empty()) labels.push_back(label);
  }
  return labels.empty() ? std::string(help) : fmt::format("{}: {}", fmt::join(labels, ", "), help);
}

void reset_unread(Options& options) {
  const Options before = options;
  reset(options, Options{}, before);
}

}  // namespace regard
