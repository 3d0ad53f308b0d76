#include "translation/forced_translation.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/error.h"
#include "data/batch.h"
#include "decoding/forced.h"

namespace regard {
namespace {

std::vector<std::int32_t> encode_target(const Tokenizers& tokenizers,
                                        const std::optional<LengthLimit>& limit,
                                        const std::string& target, const SourceLine& source,
                                        std::int64_t index) {
  try {
    auto tokens = tokenizers.encode_target(target, source);
    check_length(tokens.size(), limit);
    return tokens;
  } catch (const InputError& error) {
    throw InputError("reference line {}: {}", index + 1, error.what());
  }
}

}  // namespace

std::vector<Translation> force_translations(const TranslationModel& model, torch::Device device,
                                            Workers& workers,
                                            const std::vector<std::string>& sources,
                                            const std::vector<std::string>& targets,
                                            bool want_weights, std::int64_t batch_size,
                                            const std::function<void(std::int64_t)>& progress) {
  std::vector<Translation> translations(sources.size());
  std::vector<Example> examples;
  const auto source_limit = model.model->source_limit();
  const auto target_limit = model.model->target_limit();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    translations[i].text = targets[i];
    auto line =
        encode_source(model.tokenizers, source_limit, sources[i], index + 1, translations[i]);
    if (line.tokens.empty()) continue;
    examples.push_back({index, line.tokens,
                        encode_target(model.tokenizers, target_limit, targets[i], line, index),
                        line.numbers, line.copies});
  }
  std::stable_sort(examples.begin(), examples.end(), [](const Example& a, const Example& b) {
    return a.source.size() > b.source.size();
  });
  kernels::PackedWeights packed;  // for all groups
  const auto force_group = [&](std::size_t begin, std::size_t end) {
    const auto count = end - begin;
    const auto batch = make_batch(std::span(examples).subspan(begin, count)).to(device);
    auto forced =
        force(*model.model, batch.source, batch.source_lengths, batch.target, want_weights, packed);
    for (std::size_t k = 0; k < count; ++k) {
      translations[static_cast<std::size_t>(batch.indices[k])].hypotheses.push_back(
          std::move(forced[k]));
    }
  };
  deal_groups(workers, examples.size(), static_cast<std::size_t>(batch_size), force_group,
              progress);
  return translations;
}

std::optional<double> perplexity(const std::vector<Translation>& translations) {
  double log_probability = 0;
  std::size_t tokens = 0;
  for (const auto& translation : translations) {
    if (translation.hypotheses.empty()) continue;
    log_probability += translation.hypotheses[0].log_probability;
    tokens += translation.hypotheses[0].tokens.size() + 1;
  }
  if (tokens == 0) return std::nullopt;
  return std::exp(-log_probability / static_cast<double>(tokens));
}

}  // namespace regard
