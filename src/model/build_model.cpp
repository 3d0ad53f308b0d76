#include "model/build_model.h"

#include "model/encoder_decoder.h"

namespace regard {

std::shared_ptr<Seq2Seq> build_model(std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                                     const ModelOptions& options) {
  return std::make_shared<EncoderDecoder>(source_vocabulary, target_vocabulary, options);
}

}  // namespace regard
