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
  Finished train_transformer(const Words& more = {}) const {
    return train(as_transformer() + more);
  }
  Finished translate(const Words& more = {}) const {
    return run(Words{"translate", "-m", path("run"), "-i", path("dev.en")} + more);
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
  const Words dropout = {"model.dropout.states=0.1", "model.dropout.attention=0.1",
                         "model.dropout.tokens=0.1", "training.r_drop=4", "threads=2"};
  ASSERT_EQ(train_transformer(dropout + Words{"training.max_steps=17"}).code, 0);
  ASSERT_EQ(train_transformer(dropout + Words{"training.max_steps=30"}).code, 0);
  ASSERT_EQ(train_transformer(
                dropout + Words{"training.max_steps=30", "training.model_dir=" + path("straight")})
                .code,
            0);
  EXPECT_EQ(weights("straight"), weights());
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
                               "data.max_length=8", "training.max_steps=1"})
                .code,
            0);
  const auto result = run({"translate", "-m", (folder_ / "run").string()},
                          "the cat sees the dog and the cat hears the bird\n");
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("12 tokens"), HasSubstr("takes 9 (model.encoder.max_positions)")));
}

TEST_F(TrainTransformer, TargetBeyondTheLearnedPositionsIsAnError) {
  const Words learned = {"model.decoder.position=learned", "model.decoder.max_positions=9",
                         "data.max_length=8", "search.max_output_length=9", "training.max_steps=2"};
  const auto takes_9 = HasSubstr("takes 9 (model.decoder.max_positions)");
  const auto dev = read_text(folder_ / "dev.fr");
  write_text(folder_ / "dev.en", read_text(folder_ / "dev.en") + "the cat\n");
  write_text(folder_ / "dev.fr", dev + "a b c d e f g h i j k\n");
  const auto refused = train_transformer(learned);
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("dev.fr:21: found 12 tokens"), takes_9));

  ASSERT_EQ(train_transformer(learned + Words{"data.dev.src=", "data.dev.trg="}).code, 0);
  const Words texts = {"-m", path("run"), "-s", path("dev.en")};
  for (const Words& command : {Words{"evaluate", "-r"}, {"score", "-t"}}) {
    const auto result = run(command + Words{path("dev.fr")} + texts);
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
