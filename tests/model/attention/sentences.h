// Three sentences of 5, 3 and 1 positions, drawn at random, and the options that fit them.
#pragma once

#include <string>

#include "model/attention/attention.h"
#include "tests/model/attention_kind.h"

namespace regard {

inline constexpr std::int64_t B = 3, S = 5, C = 4, D = 3, A = 6;

inline AttentionOptions options_of(const std::string& kind) {
  AttentionOptions options;
  options.kind = kind_named(kind);
  options.size = A;
  options.project_keys = ProjectKeys::yes;  // C is not D
  options.window = 1;
  options.heads = 2;
  return options;
}

struct Sentences {
  torch::Tensor states = torch::randn({B, S, C}, torch::kDouble);
  torch::Tensor mask = torch::arange(S) < torch::tensor({5, 3, 1}).unsqueeze(1);
  torch::Tensor summary = torch::randn({B, C}, torch::kDouble);
  torch::Tensor query = torch::randn({B, D}, torch::kDouble);

  EncoderOutput encoded(Attention& attention) const {
    EncoderOutput encoded;
    encoded.states = states;
    encoded.set_lengths(mask.sum(1), mask.size(1), torch::kCPU);
    encoded.summary = summary;
    attention.prepare(encoded);
    return encoded;
  }
};

}  // namespace regard
