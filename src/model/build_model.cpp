#include "model/build_model.h"

#include "model/attention/table.h"
#include "model/encoder_decoder.h"
#include "model/output/table.h"

namespace regard {

void check_model(const ModelOptions& options, const Origins& origins) {
  check_attention(options, origins);
  check_output(options, origins);
}

void check_model_to_train(const Options& options, const Origins& origins) {
  check_model(options.model, origins);
  check_attention_lengths(options, origins);
}

std::shared_ptr<Seq2Seq> build_model(std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                                     const ModelOptions& options) {
  return std::make_shared<EncoderDecoder>(source_vocabulary, target_vocabulary, options);
}

}  // namespace regard
