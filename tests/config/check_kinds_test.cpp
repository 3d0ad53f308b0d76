#include "config/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/reader.h"
#include "tests/config/message.h"

namespace regard::check_kinds_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string no_error = "no error";
const std::string encoder = "model.encoder.kind=transformer";
const std::string decoder = "model.decoder.kind=transformer";
const std::string one_width = "model.encoder.embedding_dim=512";
const std::string target_width = "model.decoder.embedding_dim=512";

std::string problem(const std::vector<std::string>& overrides, const std::string& yaml = "") {
  return config_error([&] {
    SourceLocations locations;
    const auto options = parse_options(yaml, "f", overrides, &locations);
    check_options(options, locations);
  });
}

// Returns the problem of a training on two pairs of files.
std::string training_problem(std::vector<std::string> overrides,
                             const std::vector<std::string>& more) {
  overrides.insert(overrides.end(), more.begin(), more.end());
  return config_error([&] {
    check_training_options(parse_options(
        "data:\n  train: [{src: a, trg: b}]\n  dev: {src: c, trg: d}\ntraining: {epochs: 1}\n", "f",
        overrides));
  });
}

TEST(CheckKinds, EveryKindAcceptsItsOwnOptions) {
  EXPECT_EQ(problem({encoder, one_width, "model.encoder.heads=4", "model.dropout.attention=0.1"}),
            no_error);
  EXPECT_EQ(problem({decoder, target_width, "model.decoder.norm=post"}), no_error);
  EXPECT_EQ(problem({encoder, one_width, decoder, target_width, "model.encoder.position=learned",
                     "model.encoder.max_positions=300"}),
            no_error);
  EXPECT_EQ(problem({"model.encoder.self_attention_layers=1", "model.encoder.heads=1",
                     "model.encoder.position=sinusoidal"}),
            no_error);
  EXPECT_EQ(problem({"model.dropout.attention=0.1"}), no_error);
}

TEST(CheckKinds, AConvolutionalEncoderNeedsImagesThatItsBlocksDivide) {
  const auto images = [](std::vector<std::string> more) {
    const std::vector<std::string> all = {
        "data.source=features",          "model.encoder.kind=convolutional",
        "model.encoder.numbers=48",      "model.encoder.layers=2",
        "model.encoder.image_height=12", "model.encoder.hidden_size=64",
        "model.decoder.kind=recurrent"};
    more.insert(more.begin(), all.begin(), all.end());
    return problem(more);
  };
  EXPECT_EQ(images({}), no_error);
  EXPECT_EQ(images({"model.encoder.image_channels=1"}), no_error);
  EXPECT_THAT(images({"model.encoder.image_height=0"}),
              AllOf(HasSubstr("model.encoder.image_height"), HasSubstr("0 pixels"),
                    HasSubstr("a multiple of 4")));
  EXPECT_THAT(images({"model.encoder.numbers=54"}),
              AllOf(HasSubstr("model.encoder.numbers"), HasSubstr("width 18 pixels"),
                    HasSubstr("a multiple of 4")));
  EXPECT_THAT(images({"model.encoder.numbers=47"}),
              HasSubstr("a multiple of model.encoder.image_c"));
  EXPECT_THAT(images({"model.encoder.hidden_size=63"}), HasSubstr("a multiple of 2"));
  EXPECT_THAT(images({"data.max_frames=11"}), HasSubstr("no image would be left"));
  EXPECT_THAT(images({"data.source=text"}), HasSubstr("it reads images"));
  EXPECT_THAT(images({"model.encoder.embedding_dim=7", "model.encoder.bidirectional=false"}),
              AllOf(HasSubstr("model.encoder.embedding_dim"), HasSubstr("a recurrent encoder")));
  EXPECT_THAT(images({"model.decoder.initial_state=layers"}), HasSubstr("is convolutional"));
  EXPECT_THAT(problem({"model.encoder.image_height=12"}),
              HasSubstr("only an encoder of kind convolutional uses it"));
}

TEST(CheckKinds, UnusedOptionNamesItsLocationAndItsKind) {
  EXPECT_THAT(problem({}, "model:\n  encoder:\n    heads: 4\n"),
              AllOf(StartsWith("f:3: model.encoder.heads: 8 → 4: "), HasSubstr("transformer"),
                    HasSubstr("self_attention_layers"), HasSubstr("remove it")));
  EXPECT_THAT(problem({encoder, one_width, "model.encoder.bidirectional=false"}),
              AllOf(HasSubstr("model.encoder.bidirectional"), HasSubstr("a recurrent encoder")));
  EXPECT_THAT(problem({encoder, one_width, "model.encoder.self_attention_layers=2"}),
              HasSubstr("a recurrent encoder"));
  EXPECT_THAT(problem({decoder, target_width, "model.decoder.readout_size=256",
                       "model.attention.kind=dot", "model.decoder.query=new"}),
              AllOf(HasSubstr("model.decoder.readout_size"), HasSubstr("model.attention.kind"),
                    HasSubstr("model.decoder.query"), HasSubstr("a recurrent decoder")));
  EXPECT_THAT(problem({"model.decoder.feed_forward_size=64"}),
              HasSubstr("a decoder of kind transformer"));
  EXPECT_THAT(problem({"model.attention.kind=none", "model.dropout.attention=0.1"}),
              HasSubstr("an attention other than none"));
  EXPECT_THAT(problem({encoder, one_width, "model.encoder.max_positions=300"}),
              HasSubstr("position: learned"));
}

TEST(CheckKinds, HeadsMustDivideTheWidth) {
  EXPECT_THAT(problem({encoder, one_width, "model.encoder.heads=7"}),
              AllOf(HasSubstr("model.encoder.heads: found 7"), HasSubstr("512"),
                    HasSubstr("model.encoder.hidden_size")));
  EXPECT_THAT(
      problem({encoder, one_width, "model.encoder.heads=512", "model.encoder.position=rotary"}),
      AllOf(HasSubstr("model.encoder.position: found rotary with heads of width 1"),
            HasSubstr("change model.encoder.heads (512)")));
  EXPECT_THAT(
      problem({decoder, target_width, "model.decoder.heads=512", "model.decoder.position=rotary"}),
      HasSubstr("model.decoder.position: found rotary with heads of width 1"));
  EXPECT_THAT(problem({decoder, target_width, "model.decoder.heads=3"}),
              AllOf(HasSubstr("model.decoder.heads: found 3"), HasSubstr("512")));
  // Bidirectional states are 1024 wide.
  EXPECT_EQ(problem({"model.encoder.self_attention_layers=1", "model.encoder.heads=1024"}),
            no_error);
  EXPECT_THAT(problem({"model.encoder.self_attention_layers=1", "model.encoder.heads=3"}),
              HasSubstr("1024"));
}

TEST(CheckKinds, UnusedOptionOfAnAttentionNamesTheKindsThatUseIt) {
  EXPECT_THAT(problem({"model.attention.kind=dot", "model.attention.heads=2"}),
              HasSubstr("model.attention.heads: 8 → 2: dot does not read it, only multi_head"));
  EXPECT_THAT(problem({"model.attention.kind=local_p", "model.attention.sharpness=step"}),
              HasSubstr("local_p with score general does not read it, only cosine"));
  EXPECT_EQ(problem({"model.attention.kind=local_p", "model.attention.score=cosine",
                     "model.attention.sharpness=step"}),
            no_error);
  EXPECT_THAT(problem({"model.attention.reward=0.5"}),
              HasSubstr("additive does not read it, only hard"));
  EXPECT_THAT(problem({"model.attention.kind=general", "model.attention.window=3"}),
              HasSubstr("general does not read it, only local_m, local_p"));
  EXPECT_THAT(problem({"model.attention.kind=hard", "model.attention.estimator=reinforce",
                       "model.attention.temperature=0.2"}),
              HasSubstr("only model.attention.estimator: gumbel uses it"));
  EXPECT_THAT(problem({"model.attention.kind=hard", "model.attention.reward=0.5"}),
              HasSubstr("only model.attention.estimator: reinforce uses it"));
  // Most kinds share the size, so that another kind is one word in a configuration that sets it.
  EXPECT_EQ(problem({"model.attention.kind=dot", "model.attention.size=8"}), no_error);
  EXPECT_THAT(problem({decoder, target_width, "model.attention.size=8"}),
              HasSubstr("only a recurrent decoder uses it"));
}

TEST(CheckKinds, ALanguageModelReadsOnlyTheTargetSide) {
  const auto found = [](const std::vector<std::string>& more) {
    return training_problem({"model.kind=language_model", "data.train.0.src=b", "data.dev.src=d",
                             "training.early_stopping_metric=perplexity"},
                            more);
  };
  EXPECT_EQ(found({}), no_error);
  for (const auto* override : {"model.encoder.layers=2", "data.noise.mask=0.1"}) {
    EXPECT_THAT(found({override}), HasSubstr("only a model with an encoder uses it")) << override;
  }
  EXPECT_THAT(found({"model.attention.kind=dot"}), HasSubstr("only a model of kind translation"));
  EXPECT_THAT(found({"data.tokenizer.joint=true"}), HasSubstr("set joint to false"));
  EXPECT_THAT(found({"training.early_stopping_metric=bleu"}),
              HasSubstr("set the metric to perplexity or loss"));
  EXPECT_THAT(found({"data.train.0.src=x"}), HasSubstr("reads only trg; remove src"));
  EXPECT_THAT(found({"training.objective=minimum_risk"}),
              HasSubstr("nothing is translated; set objective to likelihood"));
}

TEST(CheckKinds, AMaskedLanguageModelHasNoiseAndNoDecoder) {
  const auto found = [](const std::vector<std::string>& more) {
    return training_problem(
        {"model.kind=masked_language_model", encoder, "model.tied_embeddings=all",
         "data.tokenizer.joint=true", "data.noise.mask=0.15", "data.train.0.src=b",
         "data.dev.src=d", "training.early_stopping_metric=perplexity"},
        more);
  };
  EXPECT_EQ(found({}), no_error);
  EXPECT_THAT(found({"data.noise.mask=0"}), HasSubstr("set it to 0.15"));
  EXPECT_THAT(found({"data.noise.drop=0.1"}),
              HasSubstr("only a model of kind translation uses it"));
  EXPECT_THAT(found({"model.decoder.layers=2"}), HasSubstr("only a model with a decoder uses it"));
  EXPECT_THAT(found({"model.tied_embeddings=output"}), HasSubstr("set it to all"));
  EXPECT_THAT(found({"training.early_stopping_metric=bleu"}),
              HasSubstr("set the metric to perplexity"));
  EXPECT_THAT(found({"data.train.0.src=x"}), HasSubstr("reads only trg; remove src"));
}

TEST(CheckKinds, NoiseNeedsATextThatIsReconstructed) {
  const std::string mask = "data.noise.mask=0.3";
  EXPECT_THAT(training_problem({mask}, {}), HasSubstr("no corpus of data.train has the same file"));
  EXPECT_THAT(training_problem({mask, "data.train.0.src=b", "data.dev.src=d"},
                               {"training.early_stopping_metric=chrf"}),
              HasSubstr("set the metric to perplexity"));
  EXPECT_THAT(training_problem({mask, "data.train.0.src=b"}, {"data.noise.span_length=0.1"}),
              HasSubstr("expected 0 or at least 0.5"));
  EXPECT_THAT(training_problem({"data.noise.span_length=2"}, {}),
              HasSubstr("only data.noise.mask above 0 uses it"));
}

TEST(CheckKinds, ObjectivesRefuseWhatTheyCannotLearnFrom) {
  const auto risk = [](const std::vector<std::string>& more) {
    return training_problem({"training.objective=minimum_risk"}, more);
  };
  EXPECT_EQ(risk({}), no_error);
  EXPECT_THAT(risk({"training.r_drop=4", "model.dropout.states=0.1"}),
              HasSubstr("training.objective is minimum_risk, but training.r_drop is 4"));
  EXPECT_THAT(risk({"model.attention.kind=hard", "model.attention.estimator=reinforce"}),
              HasSubstr("set estimator to gumbel"));
  EXPECT_THAT(risk({"training.minimum_risk.samples=1"}),
              AllOf(HasSubstr("training.minimum_risk.samples"), HasSubstr("between 2 and 1000")));
  EXPECT_THAT(risk({"training.minimum_risk.metric=ter"}), HasSubstr("bleu"));
  EXPECT_THAT(training_problem({"training.minimum_risk.samples=50"}, {}),
              HasSubstr("only training.objective: minimum_risk uses it"));
  EXPECT_THAT(training_problem({"training.r_drop=4", "model.dropout.states=0"},
                               {"model.dropout.embeddings=0", "model.dropout.readout=0"}),
              HasSubstr("every option of model.dropout is 0"));
}

TEST(CheckKinds, FeaturesContradictWhatReadsText) {
  const auto features = [](const std::vector<std::string>& more) {
    return training_problem({"data.source=features", "model.encoder.numbers=3",
                             "model.encoder.pyramidal=true", "model.encoder.layers=2"},
                            more);
  };
  EXPECT_EQ(features({}), no_error);
  EXPECT_THAT(features({"model.encoder.numbers=0"}), HasSubstr("data.source is features"));
  EXPECT_THAT(features({"model.encoder.residual=true"}), HasSubstr("model.encoder.pyramidal"));
  EXPECT_THAT(features({"data.remove_duplicates=true"}), HasSubstr("data.source is features"));
  EXPECT_THAT(training_problem({"model.encoder.pyramidal=true"}, {}),
              HasSubstr("only data.source: features uses it"));
}

TEST(CheckKinds, ASavedConfigurationMaySetKeysThatNothingReads) {
  auto options = parse_options(
      "", "f",
      {"model.attention.project_keys=false", "model.encoder.heads=2", "model.attention.size=8"});
  EXPECT_THROW(check_options(options), ConfigError);
  reset_unread(options);
  EXPECT_NO_THROW(check_options(options));
  EXPECT_EQ(options.model.encoder.self_attention.heads, SelfAttentionOptions().heads);
  EXPECT_EQ(options.model.attention.size, 8);
  options.model.attention.kind = AttentionKind::dot;  // for which a size is no error
  reset_unread(options);
  EXPECT_EQ(options.model.attention.size, 8);
}

TEST(CheckKinds, ATransformerIsOneWordAtTheBuiltInSizes) {
  EXPECT_EQ(problem({encoder}), no_error);
  EXPECT_EQ(problem({decoder}), no_error);
  EXPECT_EQ(problem({encoder, decoder}), no_error);
}

TEST(CheckKinds, OneDirectionMayBeTheReverse) {
  EXPECT_EQ(problem({"model.encoder.bidirectional=false", "model.encoder.reverse=true"}), no_error);
  EXPECT_THAT(problem({"model.encoder.reverse=true"}),
              AllOf(HasSubstr("model.encoder.reverse"), HasSubstr("bidirectional: false")));
}

TEST(CheckKinds, CopiedStatesNeedLayersOfTheSameKind) {
  const std::string copied = "model.decoder.initial_state=layers";
  const std::string one_way = "model.encoder.bidirectional=false";
  EXPECT_EQ(problem({copied, one_way}), no_error);
  EXPECT_EQ(problem({copied, "model.decoder.hidden_size=1024"}), no_error);
  EXPECT_THAT(problem({copied}),
              AllOf(HasSubstr("model.decoder.hidden_size is 512"), HasSubstr("1024")));
  EXPECT_THAT(problem({copied, one_way, "model.encoder.layers=2", "model.encoder.cell=lstm"}),
              AllOf(HasSubstr("model.encoder.layers is 2 and model.decoder.layers is 1"),
                    HasSubstr("model.encoder.cell is lstm and model.decoder.cell is gru")));
  EXPECT_THAT(problem({copied, encoder}), HasSubstr("self-attention layers"));
}

TEST(CheckKinds, WithoutAContextTheFirstStateMustDependOnTheSource) {
  const std::vector<std::string> none = {"model.attention.kind=none",
                                         "model.attention.fixed_context=initial"};
  const auto problem_with = [&](const std::string& more) {
    return problem({none[0], none[1], more});
  };
  EXPECT_EQ(problem(none), no_error);
  EXPECT_THAT(problem_with("model.decoder.initial_state=zero"),
              HasSubstr("would not depend on the source"));
  EXPECT_THAT(problem_with("model.decoder.query=new"), HasSubstr("model.decoder.query is new"));
}

TEST(CheckKinds, LearnedPositionsMustCoverMaxLength) {
  const std::string learned = "model.decoder.position=learned";
  const std::string few = "model.decoder.max_positions=60";
  EXPECT_THAT(problem({decoder, target_width, learned, few, "data.max_length=60"}),
              AllOf(HasSubstr("model.decoder.max_positions is 60"), HasSubstr("data.max_length"),
                    HasSubstr("expected at least 61")));
  EXPECT_THAT(problem({decoder, target_width, learned, few, "data.max_length=59"}),
              HasSubstr("search.max_output_length"));
  EXPECT_EQ(problem({decoder, target_width, learned, few, "data.max_length=59",
                     "search.max_output_length=60"}),
            no_error);
  EXPECT_THAT(problem({encoder, one_width, "model.encoder.position=learned",
                       "model.encoder.max_positions=60"}),
              HasSubstr("model.encoder.max_positions is 60"));
}

TEST(CheckKinds, TransformerReadoutIsAsWideAsItsEmbedding) {
  EXPECT_EQ(problem({decoder, target_width, "model.tied_embeddings=output"}), no_error);
}

}  // namespace
}  // namespace regard::check_kinds_test
