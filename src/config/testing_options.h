// Section `testing`: the search, in validation and as the default of `regard translate`.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "config/field.h"

namespace regard {

// What the log-probability of n tokens is divided by: ((5 + n) / 6)^alpha (Wu 2016), or n^alpha.
enum class LengthPenalty { gnmt, power };
constexpr std::array<std::string_view, 2> enum_names(LengthPenalty) {
  return {"gnmt", "power"};
}

// When a sentence's beam search ends (decoding/beam.h).
enum class SearchEnd { full, exact, never };
constexpr std::array<std::string_view, 3> enum_names(SearchEnd) {
  return {"full", "exact", "never"};
}

struct TestingOptions {
  std::int64_t beam_size = 5;
  double beam_alpha = 1.0;
  LengthPenalty length_penalty = LengthPenalty::gnmt;
  double coverage_beta = 0;
  SearchEnd early_stopping = SearchEnd::full;
  std::int64_t min_output_length = 0;
  double repetition_penalty = 1;
  std::int64_t no_repeat_ngram = 0;
  std::int64_t beam_groups = 1;
  double diversity = 0.5;
  std::int64_t samples = 0;
  double temperature = 1;
  std::int64_t top_k = 0;
  double top_p = 1;
  std::int64_t seed = 1;
  std::int64_t max_output_length = 100;
  double max_output_ratio = 3;
  std::int64_t batch_size = 64;
  std::int64_t validation_beam_size = 1;
};

template <typename Field>
void describe(TestingOptions& o, Field&& field) {
  field("beam_size", o.beam_size, "hypotheses W kept at each step; 1 is greedy", between(1, 1000));
  field("beam_alpha", o.beam_alpha,
        "length normalisation: a score is divided by length_penalty's power alpha", between(0, 10));
  field("length_penalty", o.length_penalty,
        "what length normalisation divides by: gnmt, ((5 + length) / 6)^alpha (Wu 2016), or power, "
        "length^alpha");
  field("coverage_beta", o.coverage_beta,
        "coverage penalty: beta sum_s log min(sum_t alpha_ts, 1) is added to the score of a "
        "finished hypothesis (Wu 2016); 0 is off",
        between(0, 100));
  field("early_stopping", o.early_stopping,
        "a sentence's beam search ends when W hypotheses have finished (full), as soon as no open "
        "one can still win (exact), or at the greatest length only (never)");
  field("min_output_length", o.min_output_length,
        "no translation has fewer tokens than this, </s> not counted", at_least(0));
  field("max_output_length", o.max_output_length,
        "no translation has more tokens than this, </s> counted", at_least(1));
  field("max_output_ratio", o.max_output_ratio,
        "nor more than this many times the source's tokens, plus 10; 0 is off", at_least(0));
  field("repetition_penalty", o.repetition_penalty,
        "the logit of each token that is there already is divided by this where positive, else "
        "multiplied (CTRL, Keskar 2019); 1 is off",
        between(0.01, 100));
  field("no_repeat_ngram", o.no_repeat_ngram,
        "no translation has the same n tokens in a row twice; 0 is off", at_least(0));
  field("beam_groups", o.beam_groups,
        "groups that share the W hypotheses, each a beam search that avoids what those before it "
        "say at the same step (diverse beam search, Vijayakumar 2016); 1 is one beam",
        between(1, 1000));
  field("diversity", o.diversity,
        "beam_groups: what a token loses in log-probability for each hypothesis of a group before "
        "that says it at this step",
        between(0, 100));
  field("samples", o.samples,
        "in place of a search, draw so many translations of each sentence from the model's "
        "probabilities; 0 is off",
        between(0, 1000));
  field("temperature", o.temperature,
        "samples: logits are divided by this; below 1 the probable becomes more probable",
        between(0.01, 100));
  field("top_k", o.top_k, "samples: only from the k most probable tokens (Fan 2018); 0 is off",
        at_least(0));
  field("top_p", o.top_p,
        "samples: only from the fewest tokens that have this probability together (nucleus, "
        "Holtzman 2020); 1 is off",
        between(0.0001, 1));
  field("seed", o.seed, "samples: a line's depend on this and on its number, and on nothing else",
        at_least(0));
  field("batch_size", o.batch_size, "sentences translated together", at_least(1));
  field("validation_beam_size", o.validation_beam_size, "the beam size during training",
        between(1, 1000));
}

}  // namespace regard
