#include "model/attention/table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "config/check.h"
#include "config/scalar.h"
#include "model/attention/coverage.h"
#include "model/attention/fixed_context.h"
#include "model/attention/hard.h"
#include "model/attention/local.h"
#include "model/attention/location_aware.h"
#include "model/attention/monotonic.h"
#include "model/attention/multi_head.h"
#include "model/attention/ntm.h"
#include "model/attention/scores.h"

namespace regard {
namespace {

// A row of the table.
struct AttentionRow {
  AttentionKind kind;
  std::function<std::shared_ptr<Attention>(std::int64_t, std::int64_t, const AttentionOptions&,
                                           double)>
      make;
  bool is_content_score = false;
  Query query = Query::last;  // if model.decoder.query is `auto`: that of the paper
};
constexpr bool content = true;
constexpr bool no_content = false;

template <typename T>
std::shared_ptr<Attention> make(std::int64_t D, std::int64_t C, const AttentionOptions& options,
                                double /*dropout*/) {
  return std::make_shared<T>(D, C, options);
}

template <typename T>
std::shared_ptr<Attention> make_with_dropout(std::int64_t D, std::int64_t C,
                                             const AttentionOptions& options, double dropout) {
  return std::make_shared<T>(D, C, options, dropout);
}

const AttentionRow& attention_row(AttentionKind kind) {
  using Kind = AttentionKind;
  static const std::vector<AttentionRow> rows = {
      {Kind::none, make<NoAttention>},
      {Kind::additive, make<Additive>, content},
      {Kind::concat, make<Concat>, content, Query::new_},
      {Kind::dot, make<Dot>, content, Query::new_},
      {Kind::scaled_dot, make<ScaledDot>, content, Query::new_},
      {Kind::general, make<General>, content, Query::new_},
      {Kind::cosine, make<Cosine>, content},
      {Kind::location, make<Location>, no_content, Query::new_},
      {Kind::local_m, make<LocalM>, no_content, Query::new_},
      {Kind::local_p, make<LocalP>, no_content, Query::new_},
      {Kind::hard, make<Hard>},
      {Kind::ntm, make<Ntm>},
      {Kind::multi_head, make_with_dropout<MultiHead>, no_content, Query::new_},
      {Kind::coverage, make<Coverage>},
      {Kind::monotonic, make<Monotonic>},
      {Kind::location_aware, make<LocationAware>},
  };
  const auto found = std::ranges::find(rows, kind, &AttentionRow::kind);
  if (found == rows.end()) throw std::logic_error("a kind of attention is not in the table");
  return *found;
}

}  // namespace

Query default_query(AttentionKind kind) {
  return attention_row(kind).query;
}

void resolve_automatic(ModelOptions& options) {
  const bool is_translation = options.kind == ModelKind::translation;
  const bool is_recurrent = options.decoder.kind == LayerKind::recurrent;
  auto& query = options.decoder.query;
  auto& attention = options.attention;
  if (is_translation && is_recurrent && query == Query::automatic)
    query = default_query(attention.kind);
  const auto set_position = [](auto& side, PositionKind position) {
    auto& of_side = side.self_attention.position;
    if (of_side == PositionKind::automatic) of_side = position;
  };
  if (options.kind == ModelKind::language_model) {
    // It has no encoder.
  } else if (options.encoder.kind == EncoderKind::transformer) {
    set_position(options.encoder, PositionKind::sinusoidal);
  } else if (has_self_attention(options.encoder)) {
    set_position(options.encoder, PositionKind::none);
  }
  const bool has_decoder = options.kind != ModelKind::masked_language_model;
  if (has_decoder && !is_recurrent) set_position(options.decoder, PositionKind::sinusoidal);
  const bool reads_keys =
      is_translation && is_recurrent && is_read(attention, &AttentionOptions::project_keys);
  if (!reads_keys || attention.project_keys != ProjectKeys::automatic) return;
  const bool differ = state_size(options.encoder) != options.decoder.hidden_size;
  attention.project_keys = differ ? ProjectKeys::yes : ProjectKeys::no;
}

void adopt_automatic(ModelOptions& options, const ModelOptions& from) {
  const auto adopt = [](auto& value, auto other) {
    if (value == std::remove_reference_t<decltype(value)>::automatic) value = other;
  };
  const auto& attention = from.attention;
  if (options.decoder.kind == from.decoder.kind && options.attention.kind == attention.kind) {
    adopt(options.decoder.query, from.decoder.query);
    adopt(options.attention.project_keys, attention.project_keys);
  }
}

std::shared_ptr<Attention> make_attention(std::int64_t query_size, std::int64_t state_size,
                                          const AttentionOptions& options, double dropout) {
  return attention_row(options.kind).make(query_size, state_size, options, dropout);
}

std::vector<AttentionKind> content_scores() {
  std::vector<AttentionKind> scores;
  for (const auto& name : choice_names<AttentionKind>()) {
    AttentionKind kind{};
    from_yaml(name, kind);
    if (attention_row(kind).is_content_score) scores.push_back(kind);
  }
  return scores;
}

std::shared_ptr<ScoreAttention> make_content_score(std::int64_t query_size, std::int64_t state_size,
                                                   const AttentionOptions& options) {
  if (!attention_row(options.score).is_content_score) {
    std::vector<std::string_view> known;
    for (const auto kind : content_scores()) known.push_back(enum_name(kind));
    throw OptionError("model.attention.score",
                      ": `{}` is not a content score, which {} needs; known: {}",
                      enum_name(options.score), enum_name(options.kind), fmt::join(known, ", "));
  }
  auto inner = options;
  inner.kind = options.score;
  return std::dynamic_pointer_cast<ScoreAttention>(make_attention(query_size, state_size, inner));
}

void check_attention(const ModelOptions& model, const SourceLocations& locations) {
  if (model.decoder.kind == LayerKind::transformer) return;
  if (model.kind != ModelKind::translation) return;
  ConfigErrors problems(locations);
  try {
    make_attention(model.decoder.hidden_size, state_size(model.encoder), model.attention);
  } catch (const OptionError& error) {
    problems.add(error);
  }
  problems.throw_if_any();
}

void check_attention_lengths(const Options& options, const SourceLocations& locations) {
  const auto& o = options.model.attention;
  if (options.model.decoder.kind == LayerKind::transformer) return;
  if (options.model.kind != ModelKind::translation) return;
  ConfigErrors problems(locations);
  const auto max_length = max_source_states(options) - 1;
  if (is_read(o, &AttentionOptions::max_positions)) {
    check_positions("model.attention.max_positions", o.max_positions, max_length, problems);
  }
  if (is_read(o, &AttentionOptions::window) && o.window >= max_length) {
    problems.add("model.attention.window",
                 " is {}, so the window covers every sentence: expected less than data.max_length "
                 "({}); use kind: {} to attend to all positions",
                 o.window, max_length, enum_name(o.score));
  }
  problems.throw_if_any();
}

std::string attention_text(const AttentionOptions& options) {
  std::string text(enum_name(options.kind));
  for_each_field(
      [&](const auto& field, const auto& value) {
        if (field.readers.attentions == 0 || !is_read(options, field.readers)) return;
        text += fmt::format(", {} {}", field.name, to_yaml(value));
      },
      options);
  return text;
}

}  // namespace regard
