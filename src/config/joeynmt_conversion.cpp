#include "config/joeynmt_conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace regard {
namespace {

// Values for limits that regard has and JoeyNMT does not: larger than any sentence or vocabulary.
constexpr std::int64_t unlimited_length = 100'000;
constexpr std::int64_t unlimited_words = 10'000'000;

const std::string src = "data.src.";
const std::string trg = "data.trg.";

}  // namespace

void Conversion::data() {
  const auto type = joey_.take_lower("data.dataset_type", "plain");
  if (type != "plain") joey_.note("data.dataset_type", "regard reads two plain text files");
  const auto languages =
      std::pair{joey_.take("data.src.lang", "src"), joey_.take("data.trg.lang", "trg")};
  for (const std::string part : {"train", "dev"}) {
    const auto stem = joey_.take("data." + part);
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
    if (joey_.take_number(key, 1) > 1) joey_.note(key, "regard skips only empty lines");
  }
}

void Conversion::tokenizer() {
  const auto level = joey_.take_lower(src + "level", "bpe");
  if (joey_.take_lower(trg + "level", level) != level) {
    joey_.note(trg + "level",
               "regard has one kind of tokenizer for both sides, here that of the source");
  }
  std::string kind = level == "char" ? "character" : level;
  if (level == "bpe") {
    const auto type = joey_.take_lower(src + "tokenizer_type", "sentencepiece");
    joey_.mark_read(trg + "tokenizer_type");
    const auto model = joey_.take_lower(src + "tokenizer_cfg.model_type", "unigram");
    joey_.mark_read(trg + "tokenizer_cfg.model_type");
    kind = type == "sentencepiece" && model == "unigram" ? "unigram" : "bpe";
    if (type != "sentencepiece") {
      joey_.note(src + "tokenizer_type", "regard trains BPE by SentencePiece instead");
    }
  }
  put("data.tokenizer.kind", kind);
  if (level == "bpe") sentencepiece_models();
  vocabulary(level);
  normalisation();
}

// Copies the paths of existing SentencePiece models.
void Conversion::sentencepiece_models() {
  for (const std::string side : {"src", "trg"}) {
    const auto from = "data." + side + ".";
    const bool is_bpe = joey_.take_lower(from + "level", "bpe") == "bpe";
    const auto type = joey_.take_lower(from + "tokenizer_type", "sentencepiece");
    if (!is_bpe || type != "sentencepiece") continue;
    const auto model = joey_.take(from + "tokenizer_cfg.model_file");
    if (!model) continue;
    put_text("data.tokenizer." + side + "_file", *model);
    joey_.note(from + "voc_file", "the SentencePiece model contains the vocabulary");
    joey_.mark_read(from + "voc_file");
  }
}

void Conversion::vocabulary(const std::string& level) {
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
  const auto coverage = joey_.take_number(src + "tokenizer_cfg.character_coverage", 1);
  joey_.mark_read(trg + "tokenizer_cfg.character_coverage");
  if (level == "bpe" && coverage < 1) put("data.tokenizer.character_coverage", coverage);
  const auto sampling = std::max(joey_.take_number(src + "tokenizer_cfg.dropout", 0),
                                 joey_.take_number(src + "tokenizer_cfg.alpha", 0));
  joey_.mark_read(trg + "tokenizer_cfg.dropout");
  joey_.mark_read(trg + "tokenizer_cfg.alpha");
  if (level == "bpe" && sampling > 0) put("data.tokenizer.sampling", sampling);
  if (level == "bpe") return;
  const auto src_file = joey_.take(src + "voc_file");
  const auto trg_file = joey_.take(trg + "voc_file");
  if (src_file) put_text("data.tokenizer.src_file", *src_file);
  if (trg_file) put_text("data.tokenizer.trg_file", *trg_file);
}

void Conversion::normalisation() {
  const bool lowercase = joey_.take_flag(src + "lowercase", false);
  if (joey_.take_flag(trg + "lowercase", lowercase) != lowercase) {
    joey_.note(trg + "lowercase",
               "regard lower-cases both sides or neither, here as for the source");
  }
  if (lowercase) put_flag("data.tokenizer.lowercase", true);
  for (const auto& side : {src, trg}) {
    if (joey_.take_lower(side + "tokenizer_cfg.pretokenizer", "none") != "none") {
      joey_.note(side + "tokenizer_cfg.pretokenizer", "regard reads raw or already tokenised text");
    }
    if (!joey_.take_flag(side + "normalize", false)) continue;
    joey_.note(side + "normalize", "regard does not normalise text");
  }
}

void Conversion::convert_layers(const std::string& name) {
  const auto key = "model." + name + ".";
  const bool is_transformer =
      joey_.take_lower(key + "type", name == "encoder" ? "recurrent" : "transformer") ==
      "transformer";
  put(key + "kind", is_transformer ? "transformer" : "recurrent");
  if (const auto width = joey_.take(key + "embeddings.embedding_dim"))
    put(key + "embedding_dim", *width);
  if (const auto width = joey_.take(key + "hidden_size")) put(key + "hidden_size", *width);
  copy_value(key + "num_layers", key + "layers", "1");
  if (is_transformer) {
    transformer(name);
  } else {
    recurrent(name);
    joey_.mark_read(key + "activation");  // JoeyNMT's recurrent layers do not use it
    if (joey_.take_flag(key + "embeddings.scale", false)) {
      joey_.note(key + "embeddings.scale", "regard scales embeddings only in a Transformer");
    }
  }
  for (const auto& freeze : {key + "freeze", key + "embeddings.freeze"}) {
    if (joey_.take_flag(freeze, false)) joey_.note(freeze, "regard trains the whole model");
  }
  if (name == "decoder") transformer_decoder_ = is_transformer;
}

void Conversion::recurrent(const std::string& name) {
  const auto from = "model." + name + ".";
  copy_value(from + "rnn_type", from + "cell", "gru");
  if (name == "encoder") {
    put_flag(from + "bidirectional", joey_.take_flag(from + "bidirectional", true));
    return;
  }
  auto initial_state = joey_.take_lower(from + "init_hidden", "bridge");
  if (initial_state == "last" && converted_.contains("model.encoder.bidirectional") &&
      converted_.at("model.encoder.bidirectional") == "true") {
    joey_.note(from + "init_hidden",
               "regard concatenates the last states of both directions; bridge is used instead");
    initial_state = "bridge";
  }
  put(from + "initial_state", initial_state);
  // JoeyNMT's decoder computes the new state before attention, with either kind of attention.
  put("model.decoder.query", "new");
  put_flag(from + "input_feeding", joey_.take_flag(from + "input_feeding", true));
  copy_value(from + "hidden_size", "model.decoder.readout_size", "1");
  const auto score = joey_.take_lower(from + "attention", "bahdanau");
  put("model.attention.kind", score == "luong" ? "general" : "additive");
  if (score != "luong") copy_value(from + "hidden_size", "model.attention.size", "1");
}

void Conversion::transformer(const std::string& name) {
  const auto key = "model." + name + ".";
  copy_value(key + "num_heads", key + "heads", "8");
  copy_value(key + "ff_size", key + "feed_forward_size", "2048");
  put(key + "norm", joey_.take_lower(key + "layer_norm", "post"));
  if (joey_.take_lower(key + "activation", "relu") != "relu") {
    joey_.note(key + "activation", "regard uses relu");
  }
  if (!joey_.take_flag(key + "embeddings.scale", false)) {
    joey_.note(key + "embeddings.scale",
               "regard's Transformer multiplies embeddings by the square root of their width");
  }
}

void Conversion::dropout() {
  const auto encoder = joey_.take_number("model.encoder.dropout", 0);
  const auto decoder = joey_.take_number("model.decoder.dropout", 0);
  put("model.dropout.embeddings", take_larger({"model.encoder.embeddings.dropout", encoder},
                                              {"model.decoder.embeddings.dropout", decoder}));
  const auto states = take_larger({"model.encoder.dropout"}, {"model.decoder.dropout"});
  put("model.dropout.states", states);
  put("model.dropout.readout",
      transformer_decoder_ ? 0.0 : joey_.take_number("model.decoder.hidden_dropout", 0));
}

void Conversion::tying() {
  const bool embeddings = joey_.take_flag("model.tied_embeddings", false);
  const bool output = joey_.take_flag("model.tied_softmax", false);
  if (embeddings && output) {
    put_flag("data.tokenizer.joint", true);
    put("model.tied_embeddings", "all");
  } else if (output) {
    put("model.tied_embeddings", "output");
  } else if (embeddings) {
    joey_.note("model.tied_embeddings",
               "regard ties both embeddings only if the output layer is tied too");
  }
  if (!output || transformer_decoder_) return;
  // A tied output layer needs a readout as wide as the embeddings.
  copy_value("model.decoder.embeddings.embedding_dim", "model.decoder.readout_size", "1");
}

void Conversion::model() {
  convert_layers("encoder");
  convert_layers("decoder");
  dropout();
  tying();
}

void Conversion::training() {
  const auto folder = joey_.take("training.model_dir");
  put_text("training.model_dir", joey_.take("model_dir", folder.value_or("")));
  copy_value("random_seed", "training.random_seed", joey_.take("training.random_seed", "42"));
  copy_value("training.epochs", "training.epochs", "3");
  if (const auto updates = joey_.take("training.updates")) put("training.max_steps", *updates);
  copy_value("training.batch_size", "training.batch_size", "64");
  put("training.batch_type", joey_.take_lower("training.batch_type", "sentence"));
  copy_value("training.batch_multiplier", "training.gradient_accumulation", "1");
  copy_value("training.label_smoothing", "training.label_smoothing", "0");
  auto optimizer = joey_.take_lower("training.optimizer", "adam");
  if (optimizer != "adam" && optimizer != "adamw" && optimizer != "sgd" &&
      optimizer != "adadelta") {
    joey_.note("training.optimizer", "regard has adam, adamw, sgd and adadelta; adam is used");
    optimizer = "adam";
  }
  put("training.optimizer", optimizer);
  const auto betas = joey_.take("training.adam_betas", "0.9, 0.999");
  if (const auto comma = betas.find(", ");
      optimizer.starts_with("adam") && comma != std::string::npos) {
    put("training.adam_beta1", betas.substr(0, comma));
    put("training.adam_beta2", betas.substr(comma + 2));
  }
  if (optimizer == "sgd") copy_value("training.momentum", "training.momentum", "0");
  copy_value("training.weight_decay", "training.weight_decay", "0");
  copy_value("training.clip_grad_norm", "training.clip_grad_norm", "0");
  joey_.mark_read("training.loss");
  if (!joey_.take_flag("training.shuffle", true))
    joey_.note("training.shuffle", "regard always shuffles");
  schedule();
  validation();
}

void Conversion::schedule() {
  const auto name = joey_.take_lower("training.scheduling", "constant");
  auto rate = joey_.take_number("training.learning_rate", 0.005);
  const auto min_rate = joey_.take_number("training.learning_rate_min", 0.0001);
  const auto warmup = joey_.take_number("training.learning_rate_warmup", 4000);
  const auto factor = joey_.take_number("training.learning_rate_factor", 1);
  const auto patience = joey_.take("training.patience", "5");
  const auto decrease = joey_.take("training.decrease_factor", "0.5");
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
      const auto width = joey_.take_number("model.encoder.hidden_size", 512);
      rate = factor / std::sqrt(width * std::max(1.0, warmup));
      rate = std::round(rate * 1e7) / 1e7;  // for a short number in the file
    } else {
      rate = joey_.take_number("training.learning_rate_peak", rate);
    }
  } else if (name != "constant") {
    joey_.note("training.scheduling",
               "regard has constant, plateau, inverse_square_root, exponential and cosine; "
               "constant is used");
  }
  if (name != "plateau") {
    joey_.note("training.learning_rate_min", "regard stops at a minimum rate only with plateau");
  }
  put("training.learning_rate", rate);
}

void Conversion::validation() {
  copy_value("training.validation_freq", "training.validation_every", "1000");
  copy_value("training.logging_freq", "training.logging_every", "100");
  const auto metric = joey_.take_lower("training.early_stopping_metric", "ppl");
  if (metric == "acc")
    joey_.note("training.early_stopping_metric", "regard has no accuracy of tokens; loss is used");
  put("training.early_stopping_metric", metric == "ppl"   ? "perplexity"
                                        : metric == "acc" ? "loss"
                                                          : metric);
  const auto examples = joey_.take("training.print_valid_sents", "0, 1, 2");
  put_integer(
      "training.show_examples",
      examples.empty() ? 0.0 : 1.0 + static_cast<double>(std::ranges::count(examples, ',')));
  const auto checkpoints = joey_.take_number("training.keep_best_ckpts",
                                             joey_.take_number("training.keep_last_ckpts", 5));
  if (checkpoints < 1) {  // JoeyNMT keeps all
    joey_.note("training.keep_best_ckpts", "1000 is used instead");
  }
  put_integer("training.keep_best", checkpoints < 1 ? 1000 : checkpoints);
}

void Conversion::testing() {
  const auto alpha =
      joey_.take_number("testing.beam_alpha", joey_.take_number("testing.alpha", -1));
  copy_value("testing.beam_size", "search.beam_size", "1");
  put("search.beam_alpha", std::max(0.0, alpha));
  if (joey_.take_lower("testing.batch_type", "sentence") == "sentence") {
    copy_value("testing.batch_size", "search.batch_size", "64");
  } else {
    joey_.note("testing.batch_type", "regard counts sentences");
    joey_.mark_read("testing.batch_size");
  }
  if (const auto max_length = joey_.take_number("testing.max_output_length", -1); max_length > 0) {
    put_integer("search.max_output_length", max_length);
  }
  if (const auto min_length = joey_.take_number("testing.min_output_length", 1); min_length > 1) {
    put_integer("search.min_output_length", min_length);
  }
  if (const auto penalty = joey_.take_number("testing.repetition_penalty", -1); penalty > 0) {
    put("search.repetition_penalty", penalty);
  }
  if (const auto n = joey_.take_number("testing.no_repeat_ngram_size", -1); n > 0) {
    put_integer("search.no_repeat_ngram", n);
  }
  if (!joey_.take_flag("testing.generate_unk", true))
    joey_.note("testing.generate_unk", "regard's search can output <unk>");
}

}  // namespace regard
