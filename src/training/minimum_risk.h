// Minimum risk training (Shen et al. 2016): minimises the expected risk of translations that the
// model samples itself,
//
//   R(θ) = Σ_b Σ_{y ∈ S(x_b)} Q(y | x_b) Δ(y, y*_b)    Q(y | x) = P(y | x)^α / Σ_{y'} P(y' | x)^α
//   ∂R / ∂log P(y | x) = α Q(y | x) (Δ(y, y*) − Σ_{y'} Q(y' | x) Δ(y', y*))
//
// Sums over y' are over the candidates S(x), distinct translations sampled from P(y | x) and, if
// include_reference is set, the reference y*. The risk Δ is 1 − BLEU or 1 − chrF of the text of a
// candidate, smoothed as `regard evaluate --sentence-level` does, from 0 to 1. The objective is
//
//   R(θ) / α − λ Σ_b log P(y*_b | x_b)
//
// divided, like any other, by the number of tokens of the references. Without the factor 1 / α, the
// gradient would vanish with α; with it, its size is that of −log P times a spread of the risk. So
// learning rates, clipping and λ mean the same with every α.
//
// The keys of training.minimum_risk are alpha (α) and likelihood_weight (λ).
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "config/options.h"
#include "data/batch.h"
#include "data/text_codec.h"
#include "decoding/search.h"
#include "kernels/packed_weights.h"
#include "metrics/corpus_metric.h"
#include "model/output/loss.h"
#include "model/seq2seq.h"

namespace regard {

// A batch and N candidates, at least one for each of its sentences.
struct CandidateBatch {
  Batch batch;
  torch::Tensor tokens;     // [N, T + 1] int64: <s> or a tag, y_1 … y_m </s>, then <pad>
  torch::Tensor sentences;  // [N] int64, the row of each candidate's sentence, ascending
  torch::Tensor risks;      // [N] double, Δ
};

// Returns Σ_y Q(y | x_b) Δ(y, y*_b) of each sentence [B], differentiable with respect to log_p.
// log_p, risks [N] double and sentences [N] as in CandidateBatch.
torch::Tensor expected_risk(const torch::Tensor& log_p, const torch::Tensor& risks,
                            const torch::Tensor& sentences, std::int64_t B, double alpha);

// The loss of a part of a step.
struct StepLoss {
  Loss loss;  // the objective, not divided by tokens; −log P of the references
  // Σ_b Σ_y Q(y | x_b) Δ(y, y*_b), a double, not differentiable. Undefined with another objective.
  torch::Tensor risk = {};
};

// Samples candidates and computes the objective. All functions are thread-safe.
class MinimumRisk {
 public:
  MinimumRisk(const Options& options, TextCodec codec);

  // Samples the candidates of a batch, for update number `step`, and returns them for a few
  // sentences at a time, so that their loss needs no more memory than that of the batch itself with
  // its references, unless a single sentence has more candidates. The model must be in evaluation
  // mode. The candidates of a sentence depend only on the weights, training.random_seed, the step
  // and the index of the sentence. A sample that reaches the maximum length of a translation ends
  // there. Packed weights are stored in `packed`.
  std::vector<CandidateBatch> sample(Seq2Seq& model, const Batch& batch, std::int64_t step,
                                     kernels::PackedWeights& packed) const;

  // Encodes each sentence once for all its candidates. The model must be in training mode.
  StepLoss loss(Seq2Seq& model, const CandidateBatch& candidates) const;

 private:
  // A translation of one sentence and its risk.
  struct Candidate {
    std::vector<std::int32_t> tokens;  // without <s> and </s>
    double risk = 0;
  };
  // Returns the distinct candidates of a sentence with this reference.
  std::vector<Candidate> candidates_of(const std::vector<Hypothesis>& samples,
                                       const std::vector<std::int32_t>& reference) const;
  // Returns the text of each candidate.
  std::vector<std::string> texts_of(const std::vector<Candidate>& candidates) const;

  TrainingOptions options_;
  bool copies_words_;  // true if a copied token is a whole word
  SearchRequest search_;
  TextCodec codec_;
  std::shared_ptr<const CorpusMetric> metric_;
};

}  // namespace regard
