// Restricts the output layer to a shortlist of target tokens for each sentence of a batch (Jean et
// al. 2015, L'Hostis et al. 2016): P(y) = softmax over the shortlist.
//
// The product is computed once for the tokens of all shortlists in the batch. Each sentence then
// selects the columns of its own tokens, so that its results have the same bits in every batch.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "kernels/linear.h"
#include "model/seq2seq.h"

namespace regard {

// A column without a token: sorts after all tokens.
constexpr std::int64_t no_token = std::numeric_limits<std::int64_t>::max();

class BatchShortlist {
 public:
  // `lists` has the tokens of each sentence, ascending and distinct, none empty. `device` is that
  // of the model.
  BatchShortlist(const std::vector<std::vector<std::int32_t>>& lists, torch::Device device);

  // Returns the tokens of these sentences: sentences [B] int64 on the CPU -> [B, K] int64 on the
  // CPU, ascending, no_token beyond the end of a list.
  torch::Tensor tokens(const torch::Tensor& sentences) const;
  // Returns the logits W x + b of the tokens of these sentences: x [N, R], W [V, R], b [V] ->
  // [N, K], −∞ beyond the end of a list. N = G · B, with G consecutive rows per sentence. Not
  // thread-safe: packs the rows of W at the first call.
  torch::Tensor logits(const torch::Tensor& x, const torch::Tensor& W, const torch::Tensor& b,
                       const torch::Tensor& sentences);

 private:
  torch::Tensor all_;      // [U] int64, the tokens of all lists
  torch::Tensor tokens_;   // [sentences, K] int64 on the CPU
  torch::Tensor columns_;  // [sentences, K] int64, the position in all_; −1 beyond the end
  // The rows of all_, by the address of the weight: one per model of an ensemble.
  std::map<const void*, kernels::SelectedRows> rows_;
};

// Restricts all steps of a search, also of the members of an ensemble, to these tokens of each
// sentence (SentenceOptions::shortlist). The output layer must support shortlists.
void set_shortlist(EncoderOutput& encoded, const std::shared_ptr<BatchShortlist>& shortlist);

}  // namespace regard
