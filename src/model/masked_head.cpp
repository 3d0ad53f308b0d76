#include "model/masked_head.h"

#include <stdexcept>

namespace regard {

MaskedHead::MaskedHead(std::int64_t C, std::int64_t R)
    : readout_size_(R),
      W_(register_module("W", Linear(C, R))),
      norm_(register_module("norm", std::make_shared<LayerNorm>(R))) {}

DecoderOutput MaskedHead::forward(const torch::Tensor& positions, const EncoderOutput& encoded,
                                  bool /*want_weights*/) {
  const auto indices = positions.unsqueeze(2).expand({-1, -1, encoded.states.size(2)});
  const auto states = encoded.states.gather(1, indices);  // [B, T, C]
  return {.readout = norm_->forward(torch::gelu(W_(states)))};
}

DecoderState MaskedHead::initial_state(const EncoderOutput& /*encoded*/) {
  throw std::logic_error("a masked language model has no search");
}

DecoderStep MaskedHead::step(const torch::Tensor& /*embedded*/, const DecoderState& /*state*/,
                             const EncoderOutput& /*encoded*/) {
  throw std::logic_error("a masked language model has no search");
}

}  // namespace regard
