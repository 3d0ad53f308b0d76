// The table of attention kinds: what `model.attention.kind` may say, and the options each kind
// reads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/options.h"
#include "config/origins.h"
#include "model/attention/attention.h"

namespace regard {

// query_size is the decoder's width D, state_size the encoder's width C. An unknown kind is a
// ConfigError that names the nearest and lists all; sizes that do not fit say which.
std::shared_ptr<Attention> make_attention(std::int64_t query_size, std::int64_t state_size,
                                          const AttentionOptions& options);

// Before anything is trained: ConfigError with the place where it was set, as above, and for an
// option that only other kinds read, unless it has its default. Nothing for a decoder that has no
// such attention.
void check_attention(const ModelOptions& model, const Origins& origins);

// Likewise, for lengths: as many positions as a training sentence may have (data.max_length), and a
// window that is no wider.
void check_attention_lengths(const Options& options, const Origins& origins);

// Whether the kind, as these options have it, reads model.attention.`name`.
bool reads_option(const AttentionOptions& options, std::string_view name);

std::vector<std::string> attention_kinds();

// The kinds that score each position by what is there alone, and so may stand inside another
// (model.attention.score): permuting the positions of a sentence changes nothing for them.
std::vector<std::string> content_scores();
// That of options.score. ConfigError where it is none of them.
std::shared_ptr<ScoreAttention> make_content_score(std::int64_t query_size, std::int64_t state_size,
                                                   const AttentionOptions& options);

// The kind with the options it reads: "additive, size 512".
std::string attention_text(const AttentionOptions& options);

}  // namespace regard
