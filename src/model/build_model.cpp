#include "model/build_model.h"

#include "model/attention/table.h"
#include "model/encoder_decoder.h"
#include "model/language_model.h"
#include "model/output/output_factory.h"

namespace regard {

void check_model(const ModelOptions& options, const SourceLocations& locations) {
  check_attention(options, locations);
  check_output_layer(options, locations);
}

void check_model_to_train(const Options& options, const SourceLocations& locations) {
  check_model(options.model, locations);
  check_attention_lengths(options, locations);
}

std::shared_ptr<Seq2Seq> build_model(std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                                     const ModelOptions& options) {
  switch (options.kind) {
    case ModelKind::language_model:
      return std::make_shared<LanguageModel>(target_vocabulary, options);
    case ModelKind::masked_language_model:
      return std::make_shared<MaskedLanguageModel>(source_vocabulary, options);
    case ModelKind::translation:
      break;
  }
  return std::make_shared<EncoderDecoder>(source_vocabulary, target_vocabulary, options);
}

}  // namespace regard
