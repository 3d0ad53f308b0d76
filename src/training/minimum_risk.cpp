#include "training/minimum_risk.h"

#include <fmt/format.h>
#include <torch/utils.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/random.h"
#include "base/special_tokens.h"
#include "kernels/device.h"
#include "kernels/functions.h"
#include "metrics/metric_factory.h"
#include "model/output/output_layer.h"
#include "text/unicode.h"
#include "training/training_loss.h"

namespace regard {
namespace {

// Combined with the seed, so that samples do not use the same random numbers as other code with
// this seed. The value is arbitrary: the letters "min.risk".
constexpr std::uint64_t sample_salt = 0x6d696e2e7269736b;

// Target positions of the candidates in a CandidateBatch, even if the batch has fewer itself.
constexpr std::int64_t min_positions = 1024;

// Returns the tokens of each target of a batch, without <s> and </s>.
std::vector<std::vector<std::int32_t>> references_of(const Batch& batch) {
  const auto target = batch.target.cpu().contiguous();  // [B, T + 1]
  std::vector<std::vector<std::int32_t>> references;
  for (std::int64_t b = 0; b < target.size(0); ++b) {
    const auto* token = target.const_data_ptr<std::int64_t>() + b * target.size(1) + 1;
    auto& reference = references.emplace_back();
    for (; *token != eos_id; ++token) reference.push_back(static_cast<std::int32_t>(*token));
  }
  return references;
}

}  // namespace

torch::Tensor expected_risk(const torch::Tensor& log_p, const torch::Tensor& risks,
                            const torch::Tensor& sentences, std::int64_t B, double alpha) {
  const auto counts = sentences.bincount({}, B);  // [B]
  const auto first = counts.cumsum(0) - counts;
  const auto column =
      torch::arange(sentences.size(0), sentences.options()) - first.index_select(0, sentences);
  // Candidate k of sentence b is at (b, k) of two matrices [B, K].
  const auto K = counts.max().item<std::int64_t>();
  const auto places = sentences * K + column;
  const auto matrix = [&](double empty, const torch::Tensor& values) {
    return torch::full({B * K}, empty, values.options()).index_copy(0, places, values).view({B, K});
  };
  const auto Q = matrix(minus_infinity, alpha * log_p).softmax(1);
  return (Q * matrix(0, risks)).sum(1);
}

MinimumRisk::MinimumRisk(const Options& options, TextCodec codec)
    : options_(options.training),
      copies_words_(options.data.tokenizer.kind == TokenizerKind::word),
      codec_(std::move(codec)) {
  // The candidates are samples of P itself: only the limits of the length apply.
  search_.max_output_length = options.search.max_output_length;
  search_.max_output_ratio = options.search.max_output_ratio;
  search_.samples = options_.minimum_risk.samples;
  MetricOptions metrics;
  metrics.bleu.effective_order = true;
  metric_ = make_metric(enum_name(options_.minimum_risk.metric), metrics);
}

std::vector<std::string> MinimumRisk::texts_of(const std::vector<Candidate>& candidates) const {
  // A training corpus does not keep the text of words outside the vocabulary, which a copy output
  // generates. The same placeholder stands for a word in all candidates of its sentence: of several
  // letters, or of one if other tokens than words are copied, of which only characters are unknown.
  std::vector<std::string> oov_words;
  if (codec_.output == OutputKind::copy) {
    std::int32_t last = -1;
    for (const auto& candidate : candidates) {
      for (const auto id : candidate.tokens) last = std::max(last, id);
    }
    for (auto id = codec_.target->size(); id <= last; ++id) {
      const auto number = id - codec_.target->size();
      oov_words.push_back(copies_words_ ? fmt::format("unseen{:03}", number)
                                        : encode_utf8(std::u32string(
                                              1, U'\uE000' + static_cast<char32_t>(number))));
    }
  }
  std::vector<std::string> texts;
  texts.reserve(candidates.size());
  for (const auto& candidate : candidates) {
    texts.push_back(codec_.decode(candidate.tokens, oov_words));
  }
  return texts;
}

std::vector<MinimumRisk::Candidate> MinimumRisk::candidates_of(
    const std::vector<Hypothesis>& samples, const std::vector<std::int32_t>& reference) const {
  std::vector<Candidate> candidates = {{reference}};
  bool keeps_reference = options_.minimum_risk.include_reference;
  for (const auto& sample : samples) {
    auto tokens = sample.tokens;
    if (!sample.finished && !tokens.empty()) tokens.pop_back();  // makes room for </s>
    const auto equal = std::ranges::find(candidates, tokens, &Candidate::tokens);
    keeps_reference = keeps_reference || equal == candidates.begin();
    if (equal == candidates.end()) candidates.push_back({std::move(tokens)});
  }
  const auto texts = texts_of(candidates);
  const auto counts = metric_->count(texts, {std::vector<std::string>(texts.size(), texts[0])});
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].risk = 1 - metric_->score(counts.sentence(i)) / 100;
  }
  if (!keeps_reference) candidates.erase(candidates.begin());
  return candidates;
}

std::vector<CandidateBatch> MinimumRisk::sample(Seq2Seq& model, const Batch& batch,
                                                std::int64_t step,
                                                kernels::PackedWeights& packed) const {
  auto options = search_;
  const auto seed = static_cast<std::uint64_t>(options_.random_seed) ^ sample_salt;
  options.seed = static_cast<std::int64_t>(Random(seed, static_cast<std::uint64_t>(step)).next());
  const auto references = references_of(batch);
  const auto first_targets = batch.target.select(1, 0).cpu().contiguous();  // [B] <s> or a tag
  const auto* first_target = first_targets.const_data_ptr<std::int64_t>();
  std::vector<std::vector<Candidate>> candidates;  // of each sentence
  const auto B = batch.size();
  const auto at_once = sentences_at_once(options, B, batch.source.device());
  for (std::int64_t begin = 0; begin < B; begin += at_once) {
    const auto part = batch.range(begin, std::min(B, begin + at_once));
    std::vector<SentenceOptions> sentences;
    for (const auto index : part.indices) {
      const auto first = first_target[begin + std::ssize(sentences)];
      sentences.push_back({.number = index, .first_token = static_cast<std::int32_t>(first)});
    }
    for (const auto& samples : search(model, part.source, options, sentences, packed)) {
      candidates.push_back(candidates_of(samples, references[candidates.size()]));
    }
  }

  const auto max_positions = std::max(min_positions, batch.target_output().numel());
  std::vector<CandidateBatch> parts;
  for (std::size_t begin = 0, end = 0; begin < candidates.size(); begin = end) {
    std::int64_t N = 0;        // candidates
    std::int64_t longest = 0;  // without </s>
    for (; end < candidates.size(); ++end) {
      auto with = longest;
      for (const auto& candidate : candidates[end]) {
        with = std::max(with, std::ssize(candidate.tokens));
      }
      const auto more = std::ssize(candidates[end]);
      if (end > begin && (N + more) * (with + 1) > max_positions) break;
      longest = with;
      N += more;
    }
    const auto tokens = torch::full({N, longest + 2}, pad_id, torch::kInt64);
    const auto sentences = torch::empty({N}, torch::kInt64);
    const auto risks = torch::empty({N}, torch::kDouble);
    auto* row = tokens.mutable_data_ptr<std::int64_t>();
    std::int64_t n = 0;
    for (auto b = begin; b < end; ++b) {
      for (const auto& candidate : candidates[b]) {
        *row = first_target[b];
        *std::ranges::copy(candidate.tokens, row + 1).out = eos_id;
        row += tokens.size(1);
        sentences.mutable_data_ptr<std::int64_t>()[n] = static_cast<std::int64_t>(b - begin);
        risks.mutable_data_ptr<double>()[n++] = candidate.risk;
      }
    }
    const auto device = batch.source.device();
    parts.push_back({batch.range(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)),
                     to_device(tokens, device), to_device(sentences, device),
                     to_device(risks, device)});
  }
  return parts;
}

StepLoss MinimumRisk::loss(Seq2Seq& model, const CandidateBatch& candidates) const {
  const auto& [batch, tokens, sentences, risks] = candidates;
  const auto alpha = options_.minimum_risk.alpha;
  const auto weight = options_.minimum_risk.likelihood_weight;
  const auto encoded = model.encode(batch.source);
  Loss references;
  {
    const torch::AutoGradMode wants_gradient(weight > 0);
    references = encoded_loss(model, batch, encoded, options_.label_smoothing);
  }
  const auto N = tokens.size(0);
  const auto T = tokens.size(1) - 1;
  const auto encoded_rows = encoded.select(sentences);
  const auto decoded = model.decode(tokens.narrow(1, 0, T), encoded_rows);
  const Targets targets(tokens.narrow(1, 1, T));
  const auto nll =
      model.output_layer().target_nll(decoded, encoded_rows, targets).to(torch::kDouble);
  const auto log_p = -torch::zeros({N * T}, nll.options())
                          .index_copy(0, targets.positions, nll)
                          .view({N, T})
                          .sum(1);  // [N]
  const auto risk = expected_risk(log_p, risks, sentences, batch.size(), alpha).sum();
  auto objective = risk / alpha;
  if (const auto& penalty = decoded.attention_loss.penalty; penalty.defined()) {
    const auto real = tokens.narrow(1, 1, T).ne(pad_id);
    const auto candidates_of = torch::bincount(sentences, {}, batch.size());  // [B]
    const auto of_rows = (penalty * real).sum(1).to(torch::kDouble);          // [N]
    objective = objective + (of_rows / candidates_of.index_select(0, sentences)).sum();
  }
  if (weight > 0) objective = objective + weight * references.objective;
  return {{objective, references.nll}, risk.detach()};
}

}  // namespace regard
