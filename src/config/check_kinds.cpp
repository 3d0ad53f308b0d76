#include "config/check.h"

#include "base/strings.h"
#include "config/scalar.h"

namespace regard {
namespace {

// Adds an error for each key below `key` that has another value than its default although nothing
// reads it. If `section_reason` is not empty, it says why nothing reads the section.
template <Section T>
void check_unread_below(const std::string& key, const std::string& section_reason, const T& section,
                        const T& defaults, const Options& options, ConfigErrors& errors) {
  for_each_field(
      [&]<typename Value>(const auto& field, const Value& value, const Value& fallback) {
        const auto full = join_key(key, field.name);
        auto reason = section_reason;
        if (reason.empty() && !field.readers.is_lenient)
          reason = why_unread(options, field.readers);
        if constexpr (Section<Value>) {
          check_unread_below(full, reason, value, fallback, options, errors);
        } else if constexpr (!List<Value>) {
          if (reason.empty() || value == fallback) return;
          errors.add(full, ": {} → {}: {}; remove it", to_yaml(fallback), to_yaml(value), reason);
        }
      },
      section, defaults);
}

// In the functions below, `side` is "model.encoder" or "model.decoder".
void check_heads(const std::string& side, std::int64_t width, std::int64_t heads,
                 ConfigErrors& errors) {
  if (width % heads == 0) return;
  errors.add(
      side + ".heads",
      ": found {}, expected a divisor of the width that the heads share, {} ({}.hidden_size)",
      heads, width, side);
}

void check_at_least(const std::string& key, std::int64_t found, std::int64_t min,
                    const std::string& why, ConfigErrors& errors) {
  if (found < min) errors.add(key, " is {}, but {}: expected at least {}", found, why, min);
}

void check_self_attention(const std::string& side, const SelfAttentionOptions& o,
                          std::int64_t width, std::int64_t max_length, ConfigErrors& errors) {
  check_heads(side, width, o.heads, errors);
  if (o.position == PositionKind::learned) {
    check_positions(side + ".max_positions", o.max_positions, max_length, errors);
  }
  if (o.position == PositionKind::rotary && width % o.heads == 0 && width / o.heads % 2 != 0) {
    errors.add(
        side + ".position",
        ": found rotary with heads of width {}, expected an even width, because pairs of numbers "
        "are rotated; change {}.heads ({}) or the width that they share, {} ({}.hidden_size)",
        width / o.heads, side, o.heads, width, side);
  }
}

}  // namespace

void check_positions(const std::string& key, std::int64_t positions, std::int64_t max_length,
                     ConfigErrors& errors) {
  check_at_least(key, positions, max_length + 1,
                 fmt::format("sentences have up to {}, without </s> (data.max_length, or "
                             "data.max_frames for features)",
                             counted(max_length, "token")),
                 errors);
}

void check_unread(const Options& options, ConfigErrors& errors) {
  check_unread_below("", "", options, Options{}, options, errors);
}

void check_kinds(const Options& options, ConfigErrors& errors) {
  const auto& encoder = options.model.encoder;
  const auto& decoder = options.model.decoder;
  if (has_self_attention(encoder)) {
    check_self_attention("model.encoder", encoder.self_attention, state_size(encoder),
                         max_source_states(options) - 1, errors);
  }
  const bool has_decoder = options.model.kind != ModelKind::masked_language_model;
  if (has_decoder && decoder.kind == LayerKind::transformer) {
    check_self_attention("model.decoder", decoder.self_attention, decoder.hidden_size,
                         options.data.max_length, errors);
    if (decoder.self_attention.position == PositionKind::learned) {
      const auto longest = options.search.max_output_length;
      check_at_least("model.decoder.max_positions", decoder.self_attention.max_positions, longest,
                     fmt::format("translations have up to {} (search.max_output_length)", longest),
                     errors);
    }
  }
}

}  // namespace regard
