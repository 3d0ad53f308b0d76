// REINFORCE (Williams 1992), as hard attention is trained with it (Xu et al. 2015, section 4.1): a
// term whose gradient is, in expectation over the positions s_t drawn from α_t, the part of the
// gradient of E[−log P(y | x, s)] that goes through α.
//
//   Σ_t (Σ_{t' ≥ t} −log P(y_t') − b_t) log α_t(s_t)      b_t = −mean log P · tokens from t on
//
// A position drawn at t changes nothing of what was said before, so only what comes after counts.
#pragma once

#include <torch/types.h>

namespace regard {

// All [B, T]: log_choice = log α_t(s_t), nll = −log P(y_t), real where there is a target token.
// mean_log_p, of a token, is the moving average of the steps before; any number leaves the mean as
// it is. The factor of log α is taken for a constant.
torch::Tensor reinforce(const torch::Tensor& log_choice, const torch::Tensor& nll,
                        const torch::Tensor& real, double mean_log_p);

}  // namespace regard
