// The loss of a batch: the model read from source to −log P, and what its attention adds.
#pragma once

#include "data/batch.h"
#include "loss/cross_entropy.h"
#include "model/seq2seq.h"

namespace regard {

// mean_log_p as in loss/reinforce.h.
Loss batch_loss(Seq2Seq& model, const Batch& batch, double label_smoothing, double mean_log_p = 0);

}  // namespace regard
