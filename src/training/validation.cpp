#include "training/validation.h"

#include <torch/utils.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "base/strings.h"
#include "data/batch_sampler.h"
#include "decoding/score_targets.h"
#include "kernels/device.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "report/progress.h"
#include "translation/translator.h"

namespace regard {
namespace {

// Puts the model into evaluation mode for its lifetime, then back into training mode.
class EvaluationMode {
 public:
  explicit EvaluationMode(Seq2Seq& model) : model_(model) { model_.eval(); }
  ~EvaluationMode() { model_.train(); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  Seq2Seq& model_;
};

}  // namespace

Validator::Validator(const Options& options, Corpus dev, torch::Device device, ThreadPool& pool)
    : options_(options),
      dev_(std::move(dev)),
      device_(device),
      pool_(pool),
      batch_size_(options.testing.batch_size) {
  for (std::int64_t i = 0; i < dev_.size(); ++i) {
    sources_.emplace_back(dev_.source_text(i));
    references_.emplace_back(dev_.target_text(i));
  }
}

double Validator::loss(Seq2Seq& model, const ValidationHooks& hooks,
                       kernels::PackedWeights& packed) const {
  const auto plan = plan_by_length(dev_, {batch_size_, BatchType::sentence});
  std::vector<double> nll(static_cast<std::size_t>(plan.batches()));
  std::vector<std::int64_t> tokens(nll.size());
  const auto score_batch = [&](std::size_t i, std::size_t /*end*/) {
    if (hooks.cancelled && hooks.cancelled()) throw CancelledSearch();
    const auto batch = make_batch(dev_, plan.batch(static_cast<std::int64_t>(i))).to(device_);
    for (const auto& target : score_targets(model, batch.source, batch.source_lengths,
                                            {batch.target}, /*want_weights=*/false, packed)) {
      nll[i] -= target.log_probability;
    }
    tokens[i] = batch.target_tokens;
  };
  parallel_for_ranges(pool_, nll.size(), 1, score_batch, [&](std::int64_t) {
    if (hooks.after_batch) hooks.after_batch();
  });
  return std::accumulate(nll.begin(), nll.end(), 0.0) /
         static_cast<double>(std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0}));
}

std::optional<Validation> Validator::validate(const std::shared_ptr<Seq2Seq>& model,
                                              const ValidationHooks& hooks) {
  for (;;) {
    try {
      const EvaluationMode guard(*model);
      return validate_once(model, hooks);
    } catch (const CancelledSearch&) {
      return std::nullopt;
    } catch (const std::exception& error) {
      if (!is_out_of_memory(error)) throw;
      if (batch_size_ == 1) {
        throw EnvironmentError("validation: not enough memory for a single sentence");
      }
      batch_size_ = std::max<std::int64_t>(1, std::min(batch_size_, dev_.size()) / 2);
      log::warning(
          "validation: not enough memory; continuing with batches of {}. Set "
          "testing.batch_size lower to avoid this",
          counted(batch_size_, "sentence"));
    }
  }
}

Validation Validator::validate_once(const std::shared_ptr<Seq2Seq>& model,
                                    const ValidationHooks& hooks) const {
  const auto start = std::chrono::steady_clock::now();
  Validation validation;
  const Translator translator(model, dev_.tokenizers(), device_, pool_,
                              kernels::find_precision("auto", device_));
  validation.scores.loss = loss(*model, hooks, translator.packed_weights());
  validation.scores.perplexity = std::exp(validation.scores.loss);

  auto search = search_options(options_.testing);
  search.beam_size = options_.testing.validation_beam_size;
  search.beam_groups = 1;  // testing.beam_groups need not divide this beam size
  search.samples = 0;      // scores of samples would depend on chance
  search.cancelled = hooks.cancelled;
  DecodingReporter reporter("validating", dev_.size());
  const auto progress = [&](std::int64_t done) {
    reporter.update(done);
    if (hooks.after_batch) hooks.after_batch();
  };
  for (auto& translation : translator.translate(sources_, search, batch_size_, progress)) {
    validation.translations.push_back(std::move(translation.text));
  }
  validation.scores.bleu = corpus_bleu(validation.translations, {references_}).score;
  validation.scores.chrf = corpus_chrf(validation.translations, {references_});
  validation.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return validation;
}

}  // namespace regard
