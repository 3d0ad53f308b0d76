#include "translation/translation_json.h"

namespace regard {

Json hypothesis_json(const Translator& translator, const Hypothesis& hypothesis,
                     const Translation& translation) {
  Json json = {{"text", translator.text(hypothesis, translation)},
               {"score", hypothesis.score},
               {"log_probability", hypothesis.log_probability},
               {"finished", hypothesis.finished}};
  if (hypothesis.expected_utility) json["expected_utility"] = *hypothesis.expected_utility;
  return json;
}

}  // namespace regard
