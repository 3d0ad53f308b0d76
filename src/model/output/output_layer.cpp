#include "model/output/output_layer.h"

namespace regard {

DecoderOutput group_by_sentence(const DecoderStep& step, const EncoderOutput& encoded) {
  const auto view = [B = encoded.states.size(0)](const torch::Tensor& x) {
    return x.defined() ? x.view({B, -1, x.size(1)}) : x;
  };
  return {view(step.readout), view(step.weights), view(step.hidden), view(step.input)};
}

}  // namespace regard
