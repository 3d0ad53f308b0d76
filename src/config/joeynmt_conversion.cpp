// Converts configurations of JoeyNMT 2 (Kreutzer, Bastings, Riezler 2019), section by section.

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "config/foreign_config.h"
#include "config/yaml_file.h"

namespace regard {
namespace {

// Values for limits that regard has and JoeyNMT does not: larger than any sentence or vocabulary.
constexpr std::int64_t unlimited_length = 100'000;
constexpr std::int64_t unlimited_words = 10'000'000;

const std::string src = "data.src.";
const std::string trg = "data.trg.";

// The keys of JoeyNMT that regard does not have, by prefix: the text of the note, and the neutral
// value, which needs no note because regard does the same. Neutral values are compared as text, in
// lower case. Keys with {} never need a note.
using Unsupported = ForeignConfig::Unsupported;
const std::map<std::string, Unsupported> unsupported_keys = {
    {"joeynmt_version", {}},
    {"fp16", {"regard has training.precision: bf16 instead", "false"}},
    {"num_workers", {"regard has `threads`", "0"}},
    {"data.test", {"pass test files to `regard evaluate`"}},
    {"data.dataset_cfg", {"regard reads plain text files"}},
    {"data.sample_", {"regard reads the whole text; data.train.0.weight uses less of it", "-1"}},
    {"data.random_", {"regard reads the whole text; data.train.0.weight uses less of it", "-1"}},
    {"data.special_symbols.unk_token", {"regard uses <unk>", "<unk>"}},
    {"data.special_symbols.pad_token", {"regard uses <pad>", "<pad>"}},
    {"data.special_symbols.bos_token", {"regard uses <s>", "<s>"}},
    {"data.special_symbols.eos_token", {"regard uses </s>", "</s>"}},
    {"data.special_symbols.unk_id", {}},
    {"data.special_symbols.pad_id", {}},
    {"data.special_symbols.bos_id", {}},
    {"data.special_symbols.eos_id", {}},
    {"data.src.tokenizer_cfg", {"regard trains SentencePiece itself"}},
    {"data.trg.tokenizer_cfg", {"regard trains SentencePiece itself"}},
    {"data.src.tokenizer_cfg.nbest_size", {"regard samples from all ways to split a word", "-1"}},
    {"data.trg.tokenizer_cfg.nbest_size", {"regard samples from all ways to split a word", "-1"}},
    {"data.src.voc_file", {"regard trains new sub-word vocabularies"}},
    {"data.trg.voc_file", {"regard trains new sub-word vocabularies"}},
    {"model.initializer",
     {"regard uses Xavier, and orthogonal recurrent matrices", "xavier_uniform"}},
    {"model.init_rnn_orthogonal", {"regard initialises recurrent matrices as orthogonal", "true"}},
    {"model.init_gain", {"regard uses 1", "1.0"}},
    {"model.init_weight", {"regard uses Xavier initialisation"}},
    {"model.bias_initializer", {"regard initialises biases to 0", "zeros"}},
    {"model.embed_init", {"regard initialises embeddings from a normal distribution", "normal"}},
    {"model.lstm_forget_gate", {"regard initialises it to 1", "1."}},
    {"training.load_", {"`regard train --init-from` starts from a model trained by regard"}},
    {"training.reset_", {"`regard train --init-from` resets all of these", "false"}},
    {"training.overwrite", {"`regard train --fresh` starts over", "false"}},
    {"training.clip_grad_val", {"regard clips the norm: training.clip_grad_norm"}},
    {"training.normalization", {"regard's loss is the mean over target tokens", "tokens"}},
    {"testing.load_model", {"`regard translate -m` names the model"}},
    {"testing.n_best", {"`regard translate --n-best`", "1"}},
    {"testing.return_attention", {"`regard translate --alignments`", "false"}},
    {"testing.return_prob", {"`regard score` has log-probabilities", "none"}},
    {"testing.eval_metric", {"`regard evaluate --metrics`"}},
    {"testing.sacrebleu", {"see `regard evaluate --tokenize` and its other options"}},
};

class JoeyConversion : private ForeignConversion {
 public:
  JoeyConversion(std::string_view text, const std::string& name) : ForeignConversion(text, name) {
    require_joeynmt(load_yaml(text, name), name);
  }

  Converted run() {
    top();
    data();
    model();
    training();
    testing();
    return finish(unsupported_keys);
  }

 private:
  // In the functions below, `name` is "encoder" or "decoder", and `level` is JoeyNMT's
  // data.src.level: bpe, word or char.

  void top() {
    put_text("name", file_.take("name", "model"));
    const bool cuda = file_.take_flag("use_cuda", file_.take_flag("training.use_cuda", true));
    put("device", cuda ? "auto" : "cpu");
  }

  void data() {
    const auto type = file_.take_lower("data.dataset_type", "plain");
    if (type != "plain") file_.note("data.dataset_type", "regard reads two plain text files");
    const auto languages =
        std::pair{file_.take("data.src.lang", "src"), file_.take("data.trg.lang", "trg")};
    for (const std::string part : {"train", "dev"}) {
      const auto stem = file_.take("data." + part);
      if (!stem) continue;
      const auto key = part == "train" ? std::string("data.train.0.") : std::string("data.dev.");
      put_text(key + "src", *stem + "." + languages.first);
      put_text(key + "trg", *stem + "." + languages.second);
    }
    tokenizer();
    const auto max_length = take_larger({"data.src.max_length", -1}, {"data.trg.max_length", -1});
    put_integer("data.max_length", max_length > 0 ? max_length : unlimited_length);
    put_integer("data.max_ratio", 0);
    for (const std::string key : {"data.src.min_length", "data.trg.min_length"}) {
      if (file_.take_number(key, 1) > 1) file_.note(key, "regard skips only empty lines");
    }
  }

  void tokenizer() {
    const auto level = file_.take_lower(src + "level", "bpe");
    if (file_.take_lower(trg + "level", level) != level) {
      file_.note(trg + "level",
                 "regard has one kind of tokenizer for both sides, here that of the source");
    }
    std::string kind = level == "char" ? "character" : level;
    if (level == "bpe") {
      const auto type = file_.take_lower(src + "tokenizer_type", "sentencepiece");
      file_.mark_read(trg + "tokenizer_type");
      const auto model = file_.take_lower(src + "tokenizer_cfg.model_type", "unigram");
      file_.mark_read(trg + "tokenizer_cfg.model_type");
      kind = type == "sentencepiece" && model == "unigram" ? "unigram" : "bpe";
      if (type != "sentencepiece") {
        file_.note(src + "tokenizer_type", "regard trains BPE by SentencePiece instead");
      }
    }
    put("data.tokenizer.kind", kind);
    if (level == "bpe") sentencepiece_models();
    vocabulary(level);
    normalisation();
  }

  // Copies the paths of existing SentencePiece models.
  void sentencepiece_models() {
    for (const std::string side : {"src", "trg"}) {
      const auto from = "data." + side + ".";
      const bool is_bpe = file_.take_lower(from + "level", "bpe") == "bpe";
      const auto type = file_.take_lower(from + "tokenizer_type", "sentencepiece");
      if (!is_bpe || type != "sentencepiece") continue;
      const auto model = file_.take(from + "tokenizer_cfg.model_file");
      if (!model) continue;
      put_text("data.tokenizer." + side + "_file", *model);
      file_.note(from + "voc_file", "the SentencePiece model contains the vocabulary");
      file_.mark_read(from + "voc_file");
    }
  }

  void vocabulary(const std::string& level) {
    const auto merges =
        take_larger({src + "tokenizer_cfg.num_merges"}, {trg + "tokenizer_cfg.num_merges"});
    const auto limit = take_larger({src + "voc_limit"}, {trg + "voc_limit"});
    if (limit > 0 || merges > 0) {
      put_integer("data.tokenizer.vocabulary_size", limit > 0 ? limit : merges);
    } else if (level != "bpe") {
      put_integer("data.tokenizer.vocabulary_size", unlimited_words);
    }
    const auto frequency = take_larger({src + "voc_min_freq", 1}, {trg + "voc_min_freq", 1});
    if (frequency > 1) put_integer("data.tokenizer.min_frequency", frequency);
    const auto coverage = file_.take_number(src + "tokenizer_cfg.character_coverage", 1);
    file_.mark_read(trg + "tokenizer_cfg.character_coverage");
    if (level == "bpe" && coverage < 1) put("data.tokenizer.character_coverage", coverage);
    const auto sampling = std::max(file_.take_number(src + "tokenizer_cfg.dropout", 0),
                                   file_.take_number(src + "tokenizer_cfg.alpha", 0));
    file_.mark_read(trg + "tokenizer_cfg.dropout");
    file_.mark_read(trg + "tokenizer_cfg.alpha");
    if (level == "bpe" && sampling > 0) put("data.tokenizer.sampling", sampling);
    if (level == "bpe") return;
    const auto src_file = file_.take(src + "voc_file");
    const auto trg_file = file_.take(trg + "voc_file");
    if (src_file) put_text("data.tokenizer.src_file", *src_file);
    if (trg_file) put_text("data.tokenizer.trg_file", *trg_file);
  }

  void normalisation() {
    const bool lowercase = file_.take_flag(src + "lowercase", false);
    if (file_.take_flag(trg + "lowercase", lowercase) != lowercase) {
      file_.note(trg + "lowercase",
                 "regard lower-cases both sides or neither, here as for the source");
    }
    if (lowercase) put_flag("data.tokenizer.lowercase", true);
    for (const auto& side : {src, trg}) {
      if (file_.take_lower(side + "tokenizer_cfg.pretokenizer", "none") != "none") {
        file_.note(side + "tokenizer_cfg.pretokenizer",
                   "regard reads raw or already tokenised text");
      }
      if (!file_.take_flag(side + "normalize", false)) continue;
      file_.note(side + "normalize", "regard does not normalise text");
    }
  }

  void convert_layers(const std::string& name) {
    const auto key = "model." + name + ".";
    const bool is_transformer =
        file_.take_lower(key + "type", name == "encoder" ? "recurrent" : "transformer") ==
        "transformer";
    put(key + "kind", is_transformer ? "transformer" : "recurrent");
    copy(key + "embeddings.embedding_dim", key + "embedding_dim");
    copy(key + "hidden_size", key + "hidden_size");
    copy_value(key + "num_layers", key + "layers", "1");
    if (is_transformer) {
      transformer(name);
    } else {
      recurrent(name);
      file_.mark_read(key + "activation");  // JoeyNMT's recurrent layers do not use it
      if (file_.take_flag(key + "embeddings.scale", false)) {
        file_.note(key + "embeddings.scale", "regard scales embeddings only in a Transformer");
      }
    }
    for (const auto& freeze : {key + "freeze", key + "embeddings.freeze"}) {
      if (file_.take_flag(freeze, false)) file_.note(freeze, "regard trains the whole model");
    }
    if (name == "decoder") transformer_decoder_ = is_transformer;
  }

  void recurrent(const std::string& name) {
    const auto from = "model." + name + ".";
    copy_value(from + "rnn_type", from + "cell", "gru");
    if (name == "encoder") {
      put_flag(from + "bidirectional", file_.take_flag(from + "bidirectional", true));
      return;
    }
    auto initial_state = file_.take_lower(from + "init_hidden", "bridge");
    if (initial_state == "last" && converted_.contains("model.encoder.bidirectional") &&
        converted_.at("model.encoder.bidirectional") == "true") {
      file_.note(from + "init_hidden",
                 "regard concatenates the last states of both directions; bridge is used instead");
      initial_state = "bridge";
    }
    put(from + "initial_state", initial_state);
    // JoeyNMT's decoder computes the new state before attention, with either kind of attention.
    put("model.decoder.query", "new");
    put_flag(from + "input_feeding", file_.take_flag(from + "input_feeding", true));
    copy_value(from + "hidden_size", "model.decoder.readout_size", "1");
    const auto score = file_.take_lower(from + "attention", "bahdanau");
    put("model.attention.kind", score == "luong" ? "general" : "additive");
    if (score != "luong") copy_value(from + "hidden_size", "model.attention.size", "1");
  }

  void transformer(const std::string& name) {
    const auto key = "model." + name + ".";
    copy_value(key + "num_heads", key + "heads", "8");
    copy_value(key + "ff_size", key + "feed_forward_size", "2048");
    put(key + "norm", file_.take_lower(key + "layer_norm", "post"));
    if (file_.take_lower(key + "activation", "relu") != "relu") {
      file_.note(key + "activation", "regard uses relu");
    }
    if (!file_.take_flag(key + "embeddings.scale", false)) {
      file_.note(key + "embeddings.scale",
                 "regard's Transformer multiplies embeddings by the square root of their width");
    }
  }

  void dropout() {
    const auto encoder = file_.take_number("model.encoder.dropout", 0);
    const auto decoder = file_.take_number("model.decoder.dropout", 0);
    put("model.dropout.embeddings", take_larger({"model.encoder.embeddings.dropout", encoder},
                                                {"model.decoder.embeddings.dropout", decoder}));
    const auto states = take_larger({"model.encoder.dropout"}, {"model.decoder.dropout"});
    put("model.dropout.states", states);
    put("model.dropout.readout",
        transformer_decoder_ ? 0.0 : file_.take_number("model.decoder.hidden_dropout", 0));
  }

  void tying() {
    const bool embeddings = file_.take_flag("model.tied_embeddings", false);
    const bool output = file_.take_flag("model.tied_softmax", false);
    put_tied(embeddings, output, "model.tied_embeddings");
    if (!output || transformer_decoder_) return;
    // A tied output layer needs a readout as wide as the embeddings.
    copy_value("model.decoder.embeddings.embedding_dim", "model.decoder.readout_size", "1");
  }

  void model() {
    convert_layers("encoder");
    convert_layers("decoder");
    dropout();
    tying();
  }

  void training() {
    const auto folder = file_.take("training.model_dir");
    put_text("training.model_dir", file_.take("model_dir", folder.value_or("")));
    copy_value("random_seed", "training.random_seed", file_.take("training.random_seed", "42"));
    copy_value("training.epochs", "training.epochs", "3");
    copy("training.updates", "training.max_steps");
    copy_value("training.batch_size", "training.batch_size", "64");
    put("training.batch_type", file_.take_lower("training.batch_type", "sentence"));
    copy_value("training.batch_multiplier", "training.gradient_accumulation", "1");
    copy_value("training.label_smoothing", "training.label_smoothing", "0");
    put_optimizer("training.optimizer", file_.take_lower("training.optimizer", "adam"));
    const auto& optimizer = converted_.at("training.optimizer");
    const auto betas = file_.take("training.adam_betas", "0.9, 0.999");
    if (const auto comma = betas.find(", ");
        optimizer.starts_with("adam") && comma != std::string::npos) {
      put("training.adam_beta1", betas.substr(0, comma));
      put("training.adam_beta2", betas.substr(comma + 2));
    }
    if (optimizer == "sgd") copy_value("training.momentum", "training.momentum", "0");
    copy_value("training.weight_decay", "training.weight_decay", "0");
    copy_value("training.clip_grad_norm", "training.clip_grad_norm", "0");
    file_.mark_read("training.loss");
    if (!file_.take_flag("training.shuffle", true))
      file_.note("training.shuffle", "regard always shuffles");
    schedule();
    validation();
  }

  void schedule() {
    const auto name = file_.take_lower("training.scheduling", "constant");
    auto rate = file_.take_number("training.learning_rate", 0.005);
    const auto min_rate = file_.take_number("training.learning_rate_min", 0.0001);
    const auto warmup = file_.take_number("training.learning_rate_warmup", 4000);
    const auto factor = file_.take_number("training.learning_rate_factor", 1);
    const auto patience = file_.take("training.patience", "5");
    const auto decrease = file_.take("training.decrease_factor", "0.5");
    if (name == "plateau") {
      put("training.scheduling", name);
      put("training.decrease_factor", decrease);
      put("training.decrease_patience", patience);
      put("training.learning_rate_min", min_rate);
    } else if (name == "noam" || name == "warmupinversesquareroot") {
      put("training.scheduling", "inverse_square_root");
      put_integer("training.warmup_steps", warmup);
      if (name == "noam") {
        // The rate factor · D^−½ · min(t^−½, t · warmup^−3/2) at step t has its peak at t = warmup.
        const auto width = file_.take_number("model.encoder.hidden_size", 512);
        rate = factor / std::sqrt(width * std::max(1.0, warmup));
        rate = std::round(rate * 1e7) / 1e7;  // for a short number in the file
      } else {
        rate = file_.take_number("training.learning_rate_peak", rate);
      }
    } else if (name == "exponential" || name == "decaying") {
      file_.note("training.scheduling",
                 "the rate falls by epochs, in regard's exponential schedule by steps "
                 "(training.decay_steps); constant is used");
    } else if (name != "constant") {
      file_.note("training.scheduling",
                 "regard has constant, plateau, inverse_square_root, exponential and cosine; "
                 "constant is used");
    }
    if (name != "plateau") {
      file_.note("training.learning_rate_min", "regard stops at a minimum rate only with plateau");
    }
    put("training.learning_rate", rate);
  }

  void validation() {
    copy_value("training.validation_freq", "training.validation_every", "1000");
    copy_value("training.logging_freq", "training.logging_every", "100");
    const auto metric = file_.take_lower("training.early_stopping_metric", "ppl");
    if (metric == "acc")
      file_.note("training.early_stopping_metric",
                 "regard has no accuracy of tokens; loss is used");
    put("training.early_stopping_metric", metric == "ppl"   ? "perplexity"
                                          : metric == "acc" ? "loss"
                                                            : metric);
    const auto examples = file_.take("training.print_valid_sents", "0, 1, 2");
    put_integer(
        "training.show_examples",
        examples.empty() ? 0.0 : 1.0 + static_cast<double>(std::ranges::count(examples, ',')));
    const auto checkpoints = file_.take_number("training.keep_best_ckpts",
                                               file_.take_number("training.keep_last_ckpts", 5));
    if (checkpoints < 1) {  // JoeyNMT keeps all
      file_.note("training.keep_best_ckpts", "1000 is used instead");
    }
    put_integer("training.keep_best", checkpoints < 1 ? 1000 : checkpoints);
  }

  void testing() {
    const auto alpha =
        file_.take_number("testing.beam_alpha", file_.take_number("testing.alpha", -1));
    copy_value("testing.beam_size", "search.beam_size", "1");
    put("search.beam_alpha", std::max(0.0, alpha));
    if (file_.take_lower("testing.batch_type", "sentence") == "sentence") {
      copy_value("testing.batch_size", "search.batch_size", "64");
    } else {
      file_.note("testing.batch_type", "regard counts sentences");
      file_.mark_read("testing.batch_size");
    }
    if (const auto max_length = file_.take_number("testing.max_output_length", -1);
        max_length > 0) {
      put_integer("search.max_output_length", max_length);
    }
    if (const auto min_length = file_.take_number("testing.min_output_length", 1); min_length > 1) {
      put_integer("search.min_output_length", min_length);
    }
    if (const auto penalty = file_.take_number("testing.repetition_penalty", -1); penalty > 0) {
      put("search.repetition_penalty", penalty);
    }
    if (const auto n = file_.take_number("testing.no_repeat_ngram_size", -1); n > 0) {
      put_integer("search.no_repeat_ngram", n);
    }
    if (!file_.take_flag("testing.generate_unk", true))
      file_.note("testing.generate_unk", "regard's search can output <unk>");
  }

  bool transformer_decoder_ = false;
};

}  // namespace

Converted convert_joeynmt(std::string_view text, const std::string& name) {
  return JoeyConversion(text, name).run();
}

}  // namespace regard
