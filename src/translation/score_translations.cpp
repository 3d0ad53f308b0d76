#include "translation/score_translations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "base/error.h"
#include "data/batch.h"
#include "decoding/score_targets.h"
#include "translation/word_alignment.h"

namespace regard {
namespace {

std::vector<std::int32_t> encode_target(const TextCodec& codec,
                                        const std::optional<LengthLimit>& limit,
                                        const std::string& target, const SourceLine& source,
                                        std::int64_t index) {
  try {
    auto tokens = codec.encode_target(target, source);
    check_length(tokens.size(), limit);
    return tokens;
  } catch (const InputError& error) {
    throw InputError("reference line {}: {}", index + 1, error.what());
  }
}

// Examples with the same source, such as the entries of an n-best list.
struct SourceGroup {
  std::vector<Example> examples;
  std::size_t longest_target = 0;
};

// Returns the examples by decreasing length of the source, then of the target, so that batches have
// little padding. The examples of a group remain together.
std::vector<Example> sorted_by_length(std::vector<SourceGroup> groups) {
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    const auto a_length = a.examples[0].source_length();
    const auto b_length = b.examples[0].source_length();
    return a_length != b_length ? a_length > b_length : a.longest_target > b.longest_target;
  });
  std::vector<Example> examples;
  for (auto& group : groups) {
    std::move(group.examples.begin(), group.examples.end(), std::back_inserter(examples));
  }
  return examples;
}

bool has_source_of_last_row(const Batch& batch, std::int64_t b) {
  return b > 0 && std::ranges::all_of(batch.source.tensors(), [&](const torch::Tensor& x) {
           return torch::equal(x[b], x[b - 1]);
         });
}

// Scores the targets of a batch. Encodes equal consecutive sources once.
std::vector<Hypothesis> score_batch(Seq2Seq& model, const Batch& batch, bool want_weights,
                                    kernels::PackedWeights& packed) {
  std::vector<std::int64_t> first;  // the first row of each source
  std::vector<std::int64_t> rows;   // the index in `first` of the source of each row
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    if (!has_source_of_last_row(batch, b)) first.push_back(b);
    rows.push_back(static_cast<std::int64_t>(first.size()) - 1);
  }
  if (first.size() == rows.size()) {
    return score_targets(model, batch.source, {batch.target}, want_weights, packed);
  }
  const auto index = torch::tensor(first, torch::kInt64);
  const auto device = batch.source.device();
  const auto on_device = index.to(device);
  auto sources =
      batch.source.map([&](const torch::Tensor& x) { return x.index_select(0, on_device); });
  sources.lengths = batch.source.lengths.index_select(0, index);
  return score_targets(model, sources,
                       {batch.target, torch::tensor(rows, torch::kInt64).to(device)}, want_weights,
                       packed);
}

}  // namespace

std::vector<Translation> Translator::score(const std::vector<std::string>& sources,
                                           const std::vector<std::string>& targets,
                                           bool want_weights, std::int64_t batch_size,
                                           const std::function<void(std::int64_t)>& progress,
                                           const TextCodec* other_codec) const {
  const auto& codec = other_codec != nullptr ? *other_codec : codec_;
  std::vector<Translation> translations(sources.size());
  std::vector<SourceGroup> groups;
  const auto source_limit = model_->source_limit();
  const auto target_limit = model_->target_limit();
  std::string last_source;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    translations[i].text = targets[i];
    auto line =
        encode_source(codec, source_limit, sources[i], index + 1, want_weights, translations[i]);
    if (line.length() == 0) continue;
    const bool is_new = groups.empty() || sources[i] != last_source;
    if (is_new) groups.emplace_back();
    last_source = sources[i];
    auto target = encode_target(codec, target_limit, targets[i], line, index);
    auto& group = groups.back();
    group.longest_target = std::max(group.longest_target, target.size());
    group.examples.push_back({index,
                              line.tokens,
                              std::move(target),
                              line.numbers,
                              line.extended_ids,
                              line.frames,
                              {},
                              codec.first_target});
  }
  const auto examples = sorted_by_length(std::move(groups));
  const auto score_range = [&](std::size_t begin, std::size_t end) {
    const auto count = end - begin;
    const auto batch = make_batch(std::span(examples).subspan(begin, count)).to(device_);
    auto scored = score_batch(*model_, batch, want_weights, *packed_);
    for (std::size_t k = 0; k < count; ++k) {
      translations[static_cast<std::size_t>(batch.indices[k])].hypotheses.push_back(
          std::move(scored[k]));
    }
  };
  parallel_for_ranges(pool_, examples.size(), static_cast<std::size_t>(batch_size), score_range,
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

std::vector<WordScore> word_scores(const Hypothesis& hypothesis,
                                   const std::vector<std::string>& tokens, TokenizerKind kind) {
  std::vector<WordScore> scores;
  const auto& log_p = hypothesis.token_log_p;
  const auto words = group_into_words(tokens, kind);
  const auto written = word_texts(tokens, kind);
  std::size_t scored = 0;  // number of tokens
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i == 0 || words[i].front() >= scored) scores.emplace_back();
    scores.back().word += written[i];
    for (const auto t : words[i]) {
      if (t >= scored) scores.back().log_probability += log_p[t];
    }
    scored = words[i].back() + 1;
  }
  if (hypothesis.finished && !log_p.empty()) scores.push_back({"</s>", log_p.back()});
  return scores;
}

std::string to_text(const WordScore& score) {
  return fmt::format("{}={:.4f}", score.word, score.log_probability);
}

Json to_json(const std::vector<WordScore>& scores) {
  auto all = Json::array();
  for (const auto& score : scores) {
    all.push_back({{"word", score.word}, {"log_probability", score.log_probability}});
  }
  return all;
}

}  // namespace regard
