// The table of attention kinds: the values of `model.attention.kind` and the options that each kind
// reads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/options.h"
#include "config/source_locations.h"
#include "model/attention/attention.h"

namespace regard {

// query_size is the decoder's width D, state_size the encoder's width C. Throws ConfigError for an
// unknown kind, with the nearest name and a list of all, and for sizes that do not fit.
std::shared_ptr<Attention> make_attention(std::int64_t query_size, std::int64_t state_size,
                                          const AttentionOptions& options);

// Throws ConfigError with the place of the option: as make_attention(), and for an option that is
// not at its default but read only by other kinds. Does nothing for a Transformer decoder.
void check_attention(const ModelOptions& model, const SourceLocations& locations);

// Throws ConfigError if a training sentence (data.max_length) can have more positions than the
// attention, or if the window covers every sentence.
void check_attention_lengths(const Options& options, const SourceLocations& locations);

// True if the kind, with these options, reads model.attention.`name`.
bool reads_option(const AttentionOptions& options, std::string_view name);

std::vector<std::string> attention_kinds();

// The kinds that score the content of each position, independent of where it is. They can be part
// of another kind (model.attention.score).
std::vector<std::string> content_scores();
// The content score of options.score. ConfigError if it is not one.
std::shared_ptr<ScoreAttention> make_content_score(std::int64_t query_size, std::int64_t state_size,
                                                   const AttentionOptions& options);

// The kind with the options it reads: "additive, size 512".
std::string attention_text(const AttentionOptions& options);

}  // namespace regard
