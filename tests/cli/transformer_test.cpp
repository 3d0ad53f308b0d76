// Trains a Transformer and translates with it, by the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/train.h"

namespace regard::transformer_test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class TrainTransformer : public Train {
 protected:
  Finished train_transformer(std::vector<std::string> more = {}) const {
    auto overrides = as_transformer();
    overrides.insert(overrides.end(), more.begin(), more.end());
    return train(overrides);
  }
  Finished translate(std::vector<std::string> more = {}) const {
    const auto input = (folder_ / "dev.en").string();
    more.insert(more.begin(), {"translate", "-m", (folder_ / "run").string(), "-i", input});
    return run(more);
  }
};

TEST_F(TrainTransformer, TrainsTranslatesAndIsDescribed) {
  const auto trained = train_transformer();
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err, AllOf(HasSubstr("encoder.layer1.attention_norm"),
                                 HasSubstr("decoder.layer1.source_attention")));

  const auto one = translate({"--batch-size", "1"});
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(lines_of(one.out), SizeIs(20));
  EXPECT_THAT(one.out, HasSubstr("chat"));
  EXPECT_EQ(translate({"--batch-size", "7"}).out, one.out);

  const auto alignments = folder_ / "alignments";
  EXPECT_EQ(translate({"--alignments", alignments.string()}).code, 0);
  EXPECT_THAT(lines_of(read_text(alignments)), SizeIs(20));
  EXPECT_THAT(read_text(alignments), ContainsRegex("[0-9]-[0-9]"));

  const auto info = run({"info", (folder_ / "run").string()});
  EXPECT_EQ(info.code, 0) << info.err;
  EXPECT_THAT(info.out,
              AllOf(HasSubstr("encoder    2 Transformer layers of 16, 2 heads, feed-forward 32, "
                              "pre-norm, sinusoidal positions"),
                    HasSubstr("attention  multi_head, in each of the decoder's layers"),
                    Not(HasSubstr("GRU")), Not(HasSubstr("readout 512"))));
}

TEST_F(TrainTransformer, ResumesToTheSameBytes) {
  const std::vector<std::string> dropout = {"model.dropout.states=0.1",
                                            "model.dropout.attention=0.1", "threads=2"};
  auto half = dropout;
  half.emplace_back("training.max_steps=30");
  ASSERT_EQ(train_transformer(half).code, 0);
  ASSERT_EQ(train_transformer(dropout).code, 0);
  const auto resumed = weights();
  auto straight = dropout;
  straight.push_back("training.model_dir=" + (folder_ / "straight").string());
  ASSERT_EQ(train_transformer(straight).code, 0);
  EXPECT_EQ(weights("straight"), resumed);
}

TEST_F(TrainTransformer, BadSizesNameTheirLocation) {
  const auto result = train_transformer({"model.encoder.heads=3"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("command line:"), HasSubstr("model.encoder.heads"), HasSubstr("16")));
  EXPECT_EQ(train_transformer({"model.decoder.input_feeding=true"}).code, 2);
}

TEST_F(TrainTransformer, SourceBeyondTheLearnedPositionsIsAnError) {
  ASSERT_EQ(train_transformer({"model.encoder.position=learned", "model.encoder.max_positions=9",
                               "data.max_length=8"})
                .code,
            0);
  const auto result = run({"translate", "-m", (folder_ / "run").string()},
                          "the cat sees the dog and the cat hears the bird\n");
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("12 tokens"), HasSubstr("takes 9 (model.encoder.max_positions)")));
}

TEST_F(TrainTransformer, TargetBeyondTheLearnedPositionsIsAnError) {
  std::vector<std::string> learned = {"model.decoder.position=learned",
                                      "model.decoder.max_positions=9", "data.max_length=8",
                                      "search.max_output_length=9", "training.max_steps=2"};
  const auto takes_9 = HasSubstr("takes 9 (model.decoder.max_positions)");
  const auto dev = read_text(folder_ / "dev.fr");
  write_text(folder_ / "dev.en", read_text(folder_ / "dev.en") + "the cat\n");
  write_text(folder_ / "dev.fr", dev + "a b c d e f g h i j k\n");
  const auto refused = train_transformer(learned);
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("dev.fr:21: found 12 tokens"), takes_9));

  learned.insert(learned.end(), {"data.dev.src=", "data.dev.trg="});
  ASSERT_EQ(train_transformer(learned).code, 0);
  const std::vector<std::string> texts = {"-m", (folder_ / "run").string(),
                                          "-s", (folder_ / "dev.en").string(),
                                          "-r", (folder_ / "dev.fr").string()};
  for (auto command : {std::vector<std::string>{"evaluate"}, {"score"}}) {
    command.insert(command.end(), texts.begin(), texts.end());
    if (command[0] == "score") command[5] = "-t";
    const auto result = run(command);
    EXPECT_EQ(result.code, 3);
    EXPECT_THAT(result.err, AllOf(HasSubstr("reference line 21: found 12 tokens"), takes_9));
  }
  const auto longer = translate({"--max-output-length", "10"});
  EXPECT_EQ(longer.code, 2);
  EXPECT_THAT(longer.err, AllOf(HasSubstr("max_output_length is 10"),
                                HasSubstr("(model.decoder.max_positions)")));
}

}  // namespace
}  // namespace regard::transformer_test
