// The table of attention kinds: makes the attention of `model.attention.kind`. The fields of
// AttentionOptions say which options each kind reads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/options.h"
#include "model/attention/attention.h"

namespace regard {

// Returns the query of a kind of attention if model.decoder.query is `auto`: that of its paper.
Query default_query(AttentionKind kind);

// Replaces `auto` by the value that a model with these options has: model.decoder.query,
// model.attention.project_keys and the position of each side. They build the same model. An option
// that the model does not read stays `auto`.
void resolve_automatic(ModelOptions& options);
// Replaces `auto` in the options of the attention by the values `from` another model with the same
// kinds of decoder and attention, so that its weights fit.
void adopt_automatic(ModelOptions& options, const ModelOptions& from);

// Creates the attention of options.kind. query_size is D, the width of the decoder's hidden states,
// state_size is C, the width of the encoder states. `dropout` is model.dropout.attention, for a
// kind that computes its context itself. Throws OptionError if the kind does not support the sizes.
std::shared_ptr<Attention> make_attention(std::int64_t query_size, std::int64_t state_size,
                                          const AttentionOptions& options, double dropout = 0);

// Throws ConfigError as make_attention() does, with the location of the option. Does nothing for a
// Transformer decoder.
void check_attention(const ModelOptions& model, const SourceLocations& locations);

// Throws ConfigError if data.max_length allows sentences with more positions than
// model.attention.max_positions, or if model.attention.window is not less than data.max_length.
void check_attention_lengths(const Options& options, const SourceLocations& locations);

// Returns the content scores (scores.h): the possible values of model.attention.score.
std::vector<AttentionKind> content_scores();
// Creates the attention of options.score. Throws OptionError if it is not a content score.
std::shared_ptr<ScoreAttention> make_content_score(std::int64_t query_size, std::int64_t state_size,
                                                   const AttentionOptions& options);

// Returns the kind and the options that it reads, for people: "additive, size 512".
std::string attention_text(const AttentionOptions& options);

}  // namespace regard
