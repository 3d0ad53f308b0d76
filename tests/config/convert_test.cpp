// Configurations of OpenNMT-py and Marian, and commands of fairseq. JoeyNMT: joeynmt_test.cpp.
#include "config/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "config/check.h"
#include "config/reader.h"

namespace regard::convert_test {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

Options read(const Converted& converted) {
  auto options = parse_options(converted.yaml, "converted");
  check_training_options(options);
  return options;
}

Converted convert(const std::string& text) {
  return convert_configuration(text, "other");
}

// As in OpenNMT-py's documentation of the Transformer.
const std::string opennmt = R"(
save_data: run/example
src_vocab: run/vocab.src
src_vocab_size: 32000
tgt_vocab_size: 32000
share_vocab: true
data:
  corpus_1: {path_src: train.de, path_tgt: train.en, transforms: [filtertoolong], weight: 1}
  valid: {path_src: dev.de, path_tgt: dev.en}
save_model: run/model
train_steps: 50000
valid_steps: 5000
early_stopping: 4
batch_size: 4096
batch_type: tokens
accum_count: [4]
optim: adam
learning_rate: 2
decay_method: noam
warmup_steps: 8000
adam_beta2: 0.998
max_grad_norm: 0
label_smoothing: 0.1
encoder_type: transformer
decoder_type: transformer
position_encoding: true
layers: 6
heads: 8
hidden_size: 512
word_vec_size: 512
transformer_ff: 2048
dropout: [0.1]
share_embeddings: true
share_decoder_embeddings: true
world_size: 4
)";

TEST(ConvertOpenNmt, ATransformer) {
  const auto converted = convert(opennmt);
  const auto o = read(converted);
  EXPECT_EQ(o.data.train[0].src, "train.de");
  EXPECT_EQ(o.data.dev.trg, "dev.en");
  EXPECT_EQ(o.model.encoder.kind, EncoderKind::transformer);
  EXPECT_EQ(o.model.decoder.layers, 6);
  EXPECT_EQ(o.model.decoder.self_attention.heads, 8);
  EXPECT_EQ(o.model.decoder.self_attention.position, PositionKind::sinusoidal);
  EXPECT_EQ(o.model.tied_embeddings, TiedEmbeddings::all);
  EXPECT_TRUE(o.data.tokenizer.joint);
  EXPECT_EQ(o.training.batch_size, 4096);
  EXPECT_EQ(o.training.batch_type, BatchType::token);
  EXPECT_EQ(o.training.gradient_accumulation, 4);
  EXPECT_EQ(o.training.warmup_steps, 8000);
  EXPECT_NEAR(o.training.learning_rate, 2 / std::sqrt(512.0 * 8000), 1e-7);
  EXPECT_EQ(o.training.patience, 4);
  EXPECT_EQ(o.model.dropout.states, 0.1);
  EXPECT_EQ(o.training.clip_grad_norm, 0);
  EXPECT_THAT(converted.notes, Contains(HasSubstr("other:3: src_vocab: run/vocab.src: ")));
  EXPECT_THAT(converted.notes, Contains(HasSubstr("world_size: 4")));
  EXPECT_THAT(converted.notes, Each(Not(HasSubstr("to be fixed"))));
  EXPECT_THAT(converted.notes, Each(Not(HasSubstr("regard has no such option"))));
}

TEST(ConvertOpenNmt, DefaultsAreThoseOfItsRecurrentModel) {
  const auto o = read(convert("data: {a: {path_src: s, path_tgt: t}}\nencoder_type: brnn\n"));
  EXPECT_EQ(o.model.encoder.cell, CellKind::lstm);
  EXPECT_EQ(o.model.encoder.hidden_size, 250);  // in each direction
  EXPECT_EQ(o.model.decoder.hidden_size, 500);
  EXPECT_EQ(o.model.encoder.layers, 2);
  EXPECT_TRUE(o.model.decoder.input_feeding);
  EXPECT_EQ(o.model.attention.kind, AttentionKind::general);
  EXPECT_EQ(o.training.optimizer, OptimizerKind::sgd);
  EXPECT_EQ(o.training.learning_rate, 1);
  EXPECT_EQ(o.training.clip_grad_norm, 5);
}

TEST(ConvertMarian, ATransformer) {
  const auto converted = convert(R"(
type: transformer
model: model/model.npz
train-sets: [corpus.en, corpus.de]
vocabs: [model/vocab.spm, model/vocab.spm]
dim-vocabs: [32000, 32000]
valid-sets: [dev.en, dev.de]
valid-freq: 5000u
valid-metrics: [bleu, ce-mean-words]
early-stopping: 10
enc-depth: 6
dec-depth: 6
transformer-heads: 8
transformer-dropout: 0.1
transformer-ffn-activation: swish
label-smoothing: 0.1
mini-batch-fit: true
mini-batch-words: 3000
learn-rate: 0.0003
lr-warmup: 16000
lr-decay-inv-sqrt: 16000
optimizer-params: [0.9, 0.98, 1e-09]
clip-norm: 5
tied-embeddings-all: true
exponential-smoothing: true
beam-size: 6
normalize: 0.6
seed: 1111
)");
  const auto o = read(converted);
  EXPECT_EQ(o.data.train[0].trg, "corpus.de");
  EXPECT_EQ(o.data.dev.src, "dev.en");
  EXPECT_EQ(o.model.encoder.hidden_size, 512);
  EXPECT_EQ(o.model.encoder.self_attention.norm, NormPlacement::post);
  EXPECT_EQ(o.model.tied_embeddings, TiedEmbeddings::all);
  EXPECT_EQ(o.training.batch_size, 3000);
  EXPECT_EQ(o.training.validation_every, 5000);
  EXPECT_EQ(o.training.early_stopping_metric, Metric::bleu);
  EXPECT_EQ(o.training.adam_beta2, 0.98);
  EXPECT_NEAR(o.training.moving_average, 0.9999, 1e-9);
  EXPECT_EQ(o.training.warmup_steps, 16000);
  EXPECT_EQ(o.search.beam_size, 6);
  EXPECT_EQ(o.search.beam_alpha, 0.6);
  EXPECT_EQ(o.training.model_dir, "model");
  EXPECT_EQ(std::ranges::count(converted.notes,
                               "other:15: transformer-ffn-activation: swish: regard uses relu"),
            1);
  EXPECT_THAT(converted.notes, Each(Not(HasSubstr("to be fixed"))));
  EXPECT_THAT(converted.notes, Each(Not(HasSubstr("regard has no such option"))));
}

TEST(ConvertMarian, TheConditionalGru) {
  const auto o =
      read(convert("train-sets: [a, b]\ntype: s2s\ndim-emb: 256\ndim-rnn: 512\nafter: 10e\n"
                   "exponential-smoothing: 1e-3\n"));
  EXPECT_EQ(o.model.decoder.query, Query::between);
  EXPECT_EQ(o.model.attention.kind, AttentionKind::additive);
  EXPECT_EQ(o.model.encoder.hidden_size, 512);
  EXPECT_EQ(o.model.encoder.embedding_dim, 256);
  EXPECT_EQ(o.training.epochs, 10);
  EXPECT_NEAR(o.training.moving_average, 0.999, 1e-9);
}

TEST(ConvertMarian, NumbersHavePrefixesAndUnits) {
  const std::string files = "train-sets: [a, b]\nvalid-sets: [c, d]\n";
  const auto converted =
      convert(files +
              "valid-freq: 5Ku\nafter: 2Mu\nlr-warmup: 16k\nlr-decay-inv-sqrt: 16000u\n"
              "disp-freq: 1Ku\n");
  const auto o = read(converted);
  EXPECT_EQ(o.training.validation_every, 5000);
  EXPECT_EQ(o.training.validation_unit, ValidationUnit::steps);
  EXPECT_EQ(o.training.max_steps, 2'000'000);
  EXPECT_EQ(o.training.warmup_steps, 16000);
  EXPECT_EQ(o.training.logging_every, 1000);
  EXPECT_THAT(converted.notes, Each(Not(HasSubstr("expected a number"))));

  const auto epochs = read(convert(files + "valid-freq: 2e\nafter: 10e\n"));
  EXPECT_EQ(epochs.training.validation_every, 2);
  EXPECT_EQ(epochs.training.validation_unit, ValidationUnit::epochs);
  EXPECT_EQ(epochs.training.epochs, 10);
  EXPECT_EQ(read(convert(files + "after: 10\n")).training.max_steps, 10);

  const auto tokens = convert(files + "after: 10Gt\nvalid-freq: 3e8t\ndisp-freq: 1e\n");
  EXPECT_EQ(read(tokens).training.epochs, 0);
  EXPECT_EQ(read(tokens).training.validation_every, 10'000);
  EXPECT_THAT(tokens.notes,
              Contains("other:3: after: 10Gt: expected a number of updates (u) or epochs (e); "
                       "Marian's default is used"));
  EXPECT_THAT(tokens.notes, Contains(HasSubstr("valid-freq: 3e8t: expected a number of updates")));
  EXPECT_THAT(tokens.notes,
              Contains(HasSubstr("disp-freq: 1e: expected a number of updates (u);")));
}

TEST(ConvertMarian, TheSmallerVocabularyHasANote) {
  const auto sized = [](const std::string& sizes) {
    return convert("train-sets: [a, b]\nvalid-sets: [c, d]\ndim-vocabs: " + sizes + "\n");
  };
  EXPECT_EQ(read(sized("[8000, 30000]")).data.tokenizer.vocabulary_size, 30000);
  EXPECT_THAT(sized("[8000, 30000]").notes,
              Contains("other:3: dim-vocabs: 8000, 30000: regard has one value for both sides, "
                       "here 30000"));
  EXPECT_EQ(read(sized("[0, 30000]")).data.tokenizer.vocabulary_size, 10'000'000);  // all words
  EXPECT_THAT(sized("[8000, 8000]").notes, Each(Not(HasSubstr("dim-vocabs"))));
}

TEST(ConvertMarian, AMetricWithoutAnEquivalentHasANote) {
  const auto stopped_by = [](const std::string& metric) {
    return convert("train-sets: [a, b]\nvalid-sets: [c, d]\nvalid-metrics: [" + metric + "]\n");
  };
  EXPECT_EQ(read(stopped_by("translation")).training.early_stopping_metric, Metric::bleu);
  EXPECT_THAT(stopped_by("translation").notes, Contains(HasSubstr("bleu is used")));
  EXPECT_EQ(read(stopped_by("bleu-detok")).training.early_stopping_metric, Metric::bleu);
  EXPECT_EQ(read(stopped_by("valid-script")).training.early_stopping_metric, Metric::loss);
  EXPECT_THAT(stopped_by("valid-script").notes, Contains(HasSubstr("loss is used")));
  EXPECT_THAT(stopped_by("ce-mean-words").notes, Each(Not(HasSubstr("valid-metrics"))));
}

TEST(ConvertFairseq, EveryScheduleKeepsItsWarmUp) {
  const auto warmup = [](const std::string& more) {
    return read(convert("fairseq-train data --arch transformer --max-epoch 3 --lr 1e-3 " + more))
        .training.warmup_steps;
  };
  for (const std::string schedule : {"fixed", "cosine", "inverse_sqrt", "polynomial_decay"}) {
    EXPECT_EQ(warmup("--warmup-updates 500 --lr-scheduler " + schedule), 500) << schedule;
  }
  EXPECT_EQ(warmup("--lr-scheduler cosine"), 0);
  EXPECT_EQ(warmup("--lr-scheduler inverse_sqrt"), 4000);
}

TEST(ConvertFairseq, TheLastOfARepeatedOptionCounts) {
  const auto converted = convert(
      "fairseq-train data --arch transformer --max-epoch 3 --lr 1e-3 \\\n --lr 2e-3 --fp16 --fp16");
  EXPECT_EQ(read(converted).training.learning_rate, 2e-3);
  EXPECT_EQ(std::ranges::count_if(
                converted.notes,
                [](const std::string& note) { return note.find(": fp16: ") != note.npos; }),
            1);
}

TEST(ConvertFairseq, ACommand) {
  const auto converted = convert(R"(CUDA_VISIBLE_DEVICES=0 fairseq-train \
    data-bin/iwslt14.tokenized.de-en \
    --arch transformer_iwslt_de_en --share-decoder-input-output-embed \
    --optimizer adam --adam-betas '(0.9, 0.98)' --clip-norm 0.0 \
    --lr 5e-4 --lr-scheduler inverse_sqrt --warmup-updates 4000 \
    --dropout 0.3 --weight-decay 0.0001 --source-lang de --target-lang en \
    --criterion label_smoothed_cross_entropy --label-smoothing 0.1 \
    --max-tokens 4096 --max-epoch 50 --stop-time-hours 2 --eval-bleu --best-checkpoint-metric bleu --unheard-of 3
)");
  const auto o = read(converted);
  EXPECT_EQ(o.model.encoder.self_attention.feed_forward_size, 1024);
  EXPECT_EQ(o.model.encoder.self_attention.heads, 4);
  EXPECT_EQ(o.model.encoder.self_attention.norm, NormPlacement::post);
  EXPECT_EQ(o.model.tied_embeddings, TiedEmbeddings::output);
  EXPECT_EQ(o.model.dropout.states, 0.3);
  EXPECT_EQ(o.training.batch_size, 4096);
  EXPECT_EQ(o.training.learning_rate, 5e-4);
  EXPECT_EQ(o.training.warmup_steps, 4000);
  EXPECT_EQ(o.training.weight_decay, 1e-4);
  EXPECT_EQ(o.training.label_smoothing, 0.1);
  EXPECT_EQ(o.training.max_minutes, 120);
  EXPECT_EQ(o.training.adam_beta1, 0.9);
  EXPECT_EQ(o.training.adam_beta2, 0.98);
  EXPECT_EQ(o.training.early_stopping_metric, Metric::bleu);
  EXPECT_EQ(o.data.train[0].src, "train.de");
  EXPECT_THAT(converted.notes, Contains(HasSubstr("binary data are not read")));
  EXPECT_THAT(converted.notes,
              Contains(HasSubstr("other:8: unheard-of: 3: regard has no such option")));
  EXPECT_THAT(converted.notes, Each(Not(HasSubstr("to be fixed"))));
}

TEST(ConvertFairseq, ShortOptions) {
  const auto o = read(convert(
      "fairseq-train data --share-all-embeddings -a transformer_iwslt_de_en -s de -t en --patience "
      "-1 --lr 5e-4 --max-epoch 3"));
  EXPECT_EQ(o.model.encoder.self_attention.feed_forward_size, 1024);
  EXPECT_EQ(o.model.tied_embeddings, TiedEmbeddings::all);
  EXPECT_EQ(o.data.train[0].src, "train.de");
  EXPECT_EQ(o.data.train[0].trg, "train.en");
  EXPECT_EQ(o.training.learning_rate, 5e-4);
}

TEST(Convert, OtherTextIsAnError) {
  EXPECT_THROW(convert("a: [1\n"), ConfigError);
  EXPECT_THROW(convert("just words"), ConfigError);
}

TEST(Convert, ConvertsAllThatTheReaderRecognises) {
  for (const auto* text :
       {"src_vocab: a\ntgt_vocab: b\nsave_data: c\ndata: {corpus: {path_tgt: t}}\n",
        "vocabs: [a, b]\nvalid-sets: [c, d]\nafter-epochs: 3\n", "enc-depth: 6\ndim-rnn: 1024\n"}) {
    EXPECT_THAT([&] { parse_options(text, "other"); },
                testing::ThrowsMessage<ConfigError>(HasSubstr("regard config convert other")));
    EXPECT_NO_THROW(convert(text)) << text;
  }
}

TEST(Convert, WrongValuesBecomeNotes) {
  for (const auto* text :
       {"train-sets: [a, b]\nafter: 1e999u\nvalid-freq: many\ndim-emb: -1\n",
        "train-sets: 3\nvocabs: {a: b}\noptimizer-params: x\n",
        "data: {a: {path_src: [s], path_tgt: {t: u}}}\ndropout: [x]\nrnn_size: 1e999\n",
        "fairseq-train --arch nothing --lr fast --max-tokens -5 --adam-betas"}) {
    const auto converted = convert(text);
    EXPECT_THAT(converted.notes, Contains(HasSubstr("to be fixed: "))) << converted.yaml;
  }
}

}  // namespace
}  // namespace regard::convert_test
