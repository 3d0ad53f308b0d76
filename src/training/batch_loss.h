// The loss of a batch: the model read from source to −log P.
#pragma once

#include "data/batch.h"
#include "loss/cross_entropy.h"
#include "model/seq2seq.h"

namespace regard {

inline Loss batch_loss(Seq2Seq& model, const Batch& batch, double label_smoothing) {
  const auto memory = model.encode(batch.source, batch.source_lengths);
  const auto readout = model.decode(batch.target_input(), memory).readout;  // [B, T, R]
  const auto [weight, bias] = model.output_layer();
  return cross_entropy(readout, batch.target_output(), weight, bias, label_smoothing);
}

}  // namespace regard
