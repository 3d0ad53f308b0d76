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

// Creates the attention of options.kind. query_size is the decoder's width D, state_size the
// encoder's width C. Throws ConfigError for an unknown kind, with the nearest name and a list of
// all, and if the sizes do not fit the kind.
std::shared_ptr<Attention> make_attention(std::int64_t query_size, std::int64_t state_size,
                                          const AttentionOptions& options);

// Throws the errors of make_attention(), and ConfigError for an option that differs from its
// default although only other kinds read it. The message has the location of the option. Does
// nothing for a Transformer decoder.
void check_attention(const ModelOptions& model, const SourceLocations& locations);

// Throws ConfigError if data.max_length allows sentences with more positions than the attention
// has, or if the window is at least as long as every sentence.
void check_attention_lengths(const Options& options, const SourceLocations& locations);

// True if the kind, with these options, reads model.attention.`name`.
bool reads_option(const AttentionOptions& options, std::string_view name);

// Returns the names of all kinds.
std::vector<std::string> attention_kinds();

// Returns the names of the content scores (scores.h): the possible values of model.attention.score.
std::vector<std::string> content_scores();
// Creates the attention of options.score. Throws ConfigError if it is not a content score.
std::shared_ptr<ScoreAttention> make_content_score(std::int64_t query_size, std::int64_t state_size,
                                                   const AttentionOptions& options);

// Returns the kind and the options that it reads: "additive, size 512".
std::string attention_text(const AttentionOptions& options);

}  // namespace regard
