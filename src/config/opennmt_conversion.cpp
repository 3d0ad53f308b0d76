// Converts configurations of OpenNMT-py (Klein et al. 2017).
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "config/foreign_config.h"

namespace regard {
namespace {

class OpenNmtConversion : private ForeignConversion {
 public:
  OpenNmtConversion(std::string_view text, const std::string& name)
      : ForeignConversion(text, name) {}

  Converted run() {
    data();
    model();
    training();
    return finish(
        {{"data.", {"only the first corpus is converted; add others to data.train"}},
         {"src_vocab", {own_vocabulary}},
         {"tgt_vocab", {own_vocabulary}},
         {"src_subword_vocab", {own_vocabulary}},
         {"tgt_subword_vocab", {own_vocabulary}},
         {"transforms", {"regard has data.tokenizer, data.max_length and model.dropout.tokens"}},
         {"world_size", {"regard has `regard train --nproc`; docs/scaling.md", "1"}},
         {"gpu_ranks", {"regard has `device`"}},
         {"model_dtype", {"regard has training.precision", "fp32"}},
         {"save_data", {"`regard prepare` stores a corpus"}},
         {"overwrite", {}},
         {"n_sample", {}},
         {"queue_size", {}},
         {"bucket_size", {}},
         {"valid_batch_size", {"search.batch_size is that of validation"}},
         {"normalization", {"regard's loss is the mean over target tokens", "tokens"}},
         {"param_init", {"regard uses Xavier, and orthogonal recurrent matrices"}},
         {"train_from",
          {"a run resumes by itself; `regard train --init-from` starts from a model"}},
         {"tensorboard", {"regard has training.tensorboard", "false"}}});
  }

 private:
  void data() {
    bool has_corpus = false;
    for (const auto& key : file_.keys()) {
      if (!key.starts_with("data.") || !key.ends_with(".path_src")) continue;
      const auto corpus = key.substr(0, key.size() - std::string_view("path_src").size());
      const bool is_dev = corpus == "data.valid.";
      if (!is_dev && std::exchange(has_corpus, true)) continue;
      const std::string to = is_dev ? "data.dev." : "data.train.0.";
      put_text(to + "src", file_.take(key, ""));
      put_text(to + "trg", file_.take(corpus + "path_tgt", ""));
      if (!is_dev) file_.mark_read(corpus + "weight");  // of one corpus
      file_.mark_read(corpus + "transforms");
    }
    const auto type = file_.take_lower("src_subword_type", "none");
    const auto model = file_.take("src_subword_model");
    put("data.tokenizer.kind", type == "sentencepiece" ? "unigram"
                               : type == "bpe"         ? "bpe"
                               : model                 ? "unigram"
                                                       : "word");
    if (type == "bpe") {
      file_.note("src_subword_type", "regard trains BPE by SentencePiece instead");
    } else if (model) {
      put_text("data.tokenizer.src_file", *model);
      put_text("data.tokenizer.trg_file", file_.take("tgt_subword_model", *model));
    }
    file_.mark_read("tgt_subword_type");
    file_.mark_read("tgt_subword_model");
    const auto size = take_larger({"src_vocab_size", 32768}, {"tgt_vocab_size", 32768});
    put_integer("data.tokenizer.vocabulary_size", size);
    if (file_.take_flag("share_vocab", false)) put_flag("data.tokenizer.joint", true);
    const auto longest = take_larger({"src_seq_length"}, {"tgt_seq_length"});
    if (longest > 0) put_integer("data.max_length", longest);
  }

  void model() {
    const auto encoder = file_.take_lower("encoder_type", "rnn");
    const bool is_transformer = encoder == "transformer";
    if (file_.take_lower("decoder_type", is_transformer ? "transformer" : "rnn") !=
        (is_transformer ? "transformer" : "rnn")) {
      file_.note("decoder_type", "the decoder is converted as the encoder");
    }
    if (!is_transformer && encoder != "rnn" && encoder != "brnn") {
      file_.note("encoder_type", "regard has rnn, brnn and transformer; a recurrent one is used");
    }
    const auto width = first_number({"hidden_size", "rnn_size"}, 500);
    const auto embedding = first_number({"word_vec_size", "src_word_vec_size"}, 500);
    file_.mark_read("tgt_word_vec_size");
    const auto layers = first_number({"layers"}, 2);
    for (const std::string side : {"encoder", "decoder"}) {
      put("model." + side + ".kind", is_transformer ? "transformer" : "recurrent");
      put_integer("model." + side + ".layers",
                  file_.take_number(side == "encoder" ? "enc_layers" : "dec_layers", layers));
      put_integer("model." + side + ".embedding_dim", embedding);
    }
    // Lists of values by step: the first one.
    const auto dropout = leading_number(first({"dropout"}, "0.3"));
    const auto attention = leading_number(first({"attention_dropout"}, "0.1"));
    if (is_transformer) {
      transformer(width);
      put_dropout(dropout, attention, 0);
    } else {
      recurrent(width, encoder == "brnn" || file_.take_flag("bidirectional", encoder == "brnn"));
      put_dropout(dropout, 0, dropout);
    }
    put_tied(file_.take_flag("share_embeddings", false),
             file_.take_flag("share_decoder_embeddings", false), "share_embeddings");
    if (file_.take_flag("copy_attn", false)) put("model.output.kind", "copy");
  }

  void transformer(double width) {
    for (const std::string side : {"model.encoder.", "model.decoder."}) {
      put_integer(side + "hidden_size", width);
      put_integer(side + "heads", file_.take_number("heads", 8));
      put_integer(side + "feed_forward_size", file_.take_number("transformer_ff", 2048));
      const auto relative = file_.take_number("max_relative_positions", 0);
      const bool sinusoids = file_.take_flag("position_encoding", false);
      put(side + "position", relative < 0 ? "rotary" : sinusoids ? "sinusoidal" : "none");
      if (relative > 0) {
        file_.note("max_relative_positions", "regard has rotary positions; sinusoids are used");
        put(side + "position", "sinusoidal");
      }
    }
    file_.mark_read("global_attention");
    file_.mark_read("input_feed");
    file_.mark_read("rnn_type");
  }

  void recurrent(double width, bool bidirectional) {
    const auto cell = file_.take_lower("rnn_type", "lstm");
    if (cell != "lstm" && cell != "gru") file_.note("rnn_type", "regard has lstm, gru and tanh");
    put_both("cell", cell == "gru" ? "gru" : "lstm");
    // The width of a bidirectional encoder is that of both directions together.
    put_integer("model.encoder.hidden_size", bidirectional ? std::floor(width / 2) : width);
    put_flag("model.encoder.bidirectional", bidirectional);
    put_integer("model.decoder.hidden_size", width);
    put_integer("model.decoder.readout_size", width);
    put("model.decoder.query", "new");
    put("model.decoder.initial_state", "bridge");
    put_flag("model.decoder.input_feeding", file_.take_flag("input_feed", true));
    const auto attention = file_.take_lower("global_attention", "general");
    put("model.attention.kind", attention == "mlp" ? "additive" : attention);
    if (attention == "mlp") put_integer("model.attention.size", width);
    if (attention == "dot") put("model.attention.project_keys", "true");
  }

  void training() {
    if (const auto folder = file_.take("save_model")) put_text("training.model_dir", *folder);
    copy("seed", "training.random_seed");
    put_integer("training.max_steps", file_.take_number("train_steps", 100'000));
    put_integer("training.validation_every", file_.take_number("valid_steps", 10'000));
    copy("report_every", "training.logging_every");
    file_.mark_read("save_checkpoint_steps");
    if (const auto keep = file_.take_number("keep_checkpoint", -1); keep > 0) {
      put_integer("training.keep_newest", keep);
    }
    if (const auto patience = file_.take_number("early_stopping", 0); patience > 0) {
      put_integer("training.patience", patience);
    }
    put_integer("training.batch_size", file_.take_number("batch_size", 64));
    put("training.batch_type",
        file_.take_lower("batch_type", "sents") == "sents" ? "sentence" : "token");
    const auto counts = entries("accum_count");
    if (!counts.empty()) put("training.gradient_accumulation", counts[0]);
    file_.mark_read("accum_steps");
    put_optimizer("optim", file_.take_lower("optim", "sgd"));
    copy("adam_beta1", "training.adam_beta1");
    copy("adam_beta2", "training.adam_beta2");
    copy("label_smoothing", "training.label_smoothing");
    copy("average_decay", "training.moving_average");
    put("training.clip_grad_norm", file_.take_number("max_grad_norm", 5));
    const auto rate = file_.take_number("learning_rate", 1);
    const auto warmup = file_.take_number("warmup_steps", 4000);
    const auto decay = file_.take_lower("decay_method", "none");
    if (decay == "noam") {
      const auto width = first_number({"hidden_size", "rnn_size"}, 500);
      put_inverse_square_root(rate / std::sqrt(width * std::max(1.0, warmup)), warmup);
    } else if (decay == "rsqrt") {
      put_inverse_square_root(rate / std::sqrt(std::max(1.0, warmup)), warmup);
    } else {
      put("training.learning_rate", rate);
      const char* reason = "regard has plateau and exponential schedules; constant is used";
      for (const auto* key : {"learning_rate_decay", "start_decay_steps", "decay_steps"}) {
        file_.note(key, reason);
        file_.mark_read(key);
      }
    }
    copy("beam_size", "search.beam_size");
  }
};

}  // namespace

Converted convert_opennmt(std::string_view text, const std::string& name) {
  return OpenNmtConversion(text, name).run();
}

}  // namespace regard
