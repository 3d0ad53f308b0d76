// BLEU and chrF by the length of the source: how a model fares as sentences grow, as in the
// figures that made the case for attention (Bahdanau et al. 2015).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "metrics/bleu.h"
#include "metrics/chrf.h"

namespace regard {

struct LengthBucket {
  std::size_t shortest = 0;            // source words, both ends included
  std::optional<std::size_t> longest;  // not set: no end
  std::size_t sentences = 0;
  BleuScore bleu;  // of these sentences as one corpus
  double chrf = 0;
};

// ConfigError where the edges do not ascend.
void check_length_edges(const std::vector<std::size_t>& edges);

// One bucket up to each edge and one beyond the last, empty ones too: edges {10, 20} give 0–10,
// 11–20 and 21 on. Source words are what white space parts. Throws InputError where the numbers of
// lines differ, ConfigError where the edges do not ascend.
std::vector<LengthBucket> score_by_length(const std::vector<std::string>& sources,
                                          const std::vector<std::string>& hypotheses,
                                          const References& references,
                                          const std::vector<std::size_t>& edges,
                                          const BleuOptions& bleu_options = {},
                                          const ChrfOptions& chrf_options = {});

}  // namespace regard
