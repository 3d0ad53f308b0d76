// Scores given translations: computes log-probabilities of sentences and words, and attention.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/thread_pool.h"
#include "config/data_options.h"
#include "decoding/search.h"
#include "translation/model_folder.h"
#include "translation/translator.h"

namespace regard {

// Returns one translation per line, whose text and only hypothesis is targets[i]. An empty source
// line has no hypothesis. `sources` and `targets` must have the same size. Batches lines of similar
// length, batch_size at a time, one batch per thread. Encodes equal sources of consecutive lines
// once per batch. Calls `progress` with the number of finished lines. Stores packed weights in
// `packed`, whose precision the matrix products have; it can be reused until the weights change.
std::vector<Translation> score_translations(const TranslationModel& model, torch::Device device,
                                            ThreadPool& pool,
                                            const std::vector<std::string>& sources,
                                            const std::vector<std::string>& targets,
                                            bool want_weights, std::int64_t batch_size,
                                            kernels::PackedWeights& packed,
                                            const std::function<void(std::int64_t)>& progress = {});

// Returns exp(−Σ log P / Σ tokens), including </s>, over the best hypotheses; nullopt if there is
// none.
std::optional<double> perplexity(const std::vector<Translation>& translations);

// A word and the sum of its tokens' log-probabilities.
struct WordScore {
  std::string word;
  double log_probability = 0;
};

// Scores the words of a hypothesis as defined in word_alignment.h, and </s> if it was reached.
// Words that share a token have one score. `tokens` are the hypothesis's tokens from
// Translator::tokens().
std::vector<WordScore> word_scores(const Hypothesis& hypothesis,
                                   const std::vector<std::string>& tokens, TokenizerKind kind);

std::string to_text(const WordScore& score);         // "chat=-0.1234"
Json to_json(const std::vector<WordScore>& scores);  // [{"word": …, "log_probability": …}, …]

}  // namespace regard
