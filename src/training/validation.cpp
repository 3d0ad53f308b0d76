#include "training/validation.h"

#include <torch/utils.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/process.h"
#include "base/strings.h"
#include "data/batch_sampler.h"
#include "decoding/score_targets.h"
#include "kernels/device.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/metric_factory.h"
#include "report/progress.h"
#include "translation/translator.h"

namespace regard {
namespace {

// The noise of a validation does not depend on the seed of the run, so that runs can be compared.
constexpr std::uint64_t noise_seed = 1;

}  // namespace

Validator::Validator(const Options& options, Corpus dev, torch::Device device, ThreadPool& pool,
                     ProcessGroup& group)
    : options_(options),
      noise_(options),
      dev_(std::move(dev)),
      device_(device),
      pool_(pool),
      group_(group),
      batch_size_(options.search.batch_size) {
  for (std::int64_t i = 0; i < dev_.size(); ++i) {
    sources_.emplace_back(dev_.pair(i).source_text);
    references_.emplace_back(dev_.pair(i).target_text);
    if (is_own(i)) own_.push_back(sources_.back());
  }
}

bool Validator::is_own(std::int64_t i) const {
  return static_cast<std::size_t>(i) % group_.size() == group_.rank();
}

Validator::Share Validator::nll(Seq2Seq& model, const std::function<bool()>& cancelled,
                                kernels::PackedWeights& packed) const {
  const auto plan = plan_by_length(dev_, {batch_size_, BatchType::sentence});
  std::vector<double> nll(static_cast<std::size_t>(plan.batches()));
  std::vector<std::int64_t> tokens(nll.size());
  parallel_for(pool_, nll.size(), [&](std::size_t i) {
    if (cancelled()) throw CancelledSearch();
    const auto planned = plan.batch(static_cast<std::int64_t>(i));
    std::vector<std::int64_t> pairs;
    std::ranges::copy_if(planned, std::back_inserter(pairs),
                         [&](std::int64_t pair) { return is_own(pair); });
    if (pairs.empty()) return;
    const auto batch = noise_.batch(dev_, pairs, noise_seed).to(device_);
    tokens[i] = batch.target_tokens;
    if (batch.masked.defined()) {
      const auto log_p =
          score_masked_tokens(model, batch.source, batch.masked, batch.target_output(), packed);
      nll[i] = -log_p.sum().item<double>();
      return;
    }
    for (const auto& target :
         score_targets(model, batch.source, {batch.target}, /*want_weights=*/false, packed)) {
      nll[i] -= target.log_probability;
    }
  });
  return {.nll = std::accumulate(nll.begin(), nll.end(), 0.0),
          .tokens = std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0})};
}

std::optional<Validation> Validator::validate(const std::shared_ptr<Seq2Seq>& model,
                                              const std::function<bool()>& cancelled) {
  const auto start = std::chrono::steady_clock::now();
  auto validation = together(share_in_memory(model, cancelled));
  if (validation) {
    validation->seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return validation;
}

std::optional<Validator::Share> Validator::share_in_memory(const std::shared_ptr<Seq2Seq>& model,
                                                           const std::function<bool()>& cancelled) {
  for (;;) {
    try {
      const EvaluationMode guard(*model);
      return share(model, cancelled);
    } catch (const CancelledSearch&) {
      return std::nullopt;
    } catch (const std::exception& error) {
      if (!is_out_of_memory(error)) throw;
      if (batch_size_ == 1) {
        throw EnvironmentError("validation: not enough memory for a single sentence");
      }
      batch_size_ = std::max<std::int64_t>(1, std::min(batch_size_, dev_.size()) / 2);
      log::warning(
          "validation: not enough memory; continuing with batches of {}. Set search.batch_size "
          "lower to avoid this",
          counted(batch_size_, "sentence"));
    }
  }
}

Validator::Share Validator::share(const std::shared_ptr<Seq2Seq>& model,
                                  const std::function<bool()>& cancelled) const {
  const Translator translator(model, dev_.codec(), device_, pool_,
                              kernels::find_precision("auto", device_));
  auto share = nll(*model, cancelled, translator.packed_weights());
  if (!translates()) return share;

  auto search = search_request(options_.search);
  search.beam_size = options_.search.validation_beam_size;
  search.beam_groups = 1;  // search.beam_groups need not divide this beam size
  search.samples = 0;      // scores of samples would depend on chance
  search.mbr = MbrMetric::none;
  search.cancelled = cancelled;
  DecodingReporter reporter("validating", static_cast<std::int64_t>(own_.size()));
  const auto progress = [&](std::int64_t done) { reporter.update(done); };
  for (auto& translation : translator.translate(own_, search, batch_size_, progress)) {
    share.translations.push_back(std::move(translation.text));
  }
  return share;
}

std::optional<Validation> Validator::together(std::optional<Share> own) const {
  const auto sums = group_.sum(
      {own ? 0.0 : 1.0, own ? own->nll : 0.0, own ? static_cast<double>(own->tokens) : 0.0});
  if (sums[0] > 0) return std::nullopt;

  Validation validation;
  if (!translates() || group_.is_alone()) {
    validation.translations = std::move(own->translations);
  } else {
    validation.translations.resize(sources_.size());
    const auto shares = group_.gather(to_text(Json(own->translations)));
    for (std::size_t rank = 0; rank < shares.size(); ++rank) {
      auto line = rank;
      for (const auto& text : parse_json(shares[rank])) {
        validation.translations[line] = text.get<std::string>();
        line += shares.size();
      }
    }
  }
  auto& scores = validation.scores;
  scores.loss = sums[1] / sums[2];
  scores.perplexity = std::exp(scores.loss);
  scores.bleu = scores.chrf = std::numeric_limits<double>::quiet_NaN();
  if (translates()) {
    scores.bleu = corpus_score(Bleu(), validation.translations, {references_});
    scores.chrf = corpus_score(Chrf(), validation.translations, {references_});
    if (const auto selects = options_.training.early_stopping_metric; is_optional(selects)) {
      score_at(scores, selects) = corpus_score(*make_metric(enum_name(selects), {}),
                                               validation.translations, {references_});
    }
  }
  // All take those of rank 0: the last digit could differ between processors.
  for (const auto member : score_members) {
    group_.broadcast(torch::from_blob(&(scores.*member), {1}, torch::kDouble));
  }
  return validation;
}

}  // namespace regard
