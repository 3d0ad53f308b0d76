#include "model/attention/table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>
#include <type_traits>

#include "base/error.h"
#include "base/suggest.h"
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
struct Kind {
  std::string name;
  std::vector<std::string> reads;  // keys of model.attention, without those of an inner score
  std::function<std::shared_ptr<Attention>(std::int64_t, std::int64_t, const AttentionOptions&)>
      make;
  bool is_content_score = false;
  Query query = Query::pre;  // if model.decoder.query is `auto`: that of the paper
};
constexpr bool content = true;
constexpr bool no_content = false;

template <typename T>
std::shared_ptr<Attention> make(std::int64_t D, std::int64_t C, const AttentionOptions& options) {
  return std::make_shared<T>(D, C, options);
}

const std::vector<Kind>& table() {
  static const std::vector<Kind> kinds = {
      {"none", {"fixed_context"}, make<NoAttention>},
      {"additive", {"size"}, make<Additive>, content},
      {"concat", {"size"}, make<Concat>, content, Query::post},
      {"dot", {"project_keys"}, make<Dot>, content, Query::post},
      {"scaled_dot", {"project_keys"}, make<ScaledDot>, content, Query::post},
      {"general", {}, make<General>, content, Query::post},
      {"cosine", {"project_keys", "sharpness"}, make<Cosine>, content},
      {"location", {"max_positions"}, make<Location>, no_content, Query::post},
      {"local_m", {"score", "window"}, make<LocalM>, no_content, Query::post},
      {"local_p", {"score", "window"}, make<LocalP>, no_content, Query::post},
      {"hard",
       {"score", "estimator", "temperature", "reward", "entropy", "anneal_steps"},
       make<Hard>},
      {"ntm", {"shift"}, make<Ntm>},
      {"multi_head", {"size", "heads"}, make<MultiHead>, no_content, Query::post},
      {"coverage", {"size", "fertility", "coverage_loss"}, make<Coverage>},
      {"monotonic", {"size"}, make<Monotonic>},
      {"location_aware", {"size", "filters", "filter_width"}, make<LocationAware>},
  };
  return kinds;
}

// Returns the names of the kinds for which wanted() is true.
std::vector<std::string> names_of(const std::function<bool(const Kind&)>& wanted) {
  std::vector<std::string> names;
  for (const auto& kind : table()) {
    if (wanted(kind)) names.push_back(kind.name);
  }
  return names;
}

[[noreturn]] void throw_unknown(const std::string& key, const std::string& name,
                                const std::vector<std::string>& known) {
  const auto near = nearest(name, known);
  throw ConfigError("model.attention.{0}: unknown {0} `{1}`; {2}: {3}", key, name,
                    near ? fmt::format("did you mean `{}`? Known", *near) : "known",
                    fmt::join(known, ", "));
}

// Returns null for an unknown kind.
const Kind* known_kind(const std::string& name) {
  const auto found = std::ranges::find(table(), name, &Kind::name);
  return found == table().end() ? nullptr : &*found;
}

// Throws ConfigError for an unknown kind.
const Kind& find_kind(const std::string& name) {
  const auto* found = known_kind(name);
  if (found == nullptr) throw_unknown("kind", name, attention_kinds());
  return *found;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Returns the keys of model.attention that these options use: those of the kind and of its inner
// score, without those of the estimator that is not chosen.
std::vector<std::string> options_read(const AttentionOptions& options) {
  auto reads = find_kind(options.kind).reads;
  const auto* score = known_kind(options.score);
  if (contains(reads, "score") && score != nullptr) {
    std::ranges::copy(score->reads, std::back_inserter(reads));
  }
  if (contains(reads, "estimator")) {
    const bool gumbel = options.estimator == HardEstimator::gumbel;
    std::erase_if(reads, [&](const std::string& name) {
      return gumbel ? name == "reward" || name == "entropy" : name == "temperature";
    });
  }
  return reads;
}

// Explains why the kind does not read the option: names the kinds, scores or estimators that do.
std::string why_unread(const AttentionOptions& given, const std::string& option) {
  const auto& reads = find_kind(given.kind).reads;
  if (contains(reads, option)) {  // with the other estimator
    return fmt::format("{} reads it with another estimator than {}", given.kind,
                       to_yaml(given.estimator));
  }
  const auto readers = names_of([&](const Kind& kind) { return contains(kind.reads, option); });
  const auto scores = names_of(
      [&](const Kind& kind) { return kind.is_content_score && contains(kind.reads, option); });
  if (contains(reads, "score") && !scores.empty()) {
    return fmt::format("{} reads it with another score than {}: {}", given.kind, given.score,
                       fmt::join(scores, ", "));
  }
  const auto with_inner_score =
      names_of([](const Kind& kind) { return contains(kind.reads, "score"); });
  return fmt::format("{} does not read it, only {}{}", given.kind, fmt::join(readers, ", "),
                     scores.empty() ? ""
                                    : fmt::format(", and {} with such a score",
                                                  fmt::join(with_inner_score, ", ")));
}

void check_options(const AttentionOptions& given, ConfigErrors& problems) {
  const auto reads = options_read(given);
  Options all;
  Options defaults;
  all.model.attention = given;
  defaults.model.attention.kind = given.kind;
  const auto reason = [&](const std::string& key) -> std::string {
    const auto name = key.substr(key.rfind('.') + 1);
    // Most kinds share the size, so that another kind is one word in a configuration that sets it.
    return name == "size" || contains(reads, name) ? "" : why_unread(given, name);
  };
  reject_unused(defaults, all, reason, problems);
}

}  // namespace

std::vector<std::string> attention_kinds() {
  return names_of([](const Kind&) { return true; });
}

Query default_query(const std::string& kind) {
  return find_kind(kind).query;
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
  if (attention.project_keys != ProjectKeys::automatic) return;
  const bool needs_keys = is_translation && is_recurrent &&
                          reads_option(attention, "project_keys") &&
                          state_size(options.encoder) != options.decoder.hidden_size;
  attention.project_keys = needs_keys ? ProjectKeys::yes : ProjectKeys::no;
}

void resolve_saved(ModelOptions& options) {
  const std::vector<std::string> asked_after = {"concat", "local_m", "local_p"};
  auto& query = options.decoder.query;
  if (query == Query::automatic && options.decoder.kind == LayerKind::recurrent &&
      options.kind == ModelKind::translation) {
    query = contains(asked_after, options.attention.kind) ? Query::post : Query::pre;
  }
  resolve_automatic(options);
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
                                          const AttentionOptions& options) {
  return find_kind(options.kind).make(query_size, state_size, options);
}

std::vector<std::string> content_scores() {
  return names_of([](const Kind& kind) { return kind.is_content_score; });
}

std::shared_ptr<ScoreAttention> make_content_score(std::int64_t query_size, std::int64_t state_size,
                                                   const AttentionOptions& options) {
  const auto known = content_scores();
  if (known_kind(options.score) == nullptr) throw_unknown("score", options.score, known);
  if (!contains(known, options.score)) {
    throw ConfigError(
        "model.attention.score: `{}` is not a content score, which {} needs; known: {}",
        options.score, options.kind, fmt::join(known, ", "));
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
    check_options(model.attention, problems);
    make_attention(model.decoder.hidden_size, state_size(model.encoder), model.attention);
  } catch (const ConfigError& error) {
    problems.add("{}", error.what());
  }
  problems.throw_if_any();
}

void check_attention_lengths(const Options& options, const SourceLocations& locations) {
  const auto& o = options.model.attention;
  if (options.model.decoder.kind == LayerKind::transformer) return;
  if (options.model.kind != ModelKind::translation) return;
  ConfigErrors problems(locations);
  const auto max_length = max_source_states(options) - 1;
  if (reads_option(o, "max_positions")) {
    check_positions("model.attention.max_positions", o.max_positions, max_length, problems);
  }
  if (reads_option(o, "window") && o.window >= max_length) {
    problems.add(
        "model.attention.window is {}, so the window covers every sentence: expected less than "
        "data.max_length ({}); use kind: {} to attend to all positions",
        o.window, max_length, o.score);
  }
  problems.throw_if_any();
}

bool reads_option(const AttentionOptions& options, std::string_view name) {
  return contains(options_read(options), name);
}

std::string attention_text(const AttentionOptions& options) {
  auto text = options.kind;
  AttentionOptions copy = options;  // describe() takes no constant
  const auto reads = options_read(options);
  describe(copy, [&]<typename T>(std::string_view key, const T& value, auto&&...) {
    if (!contains(reads, key)) return;
    if constexpr (Choice<T>) {
      text += fmt::format(", {} {}", key, enum_names(value).at(static_cast<std::size_t>(value)));
    } else {
      text += fmt::format(", {} {}", key, value);
    }
  });
  return text;
}

}  // namespace regard
