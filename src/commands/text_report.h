// How well a text was translated, as parts of a page: BLEU by length, the best and the worst.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace regard {

struct ScoredText {
  std::string name;
  std::vector<std::string> sources;
  std::vector<std::string> references;
  std::vector<std::string> hypotheses;
};

// BLEU by source length, in up to five parts of about as many sentences, each with its 95 %
// confidence interval by bootstrap.
std::string by_length_html(const ScoredText& text);

// The sentences of highest and of lowest chrF.
std::string extremes_html(const ScoredText& text, std::size_t count);

// "source …", "reference …": names with what belongs to them.
std::string pairs_html(const std::vector<std::pair<std::string, std::string>>& pairs);

}  // namespace regard
