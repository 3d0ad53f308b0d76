// What a model makes of given translations: how probable it finds them, and how it aligns them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/workers.h"
#include "translation/model_folder.h"
#include "translation/translator.h"

namespace regard {

// Translation i has targets[i] as its text and its one hypothesis; none where the source line is
// empty. The numbers of lines are equal. Lines of like length go together, batch_size at a time,
// each worker at its own; `progress` hears how many are done.
std::vector<Translation> force_translations(const TranslationModel& model, torch::Device device,
                                            Workers& workers,
                                            const std::vector<std::string>& sources,
                                            const std::vector<std::string>& targets,
                                            bool want_weights, std::int64_t batch_size,
                                            const std::function<void(std::int64_t)>& progress = {});

// exp(−Σ log P / Σ tokens), </s> counted, over the best hypotheses; none where no line has one.
std::optional<double> perplexity(const std::vector<Translation>& translations);

}  // namespace regard
