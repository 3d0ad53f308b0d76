#include "model/output/output.h"

namespace regard {

Decoded by_sentence(const DecoderStep& step, const Memory& memory) {
  const auto view = [B = memory.values.size(0)](const torch::Tensor& x) {
    return x.defined() ? x.view({B, -1, x.size(1)}) : x;
  };
  return {view(step.readout), view(step.weights), view(step.top), view(step.input)};
}

}  // namespace regard
