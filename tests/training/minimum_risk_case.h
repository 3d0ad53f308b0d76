// Batches, candidates and codecs for tests of minimum risk training.
#pragma once

#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/special_tokens.h"
#include "training/minimum_risk.h"

namespace regard {

using Sentence = std::vector<std::int32_t>;

// A translation and its risk.
struct Judged {
  Sentence tokens;
  double risk;

  bool operator==(const Judged&) const = default;
};

inline CandidateBatch with_candidates(const Batch& batch,
                                      const std::vector<std::vector<Judged>>& of_sentences) {
  std::vector<std::int64_t> sentences;
  std::vector<double> risks;
  std::vector<Sentence> all;
  std::size_t longest = 0;
  for (std::size_t b = 0; b < of_sentences.size(); ++b) {
    for (const auto& candidate : of_sentences[b]) {
      sentences.push_back(static_cast<std::int64_t>(b));
      risks.push_back(candidate.risk);
      all.push_back(candidate.tokens);
      longest = std::max(longest, candidate.tokens.size());
    }
  }
  const auto N = static_cast<std::int64_t>(all.size());
  auto tokens = torch::zeros({N, static_cast<std::int64_t>(longest) + 2}, torch::kInt64);
  for (std::int64_t n = 0; n < N; ++n) {
    std::int64_t t = 0;
    tokens[n][t++] = bos_id;
    for (const auto token : all[static_cast<std::size_t>(n)]) tokens[n][t++] = token;
    tokens[n][t] = eos_id;
  }
  return {batch, tokens, torch::tensor(sentences, torch::kInt64),
          torch::tensor(risks, torch::kDouble)};
}

// TextCodec whose target has the words w4, w5, … for the ids from 4 to V − 1.
inline TextCodec numbered_words(std::int64_t V) {
  TokenizerOptions options;
  options.kind = TokenizerKind::word;
  TokenCounts counts;
  for (std::int64_t id = 4; id < V; ++id) counts["w" + std::to_string(id)] = V - id;
  TextCodec codec;
  codec.target = make_tokenizer(options, counts);
  codec.source = codec.target;
  return codec;
}

}  // namespace regard
