// The table of attention kinds: what `model.attention.kind` may say.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/model_options.h"
#include "model/attention/attention.h"

namespace regard {

// An unknown kind is a ConfigError that names the nearest and lists all, after the place where it
// was set.
void check_attention_kind(const std::string& kind, const std::string& place = "");

// query_size is the decoder's width D, state_size the encoder's width C.
std::shared_ptr<Attention> make_attention(std::int64_t query_size, std::int64_t state_size,
                                          const AttentionOptions& options);

std::vector<std::string> attention_kinds();

}  // namespace regard
