#include "training/validation.h"

#include <chrono>
#include <cmath>
#include <utility>

#include "data/batches.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "report/progress.h"
#include "training/batch_loss.h"
#include "translation/translator.h"

namespace regard {

Validator::Validator(const Options& options, Corpus dev, torch::Device device)
    : options_(options), dev_(std::move(dev)), device_(device) {
  for (std::int64_t i = 0; i < dev_.size(); ++i) {
    sources_.emplace_back(dev_.source_text(i));
    references_.emplace_back(dev_.target_text(i));
  }
}

double Validator::loss(Seq2Seq& model) const {
  const torch::InferenceMode guard;
  const auto plan = plan_in_order(dev_, {options_.testing.batch_size, BatchType::sentence});
  double nll = 0;
  std::int64_t tokens = 0;
  for (std::int64_t i = 0; i < plan.batches(); ++i) {
    const auto batch = make_batch(dev_, plan.batch(i)).to(device_);
    nll += batch_loss(model, batch, /*label_smoothing=*/0).nll.item<double>();
    tokens += batch.target_tokens;
  }
  return nll / static_cast<double>(tokens);
}

Validation Validator::validate(const std::shared_ptr<Seq2Seq>& model) const {
  const auto start = std::chrono::steady_clock::now();
  model->eval();
  Validation validation;
  validation.scores.loss = loss(*model);
  validation.scores.perplexity = std::exp(validation.scores.loss);

  auto search = search_options(options_.testing);
  search.beam_size = options_.testing.validation_beam_size;
  const Translator translator(model, dev_.tokenizers(), device_);
  DecodingReporter reporter("validating", dev_.size());
  for (auto& translation :
       translator.translate(sources_, search, options_.testing.batch_size,
                            [&](std::int64_t done) { reporter.update(done); })) {
    validation.translations.push_back(std::move(translation.text));
  }
  validation.scores.bleu = corpus_bleu(validation.translations, {references_}).score;
  validation.scores.chrf = corpus_chrf(validation.translations, {references_});
  model->train();
  validation.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return validation;
}

}  // namespace regard
