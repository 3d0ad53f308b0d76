// Sentence BLEU and chrF of every text of a list against every other, for minimum Bayes risk
// decoding.
//
// The n-grams of each text are counted once. An index has the texts of each n-gram, and the clipped
// matches of all pairs are sums over the index: the time is Σ_g k_g², where k_g is the number of
// texts with the n-gram g, and no text is compared with another one. The functions are pure and
// thread-safe.
#pragma once

#include <string>
#include <vector>

namespace regard {

// Return the scores [N, N] of N texts, from 0 to 100: element h N + r is the score of text h as a
// translation with text r as its only reference. They equal corpus_score() of one sentence. BLEU
// uses the effective order.
std::vector<double> pairwise_bleu(const std::vector<std::string>& texts);
std::vector<double> pairwise_chrf(const std::vector<std::string>& texts);

}  // namespace regard
