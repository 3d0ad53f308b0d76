#include "config/starter_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "config/check.h"
#include "config/reader.h"

namespace regard::starter_config_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

SideStatistics side(const std::string& path, std::int64_t words) {
  return {.path = path,
          .language = path.substr(path.rfind('.') + 1),
          .mean_words = 10,
          .distinct_words = words,
          .distinct_characters = 90,
          .mean_tokens = 13};
}

StarterConfig of(std::int64_t pairs, std::int64_t words = 50'000) {
  StarterConfig config;
  config.name = "mine";
  config.train = {pairs, side("t.en", words), side("t.fr", words)};
  config.dev_src = "dev.en";
  config.dev_trg = "dev.fr";
  return config;
}

Options read(const StarterConfig& config) {
  auto options = parse_options(starter_config_yaml(config), "starter");
  check_training_options(options);
  return options;
}

TEST(StarterConfigTest, IsValidForEverySizeOfCorpus) {
  for (const std::int64_t pairs : {1, 100, 5'000, 30'000, 400'000, 50'000'000}) {
    for (const std::int64_t words : {10, 1'500, 1'000'000}) {
      auto config = of(pairs, words);
      for (const auto kind : {LayerKind::recurrent, LayerKind::transformer}) {
        config.architecture = kind;
        EXPECT_NO_THROW(read(config)) << pairs << " pairs of " << words << " words";
        EXPECT_EQ(read(config).model.decoder.kind, kind);
      }
    }
  }
}

TEST(StarterConfigTest, MoreTextHasALargerModelAndLessDropout) {
  for (const auto kind : {LayerKind::recurrent, LayerKind::transformer}) {
    const auto proposal = [&](std::int64_t pairs) {
      auto config = of(pairs);
      config.architecture = kind;
      return read(config);
    };
    const auto small = proposal(2'000);
    const auto large = proposal(2'000'000);
    EXPECT_LT(small.model.decoder.hidden_size, large.model.decoder.hidden_size);
    EXPECT_LT(small.data.tokenizer.vocabulary_size, large.data.tokenizer.vocabulary_size);
    EXPECT_GT(small.model.dropout.states, large.model.dropout.states);
    EXPECT_GT(small.training.epochs, large.training.epochs);
  }
}

// configs/multi30k_transformer_best.yaml, but for numbers that depend on the text.
TEST(StarterConfigTest, ATransformerForMulti30kIsTheMeasuredRecipe) {
  auto config = of(29'000, 12'000);
  config.train.common_characters = 80;
  config.architecture = LayerKind::transformer;
  const auto options = read(config);
  EXPECT_EQ(options.model.encoder.kind, EncoderKind::transformer);
  EXPECT_EQ(options.model.encoder.hidden_size, 256);
  EXPECT_EQ(options.model.encoder.layers, 3);
  EXPECT_EQ(options.model.encoder.self_attention.feed_forward_size, 512);
  EXPECT_EQ(options.model.encoder.self_attention.position, PositionKind::rotary);
  EXPECT_EQ(options.model.dropout.states, 0.15);
  EXPECT_TRUE(options.data.tokenizer.joint);
  EXPECT_EQ(options.data.tokenizer.vocabulary_size, 6'000);
  EXPECT_EQ(options.training.learning_rate, 0.002);
  EXPECT_EQ(options.training.warmup_steps, 1'000);
  EXPECT_EQ(options.training.batch_size, 800);
  EXPECT_EQ(options.training.epochs, 30);
}

// configs/multi30k_best.yaml, but for numbers that depend on the text.
TEST(StarterConfigTest, ARecurrentModelForMulti30kIsTheMeasuredRecipe) {
  auto config = of(29'000, 12'000);
  config.train.common_characters = 80;  // recurrent is the default for so little text
  const auto options = read(config);
  EXPECT_EQ(options.model.encoder.kind, EncoderKind::recurrent);
  EXPECT_EQ(options.model.encoder.hidden_size, 256);
  EXPECT_EQ(options.model.decoder.query, Query::between);
  EXPECT_EQ(options.model.attention.kind, AttentionKind::additive);
  EXPECT_TRUE(options.data.tokenizer.joint);
  EXPECT_EQ(options.data.tokenizer.vocabulary_size, 6'000);
  EXPECT_EQ(options.model.tied_embeddings, TiedEmbeddings::all);
  EXPECT_EQ(options.training.batch_size, 800);
  EXPECT_EQ(options.training.learning_rate, 0.003);
  EXPECT_EQ(options.training.warmup_steps, 1'000);
  EXPECT_EQ(options.training.moving_average, 0.999);
  EXPECT_EQ(options.training.epochs, 30);
}

TEST(StarterConfigTest, MuchTextHasATransformerUnlessToldOtherwise) {
  auto config = of(400'000);
  EXPECT_EQ(read(config).model.encoder.kind, EncoderKind::transformer);
  config.architecture = LayerKind::recurrent;
  EXPECT_EQ(read(config).model.encoder.kind, EncoderKind::recurrent);
}

TEST(StarterConfigTest, AFewPairsHaveEnoughStepsForATransformer) {
  auto config = of(1'000);
  config.architecture = LayerKind::transformer;
  const auto options = read(config);
  EXPECT_GE(options.training.epochs * 1'000 * 14 / options.training.batch_size, 4'000);
}

TEST(StarterConfigTest, DifferentAlphabetsHaveTheirOwnVocabularies) {
  auto config = of(30'000);
  config.train.common_characters = 20;  // digits and marks
  EXPECT_FALSE(read(config).data.tokenizer.joint);
  EXPECT_EQ(read(config).model.tied_embeddings, TiedEmbeddings::output);
  config.train.common_characters = 80;
  EXPECT_TRUE(read(config).data.tokenizer.joint);
  EXPECT_EQ(read(config).model.tied_embeddings, TiedEmbeddings::all);
}

TEST(StarterConfigTest, VocabularyFitsTheText) {
  EXPECT_LE(read(of(30'000, 4'000)).data.tokenizer.vocabulary_size, 2'000);
  EXPECT_EQ(read(of(30'000, 300)).data.tokenizer.kind, TokenizerKind::word);
  auto uneven = of(30'000, 300);
  uneven.train.trg.distinct_words = 20'000;
  EXPECT_EQ(read(uneven).data.tokenizer.vocabulary_size, 20'004);  // all words are kept
}

TEST(StarterConfigTest, SplitsWordsThatOccurRarely) {
  EXPECT_EQ(read(of(1'000, 900)).data.tokenizer.kind, TokenizerKind::word);
  auto raw = of(1'000, 900);
  raw.train.src.mean_words = raw.train.trg.mean_words = 6;
  EXPECT_EQ(read(raw).data.tokenizer.kind, TokenizerKind::bpe);
  EXPECT_EQ(read(raw).data.tokenizer.vocabulary_size, 400);
  auto unsegmented = of(800, 3'000);
  unsegmented.train.trg.distinct_words = 780;
  unsegmented.train.trg.mean_words = 1;
  unsegmented.train.trg.unspaced = true;
  EXPECT_EQ(read(unsegmented).data.tokenizer.kind, TokenizerKind::bpe);
}

TEST(StarterConfigTest, DoesNotSplitSubWordsAgain) {
  auto config = of(30'000);
  config.train.trg.split = true;
  EXPECT_EQ(read(config).data.tokenizer.kind, TokenizerKind::word);
}

TEST(StarterConfigTest, CopiesWordsThatTheSourceHas) {
  auto config = of(16'000, 6'000);
  config.train.copied_words = 0.8;
  for (const auto kind : {LayerKind::recurrent, LayerKind::transformer}) {
    config.architecture = kind;
    const auto options = read(config);
    EXPECT_EQ(options.model.output.kind, OutputKind::copy);
    EXPECT_EQ(options.data.tokenizer.kind, TokenizerKind::word);
    EXPECT_EQ(options.data.tokenizer.min_frequency, 3);
    EXPECT_EQ(options.model.encoder.embedding_dim, 128);
    EXPECT_EQ(options.training.batch_size, 512);
    EXPECT_EQ(options.training.epochs, kind == LayerKind::recurrent ? 40 : 120);
    EXPECT_EQ(options.training.early_stopping_metric, Metric::exact);
  }
  config.train.copied_words = 0.3;  // names and numbers
  EXPECT_EQ(read(config).model.output.kind, OutputKind::vocabulary);
  EXPECT_EQ(read(config).data.tokenizer.kind, TokenizerKind::bpe);
  auto formal = of(24'000, 700);
  formal.train.copied_words = 0.8;
  EXPECT_EQ(read(formal).model.output.kind, OutputKind::copy);
  EXPECT_EQ(read(formal).data.tokenizer.min_frequency, 1) << "no word is missing";
  EXPECT_EQ(read(formal).training.early_stopping_metric, Metric::exact);
  auto letters = of(4'000, 40);
  letters.train.copied_words = 0.9;
  EXPECT_EQ(read(letters).model.output.kind, OutputKind::vocabulary);
}

TEST(StarterConfigTest, CopiesPartsOfWordsInFormalText) {
  auto config = of(24'000, 700);
  config.train.copied_words = 0.8;
  config.train.common_characters = 80;
  for (const auto kind : {LayerKind::recurrent, LayerKind::transformer}) {
    config.architecture = kind;
    const auto options = read(config);
    EXPECT_EQ(options.model.output.kind, OutputKind::copy);
    EXPECT_EQ(options.data.tokenizer.kind, TokenizerKind::bpe);
    EXPECT_TRUE(options.data.tokenizer.joint);
    EXPECT_EQ(options.data.tokenizer.vocabulary_size, 250);
    EXPECT_EQ(options.model.tied_embeddings, TiedEmbeddings::all);
    EXPECT_EQ(options.model.encoder.embedding_dim, 128);
    EXPECT_EQ(options.model.dropout.states, 0.1);
    EXPECT_EQ(options.training.batch_size, 1'024);
    EXPECT_EQ(options.training.epochs, 20);
    EXPECT_EQ(options.training.label_smoothing, 0);
    EXPECT_EQ(options.training.validation_unit, ValidationUnit::epochs);
    EXPECT_EQ(options.training.validation_every, options.training.epochs) << "once, at the end";
  }
  EXPECT_THAT(starter_config_yaml(config), HasSubstr("copies their parts"));
}

TEST(StarterConfigTest, LessFormalTextHasMoreEpochs) {
  const auto epochs = [](std::int64_t pairs) {
    auto config = of(pairs, 700);
    config.train.copied_words = 0.8;
    config.train.common_characters = 80;
    return read(config).training.epochs;
  };
  EXPECT_EQ(epochs(5'001), 96) << "as many pairs as in 20 epochs of COGS";
  EXPECT_EQ(epochs(60'000), 20);
}

TEST(StarterConfigTest, LinesOfSymbolsAreRightAsAWhole) {
  EXPECT_EQ(read(of(4'000, 40)).training.early_stopping_metric, Metric::exact);
  EXPECT_EQ(read(of(4'000, 400)).training.early_stopping_metric, Metric::bleu);
  EXPECT_EQ(read(of(4'000, 40)).search.early_stopping, SearchEnd::exact);
  EXPECT_EQ(read(of(4'000, 400)).search.early_stopping, SearchEnd::ahead);
  auto split = of(4'000, 40);
  split.train.src.split = true;
  EXPECT_EQ(read(split).training.early_stopping_metric, Metric::bleu);
}

TEST(StarterConfigTest, WordsThatStayTheSameAreReadAsLettersAndNotCopied) {
  for (const std::int64_t words : {500, 3'000}) {
    auto config = of(3'000, words);
    config.train.src.mean_words = config.train.trg.mean_words = 1;
    config.train.copied_words = 0.8;
    EXPECT_EQ(read(config).data.tokenizer.kind, TokenizerKind::character);
    EXPECT_EQ(read(config).model.output.kind, OutputKind::vocabulary);
  }
}

TEST(StarterConfigTest, ManyLinesOfLettersHaveLessDropout) {
  auto words = of(25'000, 20'000);
  words.train.src.mean_words = words.train.trg.mean_words = 1;
  EXPECT_EQ(read(words).model.dropout.states, 0.2);
  EXPECT_EQ(read(of(4'000, 40)).model.dropout.states, 0.3);
  EXPECT_EQ(read(of(7'000, 40)).model.dropout.states, 0.3);
  EXPECT_EQ(read(of(25'000, 40)).model.dropout.states, 0.2);
  EXPECT_EQ(read(of(25'000, 40)).model.encoder.embedding_dim, 128);
  EXPECT_EQ(read(of(25'000, 40)).training.batch_size, 512);
  EXPECT_EQ(read(of(25'000, 400)).model.dropout.states, 0.3);
}

TEST(StarterConfigTest, ReducesCoverageForManyCharacters) {
  auto config = of(30'000);
  config.train.src.distinct_characters = 3'000;
  EXPECT_LT(read(config).data.tokenizer.character_coverage, 1);
  EXPECT_EQ(read(of(30'000)).data.tokenizer.character_coverage, 1);
}

TEST(StarterConfigTest, MaxLengthFitsNinetyNineOfAHundredPairs) {
  auto config = of(200);
  config.train.measured_pairs = 200;
  config.train.pairs_by_length.assign(300, 0);
  config.train.pairs_by_length[40] = 190;
  config.train.pairs_by_length[60] = 8;
  config.train.pairs_by_length[299] = 2;
  EXPECT_EQ(read(config).data.max_length, 80);  // 1.2 · 60, rounded up
  EXPECT_THAT(starter_config_yaml(config),
              HasSubstr("max_length: 80   # tokens; longer pairs are skipped, 2 of 200 here\n"));
  config.train.pairs = 2'000;  // 200 of which were measured
  EXPECT_THAT(starter_config_yaml(config), HasSubstr("skipped, about 20 of 2000 here\n"));
  config.train.pairs_by_length[299] = 0;
  EXPECT_THAT(starter_config_yaml(config), HasSubstr("are skipped, hardly one here\n"));
  config.train.pairs = config.train.measured_pairs;
  EXPECT_THAT(starter_config_yaml(config), HasSubstr("are skipped, none here\n"));
}

TEST(StarterConfigTest, SymbolsMayHaveVeryUnequalLengths) {
  auto config = of(2'000, 40);
  EXPECT_EQ(read(config).data.max_ratio, 9);
  config.train.measured_pairs = 2'000;
  config.train.pairs_by_length.assign(100, 20);
  config.train.uneven_pairs = 7;
  EXPECT_EQ(read(config).data.max_ratio, 0);
  EXPECT_THAT(starter_config_yaml(config),
              HasSubstr("  max_ratio: 0   # pairs with one side more than 9 times as long are "
                        "kept, 7 of 2000 here\n"));
  config.train.src.distinct_words = config.train.trg.distinct_words = 5'000;  // a translation
  EXPECT_EQ(read(config).data.max_ratio, 9);
  EXPECT_THAT(starter_config_yaml(config), HasSubstr("are skipped, 7 of 2000 here\n"));
}

TEST(StarterConfigTest, SingleWordsAreReadAsLetters) {
  auto config = of(3'600, 3'500);
  config.train.src.mean_words = 1;
  config.train.trg.distinct_words = 50;  // phones
  EXPECT_EQ(read(config).data.tokenizer.kind, TokenizerKind::character);
  EXPECT_EQ(read(config).data.tokenizer.vocabulary_size, 94);
  EXPECT_EQ(read(config).training.early_stopping_metric, Metric::exact);
  config.train.trg = side("t.trg", 3'000);  // sentences
  EXPECT_EQ(read(config).training.early_stopping_metric, Metric::bleu);
  config.train.trg.mean_words = 1.1;
  EXPECT_EQ(read(config).training.early_stopping_metric, Metric::exact);
  config.train.trg.mean_words = 3;
  EXPECT_EQ(read(config).training.early_stopping_metric, Metric::chrf);
  config.train.src.distinct_words = 900;  // of 3,600 lines
  EXPECT_EQ(read(config).data.tokenizer.kind, TokenizerKind::bpe);
  config.train.trg.mean_words = 1.1;
  EXPECT_EQ(read(config).data.tokenizer.kind, TokenizerKind::character);
}

TEST(StarterConfigTest, OutputsMayBeAsLongAsTheTargets) {
  auto config = of(200);
  EXPECT_EQ(read(config).search, SearchOptions());
  config.train.outputs.add(8, 120);
  const auto search = read(config).search;
  EXPECT_EQ(search.max_output_length, 130);
  EXPECT_EQ(search.max_output_ratio, 12.5);  // (121 − 10) / 9 = 12.33
  config.train.dev_outputs.add(300, 199);
  EXPECT_EQ(read(config).search.max_output_length, 200);
  EXPECT_EQ(read(config).search.max_output_ratio, 12.5);
  auto symbols = of(4'000, 40);
  symbols.train.outputs.add(8, 120);
  EXPECT_EQ(read(symbols).search.max_output_length, 130);
  EXPECT_EQ(read(symbols).search.early_stopping, SearchEnd::exact);
}

TEST(StarterConfigTest, OutputsMayBeAsLongAsTheValidationTargets) {
  auto config = of(200);
  config.train.outputs.add(8, 10);
  config.train.dev_outputs.add(8, 60);
  EXPECT_EQ(read(config).search.max_output_length, SearchOptions().max_output_length);
  EXPECT_EQ(read(config).search.max_output_ratio, 6);  // (61 − 10) / 9 = 5.67
  EXPECT_THAT(starter_config_yaml(config), HasSubstr("Targets exceed a default limit"));
}

TEST(StarterConfigTest, TheVocabularyHasRoomForAllCharacters) {
  auto config = of(4'000, 4'000);
  config.train.src.distinct_characters = 3'000;
  EXPECT_EQ(read(config).data.tokenizer.vocabulary_size, 3'800);
  config.train.trg.distinct_characters = 3'000;
  config.train.common_characters = 2'900;
  EXPECT_TRUE(read(config).data.tokenizer.joint);
  EXPECT_EQ(read(config).data.tokenizer.vocabulary_size, 3'900);
}

TEST(StarterConfigTest, SingularForOnePair) {
  EXPECT_THAT(
      starter_config_yaml(of(1)),
      AllOf(HasSubstr("other: 1 pair."), Not(HasSubstr("1 pairs")), Not(HasSubstr("1 lines"))));
}

TEST(StarterConfigTest, NamesTheFolderOfTheDocumentation) {
  auto config = of(30'000);
  config.docs_folder = "/opt/share/doc";
  config.architecture = LayerKind::recurrent;
  EXPECT_THAT(starter_config_yaml(config),
              AllOf(HasSubstr("# /opt/share/doc/own_language_pair.md says"),
                    HasSubstr("# /opt/share/doc/attention.md lists all")));
}

TEST(StarterConfigTest, WithoutADevPairNothingNeedsValidations) {
  auto config = of(30'000);
  config.dev_src.clear();
  config.dev_trg.clear();
  EXPECT_THAT(starter_config_yaml(config),
              AllOf(HasSubstr("# No validation pair"), Not(HasSubstr("patience"))));
  EXPECT_EQ(read(config).data.dev.src, "");
  config.train.src.mean_words = config.train.trg.mean_words = 1;
  EXPECT_EQ(read(config).training.early_stopping_metric, Metric::exact) << "for a later pair";
}

TEST(StarterConfigTest, NamesTheKeyThatKeepsCheckpointsForAnAverage) {
  const auto yaml = starter_config_yaml(of(30'000));
  EXPECT_EQ(parse_options(yaml, "starter").training.keep_newest, 1);
  const auto uncommented = replace_all(yaml, "# keep_newest: ", "keep_newest: ");
  EXPECT_EQ(parse_options(uncommented, "starter").training.keep_newest, 4);
}

TEST(StarterConfigTest, QuotesAmbiguousNames) {
  auto config = of(30'000);
  config.name = "yes: #1";
  config.train.src.path = "a b: c.en";
  const auto options = read(config);
  EXPECT_EQ(options.name, "yes: #1");
  EXPECT_EQ(options.data.train[0].src, "a b: c.en");
}

TEST(StarterConfigTest, WarnsOfTokenisedText) {
  auto config = of(30'000);
  EXPECT_THAT(starter_config_yaml(config), Not(HasSubstr("tokenised")));
  config.train.src.tokenised = true;
  EXPECT_THAT(starter_config_yaml(config), HasSubstr("looks tokenised"));
}

TEST(StarterConfigTest, SymbolsOfFewPartsAreDecomposed) {
  auto config = of(3'600, 800);  // distinct syllables
  config.train.trg.distinct_words = 60;
  config.train.src.distinct_parts = 62;
  EXPECT_EQ(read(config).data.tokenizer.kind, TokenizerKind::decomposed);
  EXPECT_THAT(starter_config_yaml(config),
              HasSubstr("800 distinct source words are composed of 62"));
  config.train.src.distinct_parts = 401;
  EXPECT_EQ(read(config).data.tokenizer.kind, TokenizerKind::word);
}

TEST(StarterConfigTest, StemsOfFewWordsAreHallucinated) {
  auto config = of(1'000, 40);
  config.train.repeated_tokens = 0.63;
  EXPECT_EQ(read(config).data.hallucination.rate, 0.3);
  EXPECT_THAT(starter_config_yaml(config), HasSubstr("63 % of the target tokens"));
  config.train.repeated_tokens = 0.3;
  EXPECT_EQ(read(config).data.hallucination.rate, 0) << "few substrings, by chance";
  EXPECT_THAT(starter_config_yaml(config), Not(HasSubstr("hallucination")));
  config.train.repeated_tokens = 0.63;
  config.architecture = LayerKind::transformer;
  EXPECT_EQ(read(config).data.hallucination.rate, 0.3);
  config.train.repeated_tokens = 0.4;
  EXPECT_EQ(read(config).data.hallucination.rate, 0.3) << "enough for a Transformer";
  config.train.repeated_tokens = 0.3;
  EXPECT_EQ(read(config).data.hallucination.rate, 0);
  auto many = of(3'600, 40);
  many.train.repeated_tokens = 0.63;
  EXPECT_EQ(read(many).data.hallucination.rate, 0);
  auto sentences = of(1'000, 900);
  sentences.train.repeated_tokens = 0.63;
  EXPECT_EQ(read(sentences).data.hallucination.rate, 0);
}

TEST(StarterConfigTest, VeryFewWordsHaveMoreEpochs) {
  EXPECT_EQ(read(of(700, 40)).training.epochs, 200);
  EXPECT_EQ(read(of(700, 40)).training.validation_every, 5) << "40 validations";
  EXPECT_EQ(read(of(3'600, 40)).training.epochs, 40);
  EXPECT_EQ(read(of(3'600, 40)).training.validation_every, 1);
}

TEST(StarterConfigTest, TransformersForLettersHaveOneSize) {
  const auto transformer = [](std::int64_t pairs) {
    auto config = of(pairs, 40);
    config.architecture = LayerKind::transformer;
    return read(config);
  };
  for (const auto& [pairs, epochs] : {std::pair{700, 600}, {3'600, 120}, {25'000, 30}}) {
    const auto options = transformer(pairs);
    EXPECT_EQ(options.model.encoder.hidden_size, 128);
    EXPECT_EQ(options.training.batch_size, 512);
    EXPECT_EQ(options.training.epochs, epochs);
  }
  EXPECT_EQ(transformer(100'000).model.encoder.hidden_size, 256) << "not measured";
}

}  // namespace
}  // namespace regard::starter_config_test
