// Training that starts with another model: adopted options, freezing, larger vocabularies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/cli/train.h"

namespace regard::transfer_test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A parent with sizes of its own, and a configuration of a child that names only its data.
class Transfer : public Train {
 protected:
  void SetUp() override {
    write_text(folder_ / "child.yaml",
               "name: child\ndata:\n  train: [{src: " + path("train.en") +
                   ", trg: " + path("train.fr") + "}]\n  dev: {src: " + path("dev.en") +
                   ", trg: " + path("dev.fr") + "}\ntraining:\n  model_dir: " + path("child") +
                   "\n  max_steps: 20\n  validation_every: 10\n");
    copy_of_run(tiny_transformer(), folder_ / "run");
  }
  Finished train_child(const Words& more = {}) const {
    return train_alone(Words{"--init-from", (folder_ / "run").string()} + more);
  }
  // Without --init-from.
  Finished train_alone(const Words& more = {}) const {
    return run(Words{"train", "-c", (folder_ / "child.yaml").string(), "--threads", "1"} + more);
  }
  std::string config(const std::string& name) const {
    return read_text(folder_ / name / "last" / "config.yaml");
  }
  Words validations(const std::string& name) const {
    auto rows = lines_of(read_text(folder_ / name / "validations.tsv"));
    rows.erase(rows.begin());
    return rows;
  }
};

// Returns the part of a configuration from a key to the next key at the top.
std::string section(const std::string& yaml, const std::string& key) {
  const auto begin = yaml.find("\n" + key + ":");
  const auto end = yaml.find_first_of("abcdefghijklmnopqrstuvwxyz", begin + key.size() + 3);
  auto next = end;
  while ((next = yaml.find('\n', next)) != std::string::npos && next + 1 < yaml.size() &&
         yaml[next + 1] == ' ') {
    ++next;
  }
  return yaml.substr(begin, next - begin);
}

TEST_F(Transfer, AdoptsTheArchitectureAndTheTokenizersOfTheInitialModel) {
  const auto child = train_child();
  ASSERT_EQ(child.code, 0) << child.err;
  EXPECT_THAT(child.err, AllOf(HasSubstr("adopted from"), HasSubstr("model.encoder.kind"),
                               HasSubstr("loaded initial weights from")));
  EXPECT_THAT(read_text(folder_ / "child" / "train.log"), HasSubstr("adopted from"));
  EXPECT_EQ(section(config("child"), "model"), section(config("run"), "model"));
}

TEST_F(Transfer, AValueThatTheConfigurationSetsIsKept) {
  const auto child = train_child({"model.dropout.states=0.25"});
  ASSERT_EQ(child.code, 0) << child.err;
  EXPECT_THAT(config("child"), HasSubstr("states: 0.25"));
  const auto refused = train_child({"--fresh", "model.encoder.layers=5"});
  EXPECT_EQ(refused.code, 5);
  EXPECT_THAT(refused.err, HasSubstr("model.encoder.layers: 2 → 5"));
}

TEST_F(Transfer, ValidatesOnceBeforeTheFirstStep) {
  const auto child = train_child();
  ASSERT_EQ(child.code, 0) << child.err;
  EXPECT_THAT(child.err, HasSubstr("validation at step 0: loss"));
  const auto rows = validations("child");
  ASSERT_EQ(rows.size(), 3);
  EXPECT_THAT(rows[0], StartsWith("0\t"));
  EXPECT_THAT(rows[1], StartsWith("10\t"));
}

TEST_F(Transfer, SavesBeforeTheFirstStepWithoutAValidationPairToo) {
  const Words no_dev = {"data.dev.src=", "data.dev.trg=", "training.max_steps=3",
                        "training.keep_newest=2"};
  const auto child = train_child(no_dev);
  ASSERT_EQ(child.code, 0) << child.err;
  const auto first = folder_ / "child" / "checkpoints" / "step-00000000";
  ASSERT_TRUE(std::filesystem::exists(first));
  // As if it had been killed at the first step.
  std::filesystem::remove_all(folder_ / "child" / "checkpoints" / "step-00000003");
  std::filesystem::remove(folder_ / "child" / "last");
  std::filesystem::create_symlink("checkpoints/step-00000000", folder_ / "child" / "last");
  const auto trained = weights("run");
  EXPECT_EQ(tensors_of(read_text(first / "model.safetensors")), tensors_of(trained));
  const auto resumed = train_alone(no_dev);
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("step-00000000"));
  EXPECT_EQ(tensors_of(weights("child")).size(), tensors_of(trained).size());
}

TEST_F(Transfer, AnInitialModelThatIsNeverBeatenIsTheBestOne) {
  const auto child =
      train_child({"training.learning_rate=0.3", "training.early_stopping_metric=loss"});
  ASSERT_EQ(child.code, 0) << child.err;
  EXPECT_THAT(child.err, HasSubstr("was before the first step: the initial model"));
  const auto translate = [&](const std::string& name) {
    const Words greedy = {"--beam-size", "1", "--max-output-length", "20"};
    return run(Words{"translate", "-m", (folder_ / name).string()} + greedy,
               read_text(folder_ / "dev.en"))
        .out;
  };
  EXPECT_EQ(translate("child"), translate("run"));
}

TEST_F(Transfer, AStoppedRunResumesToTheSameBytesWithTheSameCommand) {
  const auto once = "training.model_dir=" + (folder_ / "once").string();
  ASSERT_EQ(train_child({once}).code, 0);
  ASSERT_EQ(train_child({"training.max_steps=7"}).code, 0);
  std::filesystem::remove_all(folder_ / "run");  // the parent is not needed any more
  const auto resumed = train_child();
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(weights("child"), weights("once"));
}

TEST_F(Transfer, AStoppedRunResumesWithoutTheOptionOfItsInitialModel) {
  const auto once = "training.model_dir=" + (folder_ / "once").string();
  const Words symbols = {"data.tokenizer.user_symbols=[<a>]", "data.tokenizer.extend_by=5"};
  ASSERT_EQ(train_child(symbols + Words{once}).code, 0);
  ASSERT_EQ(train_child(symbols + Words{"training.max_steps=7"}).code, 0);
  const auto dry = train_alone(symbols + Words{"--dry-run"});
  EXPECT_EQ(dry.code, 0) << dry.err;
  const auto resumed = train_alone(symbols);
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(weights("child"), weights("once"));
  const auto info = run({"info", (folder_ / "child").string()});
  EXPECT_THAT(info.out, HasSubstr("initial weights  " + (folder_ / "run").string()));
}

TEST_F(Transfer, FrozenParametersKeepTheirValuesAndAStoppedRunResumes) {
  const Words frozen = {"training.freeze=[encoder.*, source_embedding]",
                        "training.learning_rates=[{parameters: decoder.*, factor: 0.5}]"};
  const auto with = [&](const Words& more) { return train_child(more + frozen); };
  const auto child = with({});
  ASSERT_EQ(child.code, 0) << child.err;
  EXPECT_THAT(child.err, AllOf(HasSubstr("parameters are frozen"),
                               HasSubstr("parameters learn 0.5 times as fast")));
  const auto before = tensors_of(weights("run"));
  const auto after = tensors_of(weights("child"));
  for (const auto& [name, bytes] : after) {
    const bool is_frozen = name.starts_with("encoder.") || name == "source_embedding";
    EXPECT_EQ(bytes == before.at(name), is_frozen) << name;
  }
  const auto other = "training.model_dir=" + (folder_ / "stopped").string();
  ASSERT_EQ(with({other, "training.max_steps=7"}).code, 0);
  ASSERT_EQ(with({other}).code, 0);
  EXPECT_EQ(weights("stopped"), weights("child"));
}

TEST_F(Transfer, APatternThatMatchesNothingIsAnErrorBeforeTraining) {
  const auto refused = train_child({"training.freeze=[encodr.*]"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("`encodr.*`, which matches no parameter"),
                                 HasSubstr("encoder.layer0")));
  EXPECT_THAT(refused.err, Not(HasSubstr("tokens"))) << "the text was read first";
  EXPECT_FALSE(std::filesystem::exists(folder_ / "child" / "manifest.json"));
}

TEST_F(Transfer, AnExtensionWithoutNewTextIsAWarning) {
  const auto child = train_child({"data.tokenizer.extend_by=5", "training.max_steps=1"});
  ASSERT_EQ(child.code, 0) << child.err;
  EXPECT_THAT(child.err, HasSubstr("data.tokenizer.extend_by: data.train teaches no new entry"));
}

TEST_F(Transfer, SymbolsAreAddedToThoseOfTheInitialModel) {
  const auto grand = "training.model_dir=" + (folder_ / "grand").string();
  ASSERT_EQ(train_child({"data.tokenizer.user_symbols=[<a>]", "training.max_steps=1"}).code, 0);
  const auto child = run(Words{"train", "-c", (folder_ / "child.yaml").string(), "--init-from",
                               (folder_ / "child").string(), "--threads", "1", grand,
                               "training.max_steps=1", "data.tokenizer.user_symbols=[<b>]",
                               "data.train.0.src_tag=<b>", "data.dev.src_tag=<a>"});
  ASSERT_EQ(child.code, 0) << child.err;
  EXPECT_THAT(config("grand"), HasSubstr("user_symbols: [\"<a>\", \"<b>\"]"));
}

TEST_F(Transfer, VocabulariesGrowBySymbolsAndByEntriesOfNewText) {
  std::string source;
  std::string target;
  for (int i = 0; i < 40; ++i) {
    source += "xenon yarrow zither\n";
    target += "xénon yarou zithare\n";
  }
  write_text(folder_ / "new.en", source);
  write_text(folder_ / "new.fr", target);
  const Words more = {"data.train.1.src=" + (folder_ / "new.en").string(),
                      "data.train.1.trg=" + (folder_ / "new.fr").string(),
                      "data.train.1.src_tag=<new>",
                      "data.tokenizer.user_symbols=[<new>]",
                      "data.tokenizer.extend_by=2",
                      "training.max_steps=300"};
  const auto child = train_child(more);
  ASSERT_EQ(child.code, 0) << child.err;
  EXPECT_THAT(child.err, HasSubstr("3 entries and 3 are new in the vocabularies"));
  const auto translated =
      run({"translate", "-m", (folder_ / "child").string(), "--src-tag", "<new>"},
          "xenon yarrow zither\n");
  EXPECT_THAT(translated.out, AnyOf(HasSubstr("xénon"), HasSubstr("yarou")));
  // The entries before keep their weights at the start.
  const auto start = train_child({"training.model_dir=" + (folder_ / "start").string(),
                                  "data.tokenizer.user_symbols=[<new>]",
                                  "training.learning_rate=1e-30", "training.max_steps=1"});
  ASSERT_EQ(start.code, 0) << start.err;
  const auto before = tensors_of(weights("run"));
  const auto after = tensors_of(weights("start"));
  for (const std::string name : {"source_embedding", "output_bias"}) {
    ASSERT_GT(after.at(name).size(), before.at(name).size());
    EXPECT_EQ(after.at(name).substr(0, before.at(name).size()), before.at(name)) << name;
  }
}

TEST_F(Transfer, AFrozenTensorWithNewRowsIsAWarning) {
  const Words symbol = {"data.tokenizer.user_symbols=[<new>]", "training.max_steps=1", "--fresh"};
  const auto child = train_child(symbol + Words{"training.freeze=[source_embedding, encoder.*]"});
  ASSERT_EQ(child.code, 0) << child.err;
  EXPECT_THAT(child.err,
              HasSubstr("training.freeze: the new rows of source_embedding keep their random"));
  EXPECT_THAT(train_child(symbol + Words{"training.freeze=[encoder.*]"}).err,
              Not(HasSubstr("keep their random")));
}

TEST_F(Transfer, ExtensionWithoutAnInitialModelIsAnError) {
  const auto refused = train({"--fresh", "data.tokenizer.extend_by=5"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("data.tokenizer.extend_by is 5"),
                                 HasSubstr("start from one with --init-from")));
}

TEST_F(Transfer, TheCheckOfAdoptedOptionsSaysWhereTheyComeFrom) {
  const auto refused = train_child({"model.decoder.kind=recurrent"});
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("(adopted from "));
}

}  // namespace
}  // namespace regard::transfer_test
