// The loss of a batch with given targets: −log P(y | x), with the terms that the options of a
// training and its attention add (training.objective: likelihood).
#pragma once

#include "config/training_options.h"
#include "data/batch.h"
#include "model/output/loss.h"
#include "model/seq2seq.h"

namespace regard {

// Runs the model on a batch and returns the loss, including the loss terms of the attention.
// mean_log_p is the moving average of log P per token, for the baseline of REINFORCE
// (model/output/loss.h).
Loss batch_loss(Seq2Seq& model, const Batch& batch, const LossOptions& options,
                double mean_log_p = 0);
// The same for a batch that is already encoded.
Loss encoded_loss(Seq2Seq& model, const Batch& batch, const EncoderOutput& encoded,
                  const LossOptions& options, double mean_log_p = 0);
// Returns the loss that the options of a training choose: batch_loss(), or that of two passes with
// different dropout (training.r_drop), with the mean of their −log P.
Loss training_loss(Seq2Seq& model, const Batch& batch, const TrainingOptions& options,
                   double mean_log_p = 0);

}  // namespace regard
