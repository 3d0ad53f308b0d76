// Converts configurations of Marian (Junczys-Dowmunt et al. 2018).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "config/foreign_config.h"

namespace regard {
namespace {

// A number of Marian with its unit.
struct Quantity {
  double number = 0;
  char unit = 'u';  // u: updates, t: target tokens, e: epochs
};

// Parses "5000u", "10Ku", "1Gt" or "3e"; a number without a unit counts updates.
std::optional<Quantity> parse_quantity(std::string_view text) {
  const auto take_letter = [&text](std::string_view letters) {
    if (text.empty() || letters.find(text.back()) == std::string_view::npos) return '\0';
    const char letter = text.back();
    text.remove_suffix(1);
    return letter;
  };
  const char unit = take_letter("ute");
  const char prefix = take_letter("kKMG");
  const auto number = parse_number<double>(text);
  if (!number || !std::isfinite(*number)) return std::nullopt;
  const double factor = prefix == 'G' ? 1e9 : prefix == 'M' ? 1e6 : prefix == '\0' ? 1 : 1e3;
  return Quantity{factor * *number, unit == '\0' ? 'u' : unit};
}

class MarianConversion : private ForeignConversion {
 public:
  MarianConversion(std::string_view text, const std::string& name)
      : ForeignConversion(text, name) {}

  Converted run() {
    data();
    model();
    training();
    return finish(
        {{"vocabs", {own_vocabulary}},
         {"dim-vocabs", {"data.tokenizer.vocabulary_size is the size"}},
         {"devices", {"regard has `device`"}},
         {"workspace", {}},
         {"mini-batch-fit", {"regard has no automatic size: set training.batch_size", "false"}},
         {"maxi-batch", {}},
         {"valid-translation-output", {"regard keeps the translations of each validation"}},
         {"valid-log", {"validations.tsv"}},
         {"log", {"train.log"}},
         {"keep-best", {"regard keeps the best models: training.keep_best"}},
         {"overwrite", {}},
         {"save-freq", {}},
         {"quiet", {}},
         {"sync-sgd", {"regard always does", "true"}},
         {"tempdir", {}},
         {"guided-alignment", {"regard does not train on given alignments"}},
         {"precision", {"regard has training.precision"}},
         {"fp16", {"regard has training.precision: bf16", "false"}}});
  }

 private:
  void data() {
    for (const std::string part : {"train", "valid"}) {
      const auto files = entries(part + "-sets");
      const std::string to = part == "train" ? "data.train.0." : "data.dev.";
      if (files.size() >= 2) {
        put_text(to + "src", files[0]);
        put_text(to + "trg", files[1]);
      }
      if (files.size() > 2)
        file_.note(part + "-sets", "regard has one source: the first two files");
    }
    const auto vocabularies = entries("vocabs");
    const bool has_pieces = vocabularies.size() == 2 && vocabularies[0].ends_with(".spm");
    put("data.tokenizer.kind", has_pieces ? "unigram" : "word");
    if (has_pieces) {
      const bool is_joint = vocabularies[0] == vocabularies[1];
      if (is_joint) put_flag("data.tokenizer.joint", true);
      file_.note("vocabs",
                 "if the models exist, name them in data.tokenizer.src_file and trg_file");
    } else {
      file_.note("vocabs", own_vocabulary);
    }
    std::vector<double> sizes;
    for (const auto& size : entries("dim-vocabs")) sizes.push_back(leading_number(size));
    const bool is_limited = !sizes.empty() && std::ranges::min(sizes) >= 1;  // 0 is no limit
    const double size = is_limited ? std::ranges::max(sizes) : has_pieces ? 32'000 : 10'000'000;
    put_integer("data.tokenizer.vocabulary_size", size);
    if (sizes.size() > 1 && sizes.front() != sizes.back()) {
      file_.note("dim-vocabs", fmt::format("regard has one value for both sides, here {}", size));
    }
    if (const auto longest = file_.take_number("max-length", 50); longest > 0) {
      put_integer("data.max_length", longest);
    }
  }

  void model() {
    const auto type = file_.take_lower("type", "amun");
    const bool is_transformer = type == "transformer";
    const bool is_known = is_transformer || type == "s2s" || type == "amun" || type == "nematus";
    if (!is_known) file_.note("type", "regard has the likes of s2s and transformer; s2s is used");
    const auto embedding = file_.take_number("dim-emb", 512);
    const auto width = is_transformer ? embedding : file_.take_number("dim-rnn", 1024);
    if (is_transformer) file_.mark_read("dim-rnn");
    for (const std::string side : {"encoder", "decoder"}) {
      const auto to = "model." + side + ".";
      put(to + "kind", is_transformer ? "transformer" : "recurrent");
      put_integer(to + "layers",
                  file_.take_number(side == "encoder" ? "enc-depth" : "dec-depth", 1));
      put_integer(to + "embedding_dim", embedding);
      put_integer(to + "hidden_size", width);
      if (is_transformer) transformer(to);
    }
    if (is_transformer) {
      put_dropout(file_.take_number("transformer-dropout", 0),
                  file_.take_number("transformer-dropout-attention", 0), 0);
    } else {
      recurrent(width);
      const auto dropout = file_.take_number("dropout-rnn", 0);
      put_dropout(dropout, 0, dropout);
      put("model.dropout.embeddings", 0.0);
    }
    const auto tokens =
        std::max(file_.take_number("dropout-src", 0), file_.take_number("dropout-trg", 0));
    if (tokens > 0) put("model.dropout.tokens", tokens);
    const bool all = file_.take_flag("tied-embeddings-all", false);
    const bool source = file_.take_flag("tied-embeddings-src", false);
    put_tied(all || source, all || file_.take_flag("tied-embeddings", false),
             "tied-embeddings-src");
  }

  void transformer(const std::string& to) {
    put_integer(to + "heads", file_.take_number("transformer-heads", 8));
    put_integer(to + "feed_forward_size", file_.take_number("transformer-dim-ffn", 2048));
    const bool is_pre = file_.take("transformer-preprocess", "").find('n') != std::string::npos;
    put(to + "norm", is_pre ? "pre" : "post");
    file_.mark_read("transformer-postprocess");
    if (file_.take_flag("transformer-train-position-embeddings", false))
      put(to + "position", "learned");
    if (file_.take_lower("transformer-ffn-activation", "swish") != "relu") {
      file_.note("transformer-ffn-activation", "regard uses relu");
    }
    if (file_.take_lower("transformer-decoder-autoreg", "self-attention") != "self-attention") {
      file_.note("transformer-decoder-autoreg", "regard has self-attention");
    }
  }

  void recurrent(double width) {
    const auto cell = file_.take_lower("enc-cell", "gru");
    if (file_.take_lower("dec-cell", "gru") != cell) {
      file_.note("dec-cell", "regard has one value for both sides, here that of the encoder");
    }
    put_both("cell", cell == "lstm" ? "lstm" : cell == "tanh" ? "tanh" : "gru");
    if (cell != "lstm" && cell != "gru" && cell != "tanh")
      file_.note("enc-cell", "regard has gru, lstm and tanh; gru is used");
    put("model.decoder.query", "between");
    put("model.decoder.initial_state", "mean");
    put("model.attention.kind", "additive");
    put_integer("model.attention.size", width);
    copy("dim-emb", "model.decoder.readout_size");
    if (file_.take_flag("skip", false)) {
      put_flag("model.encoder.residual", true);
      put_flag("model.decoder.residual", true);
    }
    if (file_.take_flag("layer-normalization", false)) {
      file_.note("layer-normalization", "regard normalises the outputs of layers");
      put_flag("model.encoder.layer_norm", true);
      put_flag("model.decoder.layer_norm", true);
    }
  }

  void training() {
    if (const auto model = file_.take("model")) {
      const auto folder = model->substr(0, model->find_last_of('/'));
      put_text("training.model_dir", folder.empty() || folder == *model ? "runs/marian" : folder);
    }
    if (const auto seed = file_.take_number("seed", 0); seed > 0)
      put_integer("training.random_seed", seed);
    const auto words = file_.take_number("mini-batch-words", 0);
    put_integer("training.batch_size", words > 0 ? words : file_.take_number("mini-batch", 64));
    if (words > 0) file_.mark_read("mini-batch");
    put("training.batch_type", words > 0 ? "token" : "sentence");
    if (const auto delay = file_.take_number("optimizer-delay", 1); delay > 1) {
      put_integer("training.gradient_accumulation", delay);
    }
    put_optimizer("optimizer", file_.take_lower("optimizer", "adam"));
    const auto betas = entries("optimizer-params");
    if (betas.size() >= 2) {
      put("training.adam_beta1", betas[0]);
      put("training.adam_beta2", betas[1]);
    }
    if (betas.size() >= 3) put("training.epsilon", betas[2]);
    put("training.clip_grad_norm", file_.take_number("clip-norm", 1));
    copy("label-smoothing", "training.label_smoothing");
    const auto smoothing = file_.take("exponential-smoothing", "0");
    const auto decay =
        smoothing == "true" ? 1e-4 : leading_number(smoothing == "false" ? "0" : smoothing);
    if (decay > 0) put("training.moving_average", 1 - decay);
    const auto rate = file_.take_number("learn-rate", 1e-4);
    const auto warmup = take_quantity("lr-warmup", {0, 'u'}, "u").number;
    const auto half = take_quantity("lr-decay-inv-sqrt", {0, 'u'}, "u").number;
    if (half > 0) {
      // The rate falls from the step of lr-decay-inv-sqrt on, in regard from the end of the
      // warm-up.
      if (half != warmup)
        file_.note("lr-decay-inv-sqrt", "regard's rate falls from the end of the warm-up on");
      put_inverse_square_root(rate, warmup > 0 ? warmup : half);
    } else {
      put("training.learning_rate", rate);
      if (warmup > 0) put_integer("training.warmup_steps", warmup);
    }
    if (const auto steps = file_.take_number("after-batches", 0); steps > 0)
      put_integer("training.max_steps", steps);
    if (const auto epochs = file_.take_number("after-epochs", 0); epochs > 0)
      put_integer("training.epochs", epochs);
    if (const auto after = take_quantity("after", {0, 'e'}, "ue"); after.number > 0) {
      put_integer(after.unit == 'u' ? "training.max_steps" : "training.epochs", after.number);
    }
    const auto every = take_quantity("valid-freq", {10'000, 'u'}, "ue");
    put_integer("training.validation_every", every.number);
    put("training.validation_unit", every.unit == 'u' ? "steps" : "epochs");
    const auto patience = file_.take_number("early-stopping", 10);
    if (file_.has("valid-sets")) put_integer("training.patience", patience);
    stopping_metric();
    if (const auto log = take_quantity("disp-freq", {1000, 'u'}, "u"); log.number > 0) {
      put_integer("training.logging_every", log.number);
    }
    put_integer("search.beam_size", file_.take_number("beam-size", 12));
    const auto alpha = file_.take("normalize", "0");
    put("search.beam_alpha",
        alpha == "true" ? 1.0 : leading_number(alpha == "false" ? "0" : alpha));
    put("search.length_penalty", "power");
  }

  void stopping_metric() {
    const auto metrics = entries("valid-metrics");
    auto metric = metrics.empty() ? "cross-entropy" : metrics[0];
    if (metric == "translation") {
      file_.note("valid-metrics", "regard runs no script; bleu is used");
      metric = "bleu";
    } else if (metric.starts_with("bleu-")) {  // bleu-detok, bleu-segmented
      metric = "bleu";
    } else if (metric == "cross-entropy" || metric == "ce-mean-words") {
      metric = "loss";
    } else if (metric != "bleu" && metric != "chrf" && metric != "perplexity") {
      file_.note("valid-metrics", "regard has no such metric; loss is used");
      metric = "loss";
    }
    put("training.early_stopping_metric", metric);
    if (metrics.size() > 1)
      file_.note("valid-metrics", "the first metric stops training; all are recorded");
  }

  // Returns the first number of a key. Adds a note and returns `fallback` for other text and for a
  // unit that is not in `units`.
  Quantity take_quantity(const std::string& key, const Quantity& fallback, std::string_view units) {
    const auto values = entries(key);
    if (values.empty()) return fallback;
    const auto quantity = parse_quantity(values[0]);
    if (quantity && units.find(quantity->unit) != std::string_view::npos) return *quantity;
    file_.note(key, fmt::format("expected a number of updates (u){}; Marian's default is used",
                                units == "u" ? "" : " or epochs (e)"));
    return fallback;
  }
};

}  // namespace

Converted convert_marian(std::string_view text, const std::string& name) {
  return MarianConversion(text, name).run();
}

}  // namespace regard
