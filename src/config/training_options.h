// Section `training`: training loop, optimizer, validation and checkpoints.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/field.h"

namespace regard {

enum class BatchType { token, sentence };
constexpr std::array<std::string_view, 2> enum_names(BatchType) {
  return {"token", "sentence"};
}

enum class OptimizerKind { adam, adamw, sgd, adadelta };
constexpr std::array<std::string_view, 4> enum_names(OptimizerKind) {
  return {"adam", "adamw", "sgd", "adadelta"};
}

enum class ScheduleKind { constant, plateau, inverse_square_root, exponential, cosine };
constexpr std::array<std::string_view, 5> enum_names(ScheduleKind) {
  return {"constant", "plateau", "inverse_square_root", "exponential", "cosine"};
}

enum class ValidationUnit { steps, epochs };
constexpr std::array<std::string_view, 2> enum_names(ValidationUnit) {
  return {"steps", "epochs"};
}

enum class Metric { loss, perplexity, bleu, chrf, wer, cer, exact };
constexpr std::array<std::string_view, 7> enum_names(Metric) {
  return {"loss", "perplexity", "bleu", "chrf", "wer", "cer", "exact"};
}

// The objective that training minimises (training/training_loss.h, training/minimum_risk.h).
enum class Objective { likelihood, minimum_risk };
constexpr std::array<std::string_view, 2> enum_names(Objective) {
  return {"likelihood", "minimum_risk"};
}

// The metric of a sentence whose complement is the risk of a translation.
enum class RiskMetric { bleu, chrf };
constexpr std::array<std::string_view, 2> enum_names(RiskMetric) {
  return {"bleu", "chrf"};
}

// The precision of the factors of matrix products. Sums, weights and everything else are fp32.
enum class TrainingPrecision { automatic, fp32, tf32, bf16 };
constexpr std::array<std::string_view, 4> enum_names(TrainingPrecision) {
  return {"auto", "fp32", "tf32", "bf16"};
}

// The use of step graphs on a GPU (training/step_graphs.h).
enum class StepGraphMode { automatic, off };
constexpr std::array<std::string_view, 2> enum_names(StepGraphMode) {
  return {"auto", "off"};
}

// A factor of the learning rate of some parameters.
struct LearningRateOptions {
  std::string parameters;
  double factor = 1;

  static constexpr auto fields = std::tuple{
      field("parameters", &LearningRateOptions::parameters,
            "pattern of the names of parameters, as in encoder.*; * stands for any text"),
      field("factor", &LearningRateOptions::factor,
            "factor of the learning rate; 0 freezes the parameters", between(0, 1000))};
};

struct MinimumRiskOptions {
  RiskMetric metric = RiskMetric::bleu;
  std::int64_t samples = 20;
  double alpha = 0.005;
  bool include_reference = true;
  double likelihood_weight = 0;

  static constexpr auto fields = std::tuple{
      field("metric", &MinimumRiskOptions::metric,
            "the risk of a translation is 1 minus the BLEU or the chrF of its text, as `regard "
            "evaluate --sentence-level` computes it, from 0 to 1"),
      field("samples", &MinimumRiskOptions::samples,
            "translations sampled for each sentence in each step; equal ones count once. The paper "
            "has 100; the time of a step grows in proportion",
            between(2, 1000)),
      field("alpha", &MinimumRiskOptions::alpha,
            "exponent of the probabilities of the translations before they are normalised: near 0, "
            "all count alike; with 1, in proportion to their probability",
            between(0.00001, 100)),
      field("include_reference", &MinimumRiskOptions::include_reference,
            "add the reference to the sampled translations"),
      field("likelihood_weight", &MinimumRiskOptions::likelihood_weight,
            "also minimise -log P of the reference, with this weight, for stability; 0 is off",
            between(0, 1000))};
};

struct TrainingOptions {
  std::string model_dir;
  std::int64_t random_seed = 42;

  std::int64_t epochs = 0;
  std::int64_t max_steps = 0;
  double max_minutes = 0;
  std::int64_t batch_size = 2048;
  BatchType batch_type = BatchType::token;
  std::int64_t gradient_accumulation = 1;
  std::int64_t shards = 0;
  Objective objective = Objective::likelihood;
  MinimumRiskOptions minimum_risk;
  double label_smoothing = 0.1;
  double r_drop = 0;
  TrainingPrecision precision = TrainingPrecision::automatic;
  StepGraphMode graphs = StepGraphMode::automatic;

  OptimizerKind optimizer = OptimizerKind::adam;
  double learning_rate = 0.001;
  std::vector<LearningRateOptions> learning_rates;
  std::vector<std::string> freeze;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adadelta_rho = 0.95;
  double momentum = 0;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double clip_grad_norm = 1;
  double moving_average = 0;

  ScheduleKind scheduling = ScheduleKind::constant;
  std::int64_t warmup_steps = 0;
  double decrease_factor = 0.5;
  std::int64_t decrease_patience = 2;
  std::int64_t decay_steps = 0;
  double learning_rate_min = 0;

  std::int64_t validation_every = 500;
  ValidationUnit validation_unit = ValidationUnit::steps;
  Metric early_stopping_metric = Metric::bleu;
  std::int64_t patience = 0;
  std::int64_t show_examples = 3;
  std::int64_t logging_every = 100;
  bool tensorboard = false;

  std::int64_t save_every = 0;
  std::int64_t keep_best = 1;
  std::int64_t keep_newest = 1;

  static constexpr auto fields = std::tuple{
      field("model_dir", &TrainingOptions::model_dir, "run folder; runs/NAME if empty"),
      field("random_seed", &TrainingOptions::random_seed,
            "random seed of initial weights, dropout, shuffling and sampling", at_least(0)),
      field("epochs", &TrainingOptions::epochs,
            "stop after this many passes over the data; 0 is no limit", at_least(0)),
      field("max_steps", &TrainingOptions::max_steps, "stop after this many updates; 0 is no limit",
            at_least(0)),
      field("max_minutes", &TrainingOptions::max_minutes,
            "stop after this much training time, validations included, in all sessions together; "
            "the run ends with a validation, which may take longer; 0 is no limit",
            at_least(0)),
      field("batch_size", &TrainingOptions::batch_size, "size of a batch, in tokens or sentences",
            between(1, max_count)),
      field("batch_type", &TrainingOptions::batch_type,
            "unit of batch_size: target tokens with padding, or sentences"),
      field("gradient_accumulation", &TrainingOptions::gradient_accumulation,
            "number of batches whose gradients are summed for one update", between(1, max_count)),
      field("shards", &TrainingOptions::shards,
            "on a CPU, number of parts into which each process divides a batch, for whichever "
            "thread is free. 0: one for each thread. A number makes the results independent of the "
            "number of threads; many small parts are slower, and memory grows with their number",
            between(0, 1024)),
      field("objective", &TrainingOptions::objective,
            "likelihood minimises -log P of the references; minimum_risk fine-tunes a trained "
            "model on the expected risk of its own translations (Shen et al. 2016)"),
      field("minimum_risk", &TrainingOptions::minimum_risk, "the risk and its samples",
            only(Part::minimum_risk)),
      field("label_smoothing", &TrainingOptions::label_smoothing,
            "probability mass spread over the whole vocabulary (Szegedy 2016)", between(0, 0.99)),
      field("r_drop", &TrainingOptions::r_drop,
            "R-Drop (Liang et al. 2021): each sentence is read twice with different dropout, and "
            "this is the weight of the divergence between both predictions; about 5; 0 is off. A "
            "step takes twice as long",
            between(0, 1000)),
      field("precision", &TrainingOptions::precision,
            "precision of the factors of matrix products: fp32, bf16 (processors with AVX512-BF16, "
            "GPUs), tf32 (GPUs), or auto: bf16 on processors where it is faster, tf32 on GPUs that "
            "have it, else fp32"),
      field("graphs", &TrainingOptions::graphs,
            "launch a whole training step of a GPU at once, as a CUDA graph: auto (where a small "
            "model leaves the GPU idle), or off; the numbers are the same"),
      field("optimizer", &TrainingOptions::optimizer, "the update rule"),
      field("learning_rate", &TrainingOptions::learning_rate,
            "learning rate; the peak, if there is a warm-up", between(0, 1000)),
      field("learning_rates", &TrainingOptions::learning_rates,
            "factors of the learning rate for some parameters; if several patterns match, their "
            "factors are multiplied"),
      field("freeze", &TrainingOptions::freeze,
            "patterns of the names of parameters that are not trained, such as [encoder.*]; the "
            "log shows the names"),
      field("adam_beta1", &TrainingOptions::adam_beta1, "adam, adamw: decay of the mean gradient",
            between(0, 0.999999)),
      field("adam_beta2", &TrainingOptions::adam_beta2,
            "adam, adamw: decay of the squared gradient", between(0, 0.999999)),
      field("adadelta_rho", &TrainingOptions::adadelta_rho, "adadelta: decay of both averages",
            between(0, 0.999999)),
      field("momentum", &TrainingOptions::momentum, "sgd: momentum factor", between(0, 0.999999)),
      field("epsilon", &TrainingOptions::epsilon, "adam, adamw, adadelta: added to the denominator",
            between(0, 1)),
      field("weight_decay", &TrainingOptions::weight_decay,
            "L2 penalty (decoupled from the gradient in adamw)", at_least(0)),
      field("clip_grad_norm", &TrainingOptions::clip_grad_norm,
            "maximum norm of the gradient; 0 is off", at_least(0)),
      field("moving_average", &TrainingOptions::moving_average,
            "validate and save an exponential moving average of the weights with this decay; 0 is "
            "off",
            between(0, 0.999999)),
      field("scheduling", &TrainingOptions::scheduling,
            "learning rate schedule; inverse_square_root decays after the warm-up"),
      field("warmup_steps", &TrainingOptions::warmup_steps,
            "number of steps of linear growth from 0, in every schedule", at_least(0)),
      field("decrease_factor", &TrainingOptions::decrease_factor,
            "plateau, exponential: factor of each decrease of the rate", between(0, 1)),
      field("decrease_patience", &TrainingOptions::decrease_patience,
            "plateau: number of validations without improvement before a decrease", at_least(0)),
      field("decay_steps", &TrainingOptions::decay_steps,
            "cosine: steps until the lowest rate (0: max_steps, else the end of the last epoch); "
            "exponential: steps between decreases (0: 1000)",
            at_least(0)),
      field("learning_rate_min", &TrainingOptions::learning_rate_min,
            "minimum learning rate; with plateau, training stops there", at_least(0)),
      field("validation_every", &TrainingOptions::validation_every,
            "steps or epochs between validations", at_least(1)),
      field("validation_unit", &TrainingOptions::validation_unit, "unit of validation_every"),
      field("early_stopping_metric", &TrainingOptions::early_stopping_metric,
            "metric for `best`, patience and plateau"),
      field("patience", &TrainingOptions::patience,
            "stop after this many validations without improvement; with equal scores, a lower "
            "loss is an improvement; 0 is never",
            at_least(0)),
      field("show_examples", &TrainingOptions::show_examples,
            "number of validation sentences to show with their translations", at_least(0)),
      field("logging_every", &TrainingOptions::logging_every, "steps between log lines",
            at_least(1)),
      field("tensorboard", &TrainingOptions::tensorboard,
            "also write the logged values as TensorBoard event files to the run folder"),
      field("save_every", &TrainingOptions::save_every,
            "steps between checkpoints, in addition to one before each validation; 0 is none",
            at_least(0)),
      field("keep_best", &TrainingOptions::keep_best, "number of best checkpoints to keep",
            at_least(1)),
      field("keep_newest", &TrainingOptions::keep_newest, "number of newest checkpoints to keep",
            at_least(1))};
};

}  // namespace regard
