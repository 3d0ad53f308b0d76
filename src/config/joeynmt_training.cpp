#include <algorithm>
#include <cmath>

#include "config/joeynmt_conversion.h"

namespace regard {

void Conversion::training() {
  const auto folder = joey_.take("training.model_dir");
  put_text("training.model_dir", joey_.take("model_dir", folder.value_or("")));
  carry("random_seed", "training.random_seed", joey_.take("training.random_seed", "42"));
  carry("training.epochs", "training.epochs", "3");
  if (const auto updates = joey_.take("training.updates")) put("training.max_steps", *updates);
  carry("training.batch_size", "training.batch_size", "64");
  put("training.batch_type", joey_.take_lower("training.batch_type", "sentence"));
  carry("training.batch_multiplier", "training.gradient_accumulation", "1");
  carry("training.label_smoothing", "training.label_smoothing", "0");
  auto optimizer = joey_.take_lower("training.optimizer", "adam");
  if (optimizer != "adam" && optimizer != "adamw" && optimizer != "sgd" &&
      optimizer != "adadelta") {
    joey_.note("training.optimizer", "regard has adam, adamw, sgd and adadelta; adam is taken");
    optimizer = "adam";
  }
  put("training.optimizer", optimizer);
  const auto betas = joey_.take("training.adam_betas", "0.9, 0.999");
  if (const auto comma = betas.find(", ");
      optimizer.starts_with("adam") && comma != std::string::npos) {
    put("training.adam_beta1", betas.substr(0, comma));
    put("training.adam_beta2", betas.substr(comma + 2));
  }
  if (optimizer == "sgd") carry("training.momentum", "training.momentum", "0");
  carry("training.weight_decay", "training.weight_decay", "0");
  carry("training.clip_grad_norm", "training.clip_grad_norm", "0");
  joey_.take("training.loss");
  if (!joey_.take_flag("training.shuffle", true))
    joey_.note("training.shuffle", "regard always shuffles");
  schedule();
  validation();
}

void Conversion::schedule() {
  const auto name = joey_.take_lower("training.scheduling", "constant");
  auto rate = joey_.take_number("training.learning_rate", 0.005);
  const auto least = joey_.take_number("training.learning_rate_min", 0.0001);
  const auto warmup = joey_.take_number("training.learning_rate_warmup", 4000);
  const auto factor = joey_.take_number("training.learning_rate_factor", 1);
  const auto patience = joey_.take("training.patience", "5");
  const auto decrease = joey_.take("training.decrease_factor", "0.5");
  if (name == "plateau") {
    put("training.scheduling", name);
    put("training.decrease_factor", decrease);
    put("training.decrease_patience", patience);
    put("training.learning_rate_min", least);
  } else if (name == "noam" || name == "warmupinversesquareroot") {
    put("training.scheduling", "inverse_square_root");
    put_whole("training.warmup_steps", warmup);
    if (name == "noam") {
      // factor · D^−½ · min(t^−½, t · warmup^−3/2) is at its peak where t is warmup.
      const auto width = joey_.take_number("model.encoder.hidden_size", 512);
      rate = factor / std::sqrt(width * std::max(1.0, warmup));
      rate = std::round(rate * 1e7) / 1e7;
    } else {
      rate = joey_.take_number("training.learning_rate_peak", rate);
    }
  } else if (name != "constant") {
    joey_.note("training.scheduling",
               "regard has constant, plateau, inverse_square_root, exponential and cosine; it "
               "stays constant");
  }
  if (name != "plateau") {
    joey_.note("training.learning_rate_min", "regard ends at a least rate under plateau only");
  }
  put("training.learning_rate", rate);
}

void Conversion::validation() {
  carry("training.validation_freq", "training.validation_every", "1000");
  carry("training.logging_freq", "training.logging_every", "100");
  const auto metric = joey_.take_lower("training.early_stopping_metric", "ppl");
  if (metric == "acc")
    joey_.note("training.early_stopping_metric",
               "regard has loss, perplexity, bleu and chrf; loss is taken");
  put("training.early_stopping_metric", metric == "ppl"   ? "perplexity"
                                        : metric == "acc" ? "loss"
                                                          : metric);
  const auto shown = joey_.take("training.print_valid_sents", "0, 1, 2");
  put_whole("training.show_examples",
            shown.empty() ? 0.0 : 1.0 + static_cast<double>(std::ranges::count(shown, ',')));
  const auto kept = joey_.take_number("training.keep_best_ckpts",
                                      joey_.take_number("training.keep_last_ckpts", 5));
  if (kept < 1) {
    joey_.note("training.keep_best_ckpts", "regard keeps 1000 then");
  }
  put_whole("training.keep_best", kept < 1 ? 1000 : kept);
}

void Conversion::testing() {
  const auto alpha =
      joey_.take_number("testing.beam_alpha", joey_.take_number("testing.alpha", -1));
  carry("testing.beam_size", "testing.beam_size", "1");
  put("testing.beam_alpha", std::max(0.0, alpha));
  if (joey_.take_lower("testing.batch_type", "sentence") == "sentence") {
    carry("testing.batch_size", "testing.batch_size", "64");
  } else {
    joey_.note("testing.batch_type", "regard's counts sentences");
    joey_.take("testing.batch_size");
  }
  if (const auto longest = joey_.take_number("testing.max_output_length", -1); longest > 0) {
    put_whole("testing.max_output_length", longest);
  }
  if (const auto least = joey_.take_number("testing.min_output_length", 1); least > 1) {
    put_whole("testing.min_output_length", least);
  }
  if (const auto penalty = joey_.take_number("testing.repetition_penalty", -1); penalty > 0) {
    put("testing.repetition_penalty", penalty);
  }
  if (const auto n = joey_.take_number("testing.no_repeat_ngram_size", -1); n > 0) {
    put_whole("testing.no_repeat_ngram", n);
  }
  if (!joey_.take_flag("testing.generate_unk", true))
    joey_.note("testing.generate_unk", "regard's search may say <unk>");
}

}  // namespace regard
