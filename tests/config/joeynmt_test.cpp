#include "config/convert.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "config/check.h"
#include "config/foreign_config.h"
#include "config/reader.h"

namespace regard::joeynmt_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;

constexpr const char* recurrent = R"(name: "small"
model_dir: "runs/small"
use_cuda: False
random_seed: 7
data:
  train: "data/train"
  dev: "data/dev"
  dataset_type: "plain"
  src: {lang: "de", level: "bpe", voc_limit: 4000, max_length: 60, lowercase: True,
        tokenizer_type: "sentencepiece", tokenizer_cfg: {model_type: "bpe", alpha: 0.1}}
  trg: {lang: "en", level: "bpe", voc_limit: 4000, max_length: 60, lowercase: True,
        tokenizer_type: "sentencepiece", tokenizer_cfg: {model_type: "bpe"}}
testing: {beam_size: 5, beam_alpha: 1.0, max_output_length: 80, no_repeat_ngram_size: 3}
training:
  optimizer: "adamw"
  adam_betas: [0.9, 0.98]
  learning_rate: 0.002
  clip_grad_norm: 1.0
  batch_size: 2048
  batch_type: "token"
  batch_multiplier: 2
  normalization: "tokens"
  scheduling: "plateau"
  patience: 3
  epochs: 9
  validation_freq: 500
  early_stopping_metric: "bleu"
  print_valid_sents: [0, 4]
model:
  tied_softmax: True
  encoder: {type: recurrent, rnn_type: gru, embeddings: {embedding_dim: 64}, hidden_size: 96, num_layers: 2, dropout: 0.2}
  decoder: {type: recurrent, rnn_type: gru, embeddings: {embedding_dim: 64}, hidden_size: 96, num_layers: 1,
            dropout: 0.2, hidden_dropout: 0.3, attention: luong, input_feeding: True, init_hidden: bridge}
)";

constexpr const char* transformer = R"(name: t
data: {train: a, dev: b, src: {lang: x, level: word, voc_file: v.txt}, trg: {lang: y, level: word, voc_file: v.txt}}
training: {batch_size: 80, scheduling: noam, learning_rate_factor: 2, learning_rate_warmup: 100, updates: 5000}
model:
  tied_embeddings: True
  tied_softmax: True
  encoder: {type: transformer, num_layers: 6, num_heads: 4, embeddings: {embedding_dim: 256, scale: True},
            hidden_size: 256, ff_size: 1024, layer_norm: "pre"}
  decoder: {type: transformer, num_layers: 3, num_heads: 8, embeddings: {embedding_dim: 256, scale: True},
            hidden_size: 256, ff_size: 512}
)";

Options read(const Converted& converted) {
  const auto options = parse_options(converted.yaml, "converted");
  check_training_options(options);
  return options;
}

Converted convert(const std::string& text) {
  return convert_joeynmt(text, "joey.yaml");
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(JoeyNmt, ConvertsARecurrentModel) {
  const auto converted = convert(recurrent);
  EXPECT_THAT(converted.notes, IsEmpty());
  const auto o = read(converted);
  EXPECT_EQ(o.name, "small");
  EXPECT_EQ(o.device, "cpu");
  EXPECT_EQ(o.training.model_dir, "runs/small");
  EXPECT_EQ(o.training.random_seed, 7);
  ASSERT_EQ(o.data.train.size(), 1u);
  EXPECT_EQ(o.data.train[0].src, "data/train.de");
  EXPECT_EQ(o.data.train[0].trg, "data/train.en");
  EXPECT_EQ(o.data.dev.trg, "data/dev.en");
  EXPECT_EQ(o.data.tokenizer.kind, TokenizerKind::bpe);
  EXPECT_EQ(o.data.tokenizer.vocabulary_size, 4000);
  EXPECT_EQ(o.data.tokenizer.sampling, 0.1);
  EXPECT_TRUE(o.data.tokenizer.lowercase);
  EXPECT_EQ(o.data.max_length, 60);
  EXPECT_EQ(o.model.encoder.layers, 2);
  EXPECT_EQ(o.model.encoder.hidden_size, 96);
  EXPECT_EQ(o.model.decoder.query, Query::new_);
  EXPECT_TRUE(o.model.decoder.input_feeding);
  EXPECT_EQ(o.model.attention.kind, AttentionKind::general);
  EXPECT_EQ(o.model.dropout.readout, 0.3);
  EXPECT_EQ(o.model.tied_embeddings, TiedEmbeddings::output);
  EXPECT_EQ(o.model.decoder.readout_size, 64);
  EXPECT_EQ(o.training.optimizer, OptimizerKind::adamw);
  EXPECT_EQ(o.training.adam_beta2, 0.98);
  EXPECT_EQ(o.training.gradient_accumulation, 2);
  EXPECT_EQ(o.training.scheduling, ScheduleKind::plateau);
  EXPECT_EQ(o.training.decrease_patience, 3);
  EXPECT_EQ(o.training.validation_every, 500);
  EXPECT_EQ(o.training.early_stopping_metric, Metric::bleu);
  EXPECT_EQ(o.training.show_examples, 2);
  EXPECT_EQ(o.search.beam_size, 5);
  EXPECT_EQ(o.search.max_output_length, 80);
  EXPECT_EQ(o.search.no_repeat_ngram, 3);
}

TEST(JoeyNmt, ConvertsATransformerWithItsSchedule) {
  const auto o = read(convert(transformer));
  EXPECT_EQ(o.model.encoder.kind, EncoderKind::transformer);
  EXPECT_EQ(o.model.encoder.layers, 6);
  EXPECT_EQ(o.model.encoder.self_attention.norm, NormPlacement::pre);
  EXPECT_EQ(o.model.decoder.self_attention.norm, NormPlacement::post);  // JoeyNMT's default
  EXPECT_EQ(o.model.decoder.self_attention.heads, 8);
  EXPECT_EQ(o.model.tied_embeddings, TiedEmbeddings::all);
  EXPECT_TRUE(o.data.tokenizer.joint);
  EXPECT_EQ(o.data.tokenizer.src_file, "v.txt");
  EXPECT_EQ(o.training.scheduling, ScheduleKind::inverse_square_root);
  EXPECT_EQ(o.training.warmup_steps, 100);
  EXPECT_NEAR(o.training.learning_rate, 2 / std::sqrt(256.0 * 100), 1e-6);
}

TEST(JoeyNmt, KeepsSentencePieceModels) {
  const auto converted =
      convert(with(with(with(recurrent, "model_type: \"bpe\", alpha",
                             "model_type: bpe, model_file: sp.de, alpha"),
                        "{model_type: \"bpe\"}", "{model_type: bpe, model_file: \"a b/sp.en\"}"),
                   "lowercase: True,\n", "lowercase: True, voc_file: sp.vocab,\n"));
  const auto o = read(converted);
  EXPECT_EQ(o.data.tokenizer.src_file, "sp.de");
  EXPECT_EQ(o.data.tokenizer.trg_file, "a b/sp.en");
  EXPECT_EQ(o.data.tokenizer.kind, TokenizerKind::bpe);
  EXPECT_THAT(converted.notes,
              ElementsAre(HasSubstr("voc_file: sp.vocab: the SentencePiece model contains")));
}

TEST(JoeyNmt, DropsOtherTokenizerModels) {
  const auto merges = convert(with(with(recurrent, "\"sentencepiece\"", "\"subword-nmt\""),
                                   "{model_type: \"bpe\", alpha", "{codes: bpe.codes, alpha"));
  EXPECT_EQ(read(merges).data.tokenizer.src_file, "");
  EXPECT_THAT(merges.notes, Contains(AllOf(HasSubstr("tokenizer_cfg.codes: bpe.codes"))));
  auto words = with(recurrent, "level: \"bpe\"", "level: word");
  words = with(words, "{model_type: \"bpe\"}", "{model_file: sp.en}");
  EXPECT_EQ(parse_options(convert(words).yaml, "converted").data.tokenizer.trg_file, "");
  EXPECT_THAT(convert(words).notes, Contains(HasSubstr("tokenizer_cfg.model_file: sp.en")));
}

TEST(JoeyNmt, ReaderRefersToTheConverter) {
  for (const std::string text : {recurrent, transformer}) {
    EXPECT_THAT([&] { parse_options(text, "joey.yaml"); },
                ThrowsMessage<ConfigError>(
                    AllOf(HasSubstr("joey.yaml: found a configuration of JoeyNMT"),
                          HasSubstr("regard config convert joey.yaml"), Not(HasSubstr("\n")))));
  }
  EXPECT_THAT([] { parse_options("data: {src: a.en, trg: b.fr}\n", "mine.yaml"); },
              ThrowsMessage<ConfigError>(HasSubstr("unknown key `data.src`")));
}

TEST(JoeyNmt, ReaderRecognisesOtherPrograms) {
  EXPECT_THAT(
      [] {
        parse_options("save_data: x\nsrc_vocab: y\ndata: {corpus_1: {path_src: a, path_tgt: b}}\n",
                      "o.yaml");
      },
      ThrowsMessage<ConfigError>(
          AllOf(HasSubstr("OpenNMT-py"), HasSubstr("config convert o.yaml"))));
  EXPECT_THAT(
      [] { parse_options("train-sets: [a, b]\nvocabs: [v, w]\n", "m.yaml"); },
      ThrowsMessage<ConfigError>(AllOf(HasSubstr("Marian"), HasSubstr("config convert m.yaml"))));
}

TEST(JoeyNmt, RejectsVersion1) {
  EXPECT_THAT(
      [] {
        convert(
            "data: {train: t,\n  src: de, trg: en, level: word}\nmodel: {encoder: {}}\ntraining: "
            "{epochs: 1}\n");
      },
      ThrowsMessage<ConfigError>(
          AllOf(HasSubstr("joey.yaml:2: data.src: found `de`"), HasSubstr("JoeyNMT 2"))));
}

TEST(JoeyNmt, KeepsDefaultsOfJoeyNmt) {
  const auto o = read(convert(transformer));
  EXPECT_EQ(o.training.epochs, 3);
  EXPECT_EQ(o.training.batch_type, BatchType::sentence);
  EXPECT_EQ(o.training.label_smoothing, 0);
  EXPECT_EQ(o.training.clip_grad_norm, 0);
  EXPECT_EQ(o.training.early_stopping_metric, Metric::perplexity);
  EXPECT_EQ(o.training.keep_best, 5);
  EXPECT_EQ(o.model.dropout.states, 0);
  EXPECT_EQ(o.search.beam_size, 1);
  EXPECT_EQ(o.search.beam_alpha, 0);
}

TEST(JoeyNmt, KeepsMissingLimitsUnlimited) {
  const auto o = read(convert(
      "data:\n  train: t\n  src: {lang: en, level: word}\n  trg: {lang: de, level: word}\nmodel: "
      "{encoder: {type: recurrent}, decoder: {type: recurrent}}\ntraining: {}\n"));
  EXPECT_GE(o.data.max_length, 10'000);
  EXPECT_EQ(o.data.max_ratio, 0);
  EXPECT_GE(o.data.tokenizer.vocabulary_size, 1'000'000);
}

TEST(JoeyNmt, NotesUnsupportedKeysWithTheirLines) {
  const auto converted =
      convert(with(with(recurrent, "use_cuda: False", "use_cuda: False\nfp16: True"),
                   "  patience: 3", "  patience: 3\n  frobnicate: 12\n  clip_grad_val: 2.0"));
  EXPECT_THAT(converted.notes,
              ElementsAre("joey.yaml:4: fp16: True: regard has training.precision: bf16 instead",
                          "joey.yaml:26: training.frobnicate: 12: regard has no such option",
                          "joey.yaml:27: training.clip_grad_val: 2.0: regard clips the norm: "
                          "training.clip_grad_norm"));
  for (const auto& note : converted.notes)
    EXPECT_THAT(converted.yaml, HasSubstr("#   " + note + "\n"));
  EXPECT_NO_THROW(read(converted));
}

TEST(JoeyNmt, NeutralValuesNeedNoNote) {
  const auto converted =
      convert(with(recurrent, "  patience: 3",
                   "  patience: 3\n  overwrite: False\n  shuffle: True\n  loss: crossentropy"));
  EXPECT_THAT(converted.notes, IsEmpty());
}

TEST(JoeyNmt, NotesInexactConversions) {
  EXPECT_THAT(convert(with(recurrent, "scheduling: \"plateau\"", "scheduling: \"cyclic\"")).notes,
              Contains(HasSubstr("constant is used")));
  EXPECT_THAT(
      convert(with(recurrent, "scheduling: \"plateau\"", "scheduling: \"exponential\"")).notes,
      Contains(HasSubstr("scheduling: exponential: the rate falls by epochs, in regard's "
                         "exponential schedule by steps")));
  EXPECT_THAT(convert(with(recurrent, "optimizer: \"adamw\"", "optimizer: \"rmsprop\"")).notes,
              Contains(HasSubstr("adam is used")));
  EXPECT_THAT(convert(with(recurrent, "init_hidden: bridge", "init_hidden: last")).notes,
              Contains(HasSubstr("bridge is used instead")));
  // The note names the lost value and its line.
  const auto one_for_both = [](const char* from, const char* to, const char* key) {
    EXPECT_THAT(
        convert(with(recurrent, from, to)).notes,
        Contains(AllOf(HasSubstr(key), HasSubstr("regard has one value for both sides, here"))));
  };
  one_for_both("dropout: 0.2}", "dropout: 0.4}", "model.decoder.dropout: 0.2");
  one_for_both("{lang: \"de\", level: \"bpe\", voc_limit: 4000",
               "{lang: \"de\", level: \"bpe\", voc_limit: 5000", "data.trg.voc_limit: 4000");
  one_for_both("max_length: 60", "max_length: 50", "data.src.max_length: 50");
  one_for_both("{embedding_dim: 64}, hidden_size: 96",
               "{embedding_dim: 64, dropout: 0}, hidden_size: 96",
               "model.encoder.embeddings.dropout: 0");
  EXPECT_THAT(
      convert(with(transformer, "training: {", "training: {learning_rate_min: 0.0001, ")).notes,
      Contains(HasSubstr("only with plateau")));
  EXPECT_THAT(convert(with(recurrent, "\"sentencepiece\"", "\"subword-nmt\"")).notes,
              Contains(HasSubstr("trains BPE by SentencePiece instead")));
}

TEST(JoeyNmt, NotesInvalidValues) {
  const auto converted = convert(
      with(recurrent, "hidden_size: 96, num_layers: 2", "hidden_size: many, num_layers: 2"));
  EXPECT_THAT(converted.notes,
              Contains(AllOf(HasSubstr("to be fixed"), HasSubstr("model.encoder.hidden_size"))));
  EXPECT_THAT(converted.yaml, HasSubstr("hidden_size: many"));
}

TEST(JoeyNmt, RejectsOtherFiles) {
  const auto says = [](const std::string& part) {
    return ThrowsMessage<ConfigError>(AllOf(HasSubstr("joey.yaml"), HasSubstr(part)));
  };
  EXPECT_THAT([] { convert("name: x\n"); }, says("no section `data`"));
  EXPECT_THAT([] { convert("- 1\n"); }, says("no section `data`"));
  EXPECT_THAT([] { convert(""); }, says("no section `data`"));
  EXPECT_THAT([] { convert("data: {train: [{src: a}]}\nmodel: {a: 1}\ntraining: {a: 1}\n"); },
              says("no sections `data.src` and `data.trg`"));
  EXPECT_THAT([] { convert("a: [\n"); }, says("not YAML"));
  EXPECT_THAT([] { convert("name: \xFF\n"); }, says("not UTF-8"));
}

TEST(JoeyNmt, RejectsExponentialAliases) {
  std::string text = "data: {a0: &a0 {x: 1}";
  for (int i = 1; i < 60; ++i) {
    text += ", a" + std::to_string(i) + ": &a" + std::to_string(i);
    text += " {x: *a" + std::to_string(i - 1) + ", y: *a" + std::to_string(i - 1) + "}";
  }
  EXPECT_THAT([&] { convert(text + "}\ntraining: {}\nmodel: {}\n"); },
              ThrowsMessage<ConfigError>(HasSubstr("more than 10000 values")));
}

TEST(JoeyNmt, RejectsRecursiveAndEmptySections) {
  const auto refused = ThrowsMessage<ConfigError>(HasSubstr("too much for a configuration"));
  EXPECT_THAT([] { convert("data: &d {src: *d}\ntraining: {}\nmodel: {}\n"); }, refused);
  std::string text = "a0: &a0 {}\n";
  for (int i = 1; i < 60; ++i) {
    text += fmt::format("a{0}: &a{0} {{x: *a{1}, y: *a{1}}}\n", i, i - 1);
  }
  EXPECT_THAT([&] { convert(text + "data: *a59\ntraining: {}\nmodel: {}\n"); }, refused);
}

TEST(JoeyNmt, NotesNumbersOutOfRange) {
  const auto text = with(transformer, "learning_rate_warmup: 100", "learning_rate_warmup: 1e300");
  EXPECT_THAT(convert(text).notes, Contains(AllOf(HasSubstr("to be fixed"), HasSubstr("1e+300"))));
}

TEST(JoeyNmt, TextCannotInjectKeys) {
  const auto converted =
      convert(with(recurrent, "random_seed: 7", R"(random_seed: "7\nname: other")"));
  EXPECT_THAT(converted.yaml, Not(HasSubstr("\nname: other")));
  EXPECT_THAT(converted.notes, Contains(HasSubstr("to be fixed")));
  const auto key = convert(with(recurrent, "random_seed: 7", R"("x\rname: y": 1)"));
  EXPECT_THAT(key.yaml, Not(HasSubstr("\r")));
}

}  // namespace
}  // namespace regard::joeynmt_test
