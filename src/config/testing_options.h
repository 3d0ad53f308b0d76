// Section `testing`: the search, in validation and as the default of `regard translate`.
#pragma once

#include <cstdint>

#include "config/field.h"

namespace regard {

struct TestingOptions {
  std::int64_t beam_size = 5;
  double beam_alpha = 1.0;
  std::int64_t max_output_length = 100;
  double max_output_ratio = 3;
  std::int64_t batch_size = 64;
  std::int64_t validation_beam_size = 1;
};

template <typename Field>
void describe(TestingOptions& o, Field&& field) {
  field("beam_size", o.beam_size, "hypotheses W kept at each step; 1 is greedy", between(1, 1000));
  field("beam_alpha", o.beam_alpha,
        "length normalisation: a score is divided by ((5 + length) / 6)^alpha (Wu 2016)",
        between(0, 10));
  field("max_output_length", o.max_output_length, "no translation has more tokens than this",
        at_least(1));
  field("max_output_ratio", o.max_output_ratio,
        "nor more than this many times the source's tokens, plus 10; 0 is off", at_least(0));
  field("batch_size", o.batch_size, "sentences translated together", at_least(1));
  field("validation_beam_size", o.validation_beam_size, "the beam size during training",
        between(1, 1000));
}

}  // namespace regard
