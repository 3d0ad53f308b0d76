#include "translation/translator.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/strings.h"
#include "config/check.h"
#include "data/batch.h"
#include "text/unicode.h"

namespace regard {
SearchOptions search_options(const TestingOptions& options) {
  SearchOptions search;
  static_cast<TestingOptions&>(search) = options;
  return search;
}

void check_length(std::size_t tokens, const std::optional<LengthLimit>& limit) {
  const auto length = static_cast<std::int64_t>(tokens) + 1;
  if (!limit || length <= limit->max_tokens) return;
  throw InputError(
      "found {}, </s> included, but the model takes {} ({}); shorten it, or train with more",
      counted(length, "token"), limit->max_tokens, limit->key);
}

SourceLine encode_source(const Tokenizers& tokenizers, const std::optional<LengthLimit>& limit,
                         const std::string& line, std::int64_t number, Translation& translation) {
  if (is_blank(line)) return {};
  try {
    auto encoded = tokenizers.encode_source(line);
    if (encoded.tokens.empty()) return encoded;
    check_length(encoded.tokens.size(), limit);
    translation.source_tokens = tokenizers.source->pieces(line);
    translation.source_tokens.push_back("</s>");
    translation.oov_words = encoded.oov_words;
    return encoded;
  } catch (const InputError& error) {
    throw InputError("source line {}: {}", number, error.what());
  }
}

Translator::Translator(std::shared_ptr<Seq2Seq> model, Tokenizers tokenizers, torch::Device device,
                       ThreadPool& pool, kernels::Precision precision)
    : model_(std::move(model)),
      tokenizers_(std::move(tokenizers)),
      device_(device),
      pool_(pool),
      packed_(std::make_unique<kernels::PackedWeights>(precision)) {}

void Translator::use_shortlist(Shortlist shortlist) {
  check_shortlist(*model_, tokenizers_);
  shortlist_ = std::move(shortlist);
}

std::vector<Translation> Translator::translate(const std::vector<std::string>& lines,
                                               const SearchOptions& options,
                                               std::int64_t batch_size,
                                               const std::function<void(std::int64_t)>& progress,
                                               const std::vector<SentenceOptions>& given) const {
  auto sentences = given;
  sentences.resize(lines.size());
  for (std::size_t i = given.size(); i < lines.size(); ++i) {
    sentences[i].number = static_cast<std::int64_t>(i) + 1;
  }
  std::vector<Translation> translations(lines.size());
  std::vector<SourceLine> sources(lines.size());
  std::vector<std::size_t> order;  // lines that are not blank
  const auto limit = model_->source_limit();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    sources[i] = encode_source(tokenizers_, limit, lines[i], sentences[i].number, translations[i]);
    if (!sources[i].tokens.empty()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return sources[a].tokens.size() > sources[b].tokens.size();
  });

  const bool was_training = model_->is_training();
  model_->eval();
  const auto translate_range = [&](std::size_t begin, std::size_t end) {
    std::vector<SourceLine> batch_sources;
    std::vector<SentenceOptions> batch_options;
    for (auto k = begin; k < end; ++k) {
      batch_sources.push_back(sources[order[k]]);
      batch_options.push_back(sentences[order[k]]);
      if (!shortlist_) continue;
      auto& sentence = batch_options.back();
      sentence.shortlist = shortlist_->tokens(batch_sources.back().tokens, sentence);
    }
    const auto batch = make_source_batch(batch_sources).to(device_);
    auto hypotheses =
        search(*model_, batch.source, batch.source_lengths, options, batch_options, *packed_);
    for (auto k = begin; k < end; ++k) {
      auto& translation = translations[order[k]];
      translation.hypotheses = std::move(hypotheses[k - begin]);
      translation.text = text(translation.hypotheses[0], translation);
    }
  };
  parallel_for_ranges(pool_, order.size(), static_cast<std::size_t>(batch_size), translate_range,
                      progress);
  model_->train(was_training);
  return translations;
}

std::string Translator::text(const Hypothesis& hypothesis, const Translation& translation) const {
  return tokenizers_.decode(hypothesis.tokens, translation.oov_words);
}

std::vector<std::string> Translator::tokens(const Hypothesis& hypothesis,
                                            const Translation& translation) const {
  std::vector<std::string> tokens;
  for (const auto id : hypothesis.tokens)
    tokens.push_back(tokenizers_.target_token(id, translation.oov_words));

  if (hypothesis.finished) tokens.push_back("</s>");
  return tokens;
}

void check_shortlist(Seq2Seq& model, const Tokenizers& tokenizers) {
  if (!model.output_layer().supports_shortlist()) {
    throw ConfigError(
        "a shortlist needs model.output.kind: vocabulary, but found {}; translate without one",
        enum_names(tokenizers.output)[static_cast<std::size_t>(tokenizers.output)]);
  }
  if (tokenizers.source->reads_elements()) {
    throw ConfigError(
        "a shortlist needs a source vocabulary, but the source of the model is a sequence of "
        "numbers; translate without one");
  }
}

void check_search(const TestingOptions& options, const Seq2Seq& model) {
  check_testing_options(options);
  if (options.coverage_beta > 0 && !model.has_attention_weights()) {
    throw ConfigError(
        "coverage_beta is {}, but the model has no attention, and coverage is a sum of attention "
        "weights; set it to 0",
        options.coverage_beta);
  }
  const auto limit = model.target_limit();
  if (limit && options.max_output_length > limit->max_tokens) {
    throw ConfigError(
        "max_output_length is {}, but the model takes {} ({}); set it to that or less",
        options.max_output_length, counted(limit->max_tokens, "token"), limit->key);
  }
}

}  // namespace regard
