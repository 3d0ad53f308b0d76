// The table of attention kinds: the values of `model.attention.kind` and the options that each kind
// reads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/options.h"
#include "model/attention/attention.h"

namespace regard {

// Returns the query of a kind of attention if model.decoder.query is `auto`: that of its paper.
Query default_query(const std::string& kind);

// Replaces `auto` by the value that a model with these options has: model.decoder.query,
// model.attention.project_keys (`false` if the model does not read it) and the position of each
// side. They build the same model. An option that the model does not read otherwise stays `auto`.
void resolve_automatic(ModelOptions& options);
// Does the same for the options of a saved model. Versions that wrote `auto` into a model folder
// chose the query by another rule: `new` for concat, local_m and local_p, and `last` for the
// others.
void resolve_saved(ModelOptions& options);
// Replaces `auto` in the options of the attention by the values `from` another model with the same
// kinds of decoder and attention, so that its weights fit.
void adopt_automatic(ModelOptions& options, const ModelOptions& from);

// Creates the attention of options.kind. query_size is D, the width of the decoder's hidden states,
// and state_size is C, the width of the encoder states. Throws ConfigError for an unknown kind,
// with the nearest name and a list of all, and if the kind does not support these sizes.
std::shared_ptr<Attention> make_attention(std::int64_t query_size, std::int64_t state_size,
                                          const AttentionOptions& options);

// Throws ConfigError as make_attention() does, or if an option that this kind does not read differs
// from its default, except the size. The message has the locations of the options. Does nothing for
// a Transformer decoder.
void check_attention(const ModelOptions& model, const SourceLocations& locations);

// Throws ConfigError if data.max_length allows sentences with more positions than
// model.attention.max_positions, or if model.attention.window is not less than data.max_length.
void check_attention_lengths(const Options& options, const SourceLocations& locations);

// True if the kind, with these options, reads model.attention.`name`. Throws ConfigError for an
// unknown kind.
bool reads_option(const AttentionOptions& options, std::string_view name);

// Returns the names of all kinds.
std::vector<std::string> attention_kinds();

// Returns the names of the content scores (scores.h): the possible values of model.attention.score.
std::vector<std::string> content_scores();
// Creates the attention of options.score. Throws ConfigError if it is not a content score.
std::shared_ptr<ScoreAttention> make_content_score(std::int64_t query_size, std::int64_t state_size,
                                                   const AttentionOptions& options);

// Returns the kind and the options that it reads, for people: "additive, size 512".
std::string attention_text(const AttentionOptions& options);

}  // namespace regard
