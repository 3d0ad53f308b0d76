// Converts configurations of Marian (Junczys-Dowmunt et al. 2018).
#include <algorithm>
#include <string>
#include <string_view>

#include "config/foreign_config.h"

namespace regard {
namespace {

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
    const auto sizes = entries("dim-vocabs");
    put("data.tokenizer.vocabulary_size", sizes.empty() || leading_number(sizes[0]) < 1
                                              ? (has_pieces ? "32000" : "10000000")
                                              : sizes[0]);
    file_.mark_read("dim-vocabs");
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
    const auto warmup = leading_number(file_.take("lr-warmup", "0"));
    const auto half = leading_number(file_.take("lr-decay-inv-sqrt", "0"));
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
    if (const auto steps = leading_number(file_.take("after-batches", "0")); steps > 0)
      put_integer("training.max_steps", steps);
    if (const auto epochs = leading_number(file_.take("after-epochs", "0")); epochs > 0)
      put_integer("training.epochs", epochs);
    const auto after = file_.take("after", "0e");
    if (leading_number(after) > 0) {
      put_integer(after.ends_with('u') ? "training.max_steps" : "training.epochs",
                  leading_number(after));
    }
    const auto every = file_.take("valid-freq", "10000u");
    put_integer("training.validation_every", leading_number(every));
    put("training.validation_unit", every.ends_with('e') ? "epochs" : "steps");
    const auto patience = file_.take_number("early-stopping", 10);
    if (file_.has("valid-sets")) put_integer("training.patience", patience);
    const auto metrics = entries("valid-metrics");
    const auto metric = metrics.empty() ? "cross-entropy" : metrics[0];
    const bool is_known = metric == "bleu" || metric == "chrf" || metric == "perplexity";
    put("training.early_stopping_metric", is_known ? metric : "loss");
    if (metrics.size() > 1)
      file_.note("valid-metrics", "the first metric stops training; all are recorded");
    if (const auto every_log = leading_number(file_.take("disp-freq", "1000")); every_log > 0) {
      put_integer("training.logging_every", every_log);
    }
    put_integer("search.beam_size", file_.take_number("beam-size", 12));
    const auto alpha = file_.take("normalize", "0");
    put("search.beam_alpha",
        alpha == "true" ? 1.0 : leading_number(alpha == "false" ? "0" : alpha));
    put("search.length_penalty", "power");
  }
};

}  // namespace

Converted convert_marian(std::string_view text, const std::string& name) {
  return MarianConversion(text, name).run();
}

}  // namespace regard
