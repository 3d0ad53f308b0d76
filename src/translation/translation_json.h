// The JSON object of a translation, the same in `translate --json` and in the answers of the
// server.
#pragma once

#include "base/json.h"
#include "translation/translator.h"

namespace regard {

// Returns "text", "score", "log_probability", "finished" and, with minimum Bayes risk,
// "expected_utility" of a hypothesis. `translation` is the one that has it.
Json hypothesis_json(const Translator& translator, const Hypothesis& hypothesis,
                     const Translation& translation);

}  // namespace regard
