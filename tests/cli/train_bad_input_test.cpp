// regard train: bad input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "tests/cli/train.h"

namespace regard::train_bad_input_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Bad input ends with an exit code and a message with these words.
using TrainBadInput = Train;

TEST_F(TrainBadInput, AMissingCorpusFile) {
  const auto result = train({"data.train.0.src=" + (folder_ / "nowhere.en").string()});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("nowhere.en"), HasSubstr("command line: data.train.0.src"),
                    HasSubstr("no such file")));
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(TrainBadInput, MissingFileNamesItsKeyAndLine) {
  fs::remove(folder_ / "dev.fr");
  const auto result = train();
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("config.yaml:7: data.dev.trg"), HasSubstr("dev.fr")));
}

TEST_F(TrainBadInput, HallucinationWithoutACommonSubstring) {
  const auto result = train({"data.hallucination.rate=0.3", "data.hallucination.length=40"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("found no 40 equal tokens in a row on both sides"));
  EXPECT_FALSE(fs::exists(folder_ / "run" / "checkpoints"));
}

TEST_F(TrainBadInput, ExchangedSidesOfTheValidationPairAreAWarning) {
  const auto swapped = train(
      {"data.dev.src=" + path("dev.fr"), "data.dev.trg=" + path("dev.en"), "training.max_steps=1"});
  EXPECT_EQ(swapped.code, 0);
  EXPECT_THAT(swapped.err, HasSubstr("exchange data.dev.src and data.dev.trg"));
  EXPECT_THAT(train({"--fresh", "training.max_steps=1"}).err,
              Not(HasSubstr("exchange data.dev.src")));
}

TEST_F(TrainBadInput, BleuOfSingleWordsIsAWarning) {
  write_text(folder_ / "dev.fr", "a\nb\nc\n");
  write_text(folder_ / "dev.en", "a\nb\nc\n");
  EXPECT_THAT(train({"training.max_steps=1"}).err,
              AllOf(HasSubstr("dev.fr: only 0 of 3 lines have four words"),
                    HasSubstr("set training.early_stopping_metric to exact or chrf")));
  EXPECT_THAT(
      train({"--fresh", "training.max_steps=1", "training.early_stopping_metric=exact"}).err,
      Not(HasSubstr("four words")));
}

TEST_F(TrainBadInput, TargetsLongerThanAnOutputMayBeAreAWarning) {
  const auto cut = train({"search.max_output_length=2", "training.max_steps=1"});
  EXPECT_EQ(cut.code, 0);
  EXPECT_THAT(cut.err, AllOf(HasSubstr("search.max_output_length (2)"),
                             HasSubstr("cannot be reached; set them to 10 and 3")));
  EXPECT_THAT(train({"--fresh", "training.max_steps=1"}).err, Not(HasSubstr("cannot be reached")));
}

TEST_F(TrainBadInput, ACorpusWithoutUsablePairs) {
  const auto result = train({"data.max_length=1"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("train.en"), HasSubstr("no training pair is left"),
                                HasSubstr("data.max_length")));
}

TEST_F(TrainBadInput, MisspeltKeyInTheFileNamesItsLine) {
  write_text(config_, read_text(config_) + "  beam_sise: 3\n");
  const auto result = train();
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("config.yaml:"), HasSubstr("beam_size")));
}

TEST_F(TrainBadInput, AnAttentionWithoutASizeSaysThatItIsNotRead) {
  const std::string size = "model.attention.size=32";
  for (const auto& kind : {"general", "local_p"}) {  // local_p scores as `general`
    const auto model_dir = (folder_ / kind).string();
    const auto result = train({std::string("model.attention.kind=") + kind, size,
                               "training.model_dir=" + model_dir, "training.max_steps=1"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr(std::string("model.attention.size has no effect: ") + kind));
    const auto resumed = train({std::string("model.attention.kind=") + kind, size,
                                "training.model_dir=" + model_dir, "training.max_steps=2"});
    EXPECT_EQ(resumed.code, 0) << resumed.err;
  }
  EXPECT_THAT(train({"model.attention.kind=additive", size, "training.max_steps=1"}).err,
              Not(HasSubstr("has no effect")));
}

TEST_F(TrainBadInput, AttentionBetweenStatesOfTwoWidths) {
  const Words dot = {"model.attention.kind=dot", "model.attention.size=512",
                     "training.max_steps=1"};
  const auto result = train(dot + Words{"model.attention.project_keys=false"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("project_keys"), HasSubstr("wide")));

  const auto projected = train(dot);
  EXPECT_EQ(projected.code, 0);
  EXPECT_THAT(projected.err, HasSubstr("keys of width 16 that a matrix computes from the encoder "
                                       "states of width 32 (model.attention.project_keys: auto)"));
  EXPECT_THAT(read_text(folder_ / "run" / "config.yaml"),
              AllOf(HasSubstr("project_keys: true"), HasSubstr("query: new")));
  const auto resumed = train(dot);  // `auto` means what it meant
  EXPECT_EQ(resumed.code, 0) << resumed.err;
}

TEST_F(TrainBadInput, AnInitialModelGivesAutoItsValue) {
  const Words dot = {"model.attention.kind=dot", "model.attention.size=512",
                     "training.max_steps=1"};
  ASSERT_EQ(train(dot + Words{"model.decoder.query=last"}).code, 0);
  EXPECT_EQ(
      train(dot + Words{"--init-from", path("run"), "training.model_dir=" + path("other")}).code,
      0);
  EXPECT_THAT(read_text(folder_ / "other" / "config.yaml"), HasSubstr("query: last"));
}

TEST_F(TrainBadInput, AnEncoderOfAnotherKindThanTheDecoderNeedsNoOtherOption) {
  const Words mixed = {"model.encoder.kind=transformer", "model.encoder.embedding_dim=8"};
  const auto result = train(mixed + Words{"training.max_steps=1"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("projects the embeddings of width 8 to the width 16"));
  EXPECT_EQ(train(mixed + Words{"training.max_steps=2"}).code, 0);
}

TEST_F(TrainBadInput, AttentionsThatDoNotFitTheModelOrTheData) {
  const auto refused = [&](const Words& overrides) {
    const auto result = train(overrides);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("command line: "));
    return result.err;
  };
  const Words local_p = {"model.attention.size=512", "model.attention.kind=local_p"};
  EXPECT_THAT(refused(local_p + Words{"model.attention.score=ntm"}),
              HasSubstr("`ntm` is not a content score"));
  EXPECT_THAT(
      refused(local_p + Words{"model.attention.score=dot", "model.attention.project_keys=false"}),
      HasSubstr("model.attention.score: dot compares"));
  EXPECT_THAT(refused({"model.attention.kind=multi_head", "model.attention.heads=5"}),
              HasSubstr("command line: model.attention.heads=5: model.attention.heads: found 5, "
                        "expected a divisor of the width that the heads share, 16"));
  EXPECT_THAT(
      refused({"model.attention.size=512", "model.attention.kind=location",
               "model.attention.max_positions=20", "data.max_length=20"}),
      AllOf(HasSubstr("model.attention.max_positions is 20"), HasSubstr("expected at least 21")));
  for (const std::string kind : {"local_m", "local_p"}) {
    EXPECT_THAT(refused({"model.attention.size=512", "model.attention.kind=" + kind,
                         "model.attention.window=20", "data.max_length=20"}),
                AllOf(HasSubstr("model.attention.window is 20"), HasSubstr("kind: general")));
  }
}

TEST_F(TrainBadInput, TooLongSourceNamesItsLine) {
  const Words location = {"model.attention.size=512", "model.attention.kind=location",
                          "model.attention.max_positions=9", "data.max_length=8",
                          "training.max_steps=2"};
  write_text(folder_ / "dev.en", read_text(folder_ / "dev.en") + "a b c d e f g h i j k\n");
  write_text(folder_ / "dev.fr", read_text(folder_ / "dev.fr") + "a b c d e f g h i j k\n");
  const auto trained = train(location);
  EXPECT_EQ(trained.code, 3);
  EXPECT_THAT(trained.err, AllOf(HasSubstr("dev.en:21: found 12 tokens"),
                                 HasSubstr("takes 9 (model.attention.max_positions)")));
  ASSERT_EQ(train(location + Words{"data.dev.src=", "data.dev.trg="}).code, 0);
  const auto translated =
      run({"translate", "-m", path("run")}, "the cat\nthe the the the the the the the the the\n");
  EXPECT_EQ(translated.code, 3);
  EXPECT_THAT(translated.err, HasSubstr("source line 2: found 11 tokens"));
}

TEST_F(TrainBadInput, WeightsWithoutAPairPerEpoch) {
  for (const auto& more : {Words{}, {"--dry-run"}}) {
    const auto result = train(more + Words{"data.train.0.weight=0.001"});
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, AllOf(HasSubstr("data.train.0.weight is 0.001"),
                                  HasSubstr("0.2 of 200 pairs on average")));
  }
}

TEST_F(TrainBadInput, AVocabularyTooLargeForTheCorpus) {
  const auto result = train({"data.tokenizer.kind=bpe", "data.tokenizer.vocabulary_size=5000"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("vocabulary_size"), HasSubstr("5000"), HasSubstr("train.en")));
}

TEST_F(TrainBadInput, AMissingDevice) {
  const auto result = train({"--device", "cuda:99"});
  EXPECT_EQ(result.code, 6);
  EXPECT_THAT(result.err, HasSubstr("cuda:99"));
}

TEST_F(TrainBadInput, AFolderThatCannotBeCreated) {
  const auto result = train({"training.model_dir=/proc/no/run"});
  EXPECT_EQ(result.code, 6);
  EXPECT_THAT(result.err, HasSubstr("/proc/no"));
}

TEST_F(TrainBadInput, FullDiskKeepsTheLastCheckpoint) {
  const auto disk = folder_ / "disk";
  fs::create_directories(disk);
  const auto mount = "mount -t tmpfs -o size=400k none '" + disk.string() + "' 2>/dev/null";
  if (geteuid() != 0 || std::system(mount.c_str()) != 0) GTEST_SKIP() << "no tmpfs to fill";
  const auto result =
      train({"training.model_dir=" + (disk / "run").string(), "training.max_steps=100",
             "training.validation_every=5", "training.keep_newest=50"});
  const bool kept = fs::exists(disk / "run" / "last" / "model.safetensors");
  const auto translated = run({"translate", "-m", (disk / "run" / "last").string()}, "the cat\n");
  EXPECT_EQ(std::system(("umount '" + disk.string() + "'").c_str()), 0);
  EXPECT_EQ(result.code, 6);
  EXPECT_TRUE(kept);
  EXPECT_EQ(translated.code, 0) << translated.err;
}

TEST_F(TrainBadInput, DifferentArchitectureOfTheRunNamesTheKeys) {
  ASSERT_EQ(train({"training.max_steps=1"}).code, 0);
  const auto before = weights();
  const auto result = train({"model.decoder.hidden_size=24"});
  EXPECT_EQ(result.code, 5);
  EXPECT_THAT(result.err, AllOf(HasSubstr("model.decoder.hidden_size"), HasSubstr("24")));
  EXPECT_EQ(weights(), before);
}

TEST_F(TrainBadInput, InitFromAnotherArchitecture) {
  const auto result = train({"--init-from", tiny_model().string(), "model.attention.size=24"});
  EXPECT_EQ(result.code, 5);
  EXPECT_THAT(result.err, AllOf(HasSubstr("shape"), HasSubstr("model.attention.size: 16 → 24")));
}

TEST_F(TrainBadInput, InitFromAnotherAttentionWithUnusedWeights) {
  const auto result = train({"--init-from", tiny_model().string(), "model.attention.size=512",
                             "model.attention.kind=general"});
  EXPECT_EQ(result.code, 5);
  EXPECT_THAT(result.err, HasSubstr("model.attention.kind: additive → general"));
}

TEST_F(TrainBadInput, InitFromAnotherAttentionWithMatchingWeights) {
  const Words same = {"model.attention.size=512", "model.attention.project_keys=true",
                      "training.max_steps=1"};
  ASSERT_EQ(train(same + Words{"model.attention.kind=dot"}).code, 0);
  const auto result =
      train(same + Words{"--init-from", path("run"), "model.attention.kind=scaled_dot",
                         "model.dropout.readout=0.3", "training.model_dir=" + path("other")});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("but come from a model with other options:\n"
                                          "  model.attention.kind: dot → scaled_dot"),
                                Not(HasSubstr("model.dropout"))));
}

TEST_F(TrainBadInput, AnUnwritableFolder) {
  const auto locked = folder_ / "locked";
  fs::create_directories(locked);
  // Root ignores permissions, but not a read-only file system.
  const bool root = geteuid() == 0;
  const auto mount = "mount -t tmpfs -o ro none '" + locked.string() + "' 2>/dev/null";
  if (root && std::system(mount.c_str()) != 0) GTEST_SKIP() << "no read-only file system";
  if (!root) fs::permissions(locked, fs::perms::owner_read | fs::perms::owner_exec);
  const auto into = "training.model_dir=" + (locked / "run").string();
  const auto results = {train({into}), train({into, "--dry-run"})};
  if (root) {
    EXPECT_EQ(std::system(("umount '" + locked.string() + "'").c_str()), 0);
  } else {
    fs::permissions(locked, fs::perms::owner_all);
  }
  for (const auto& result : results) {
    EXPECT_EQ(result.code, 6);
    EXPECT_THAT(result.err, AllOf(HasSubstr("locked/run"), HasSubstr("choose another place")));
  }
}

TEST_F(TrainBadInput, TextOfUnknownTokensIsAWarning) {
  const auto result =
      train({"--dry-run", "data.tokenizer.kind=word", "data.tokenizer.vocabulary_size=6"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("% of the source tokens are unknown; does the vocabulary "));
  EXPECT_THAT(train({"--dry-run"}).err, Not(HasSubstr("tokens are unknown")));
}

TEST_F(TrainBadInput, DoesNotWriteIntoAFolderOfAnotherUser) {
  const auto project = folder_ / "project";
  fs::create_directories(project);
  const auto config = read_text(config_);
  for (const auto* name : {"config.yaml", "manifest.json"}) {
    fs::remove_all(project);
    fs::create_directories(project);
    write_text(project / name, config);
    for (const auto* fresh : {"training.max_steps=60", "--fresh"}) {
      const auto result = train({"training.model_dir=" + project.string(), fresh});
      EXPECT_EQ(result.code, 2) << name;
      EXPECT_THAT(result.err, HasSubstr("training.model_dir to another folder"));
    }
    EXPECT_EQ(read_text(project / name), config);
    EXPECT_EQ(std::distance(fs::directory_iterator(project), {}), 1);
  }
}

// Returns the names and bytes of all files below a folder.
std::map<std::string, std::string> contents_of(const fs::path& folder) {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) found[entry.path().string()] = read_text(entry.path());
  }
  return found;
}

TEST_F(TrainBadInput, ModelFolderIsNoRunFolder) {
  const auto trained = copy_of_run(tiny_model(), folder_ / "run");
  const auto averaged = folder_ / "averaged";
  ASSERT_EQ(run({"average", trained.string(), "--best", "1", "-o", averaged.string()}).code, 0);
  const auto before = contents_of(folder_);
  for (const auto& [model, option] : {std::pair{averaged, "training.max_steps=70"},
                                      {averaged, "--fresh"},
                                      {averaged, "--dry-run"},
                                      {trained / "best", "training.max_steps=70"},
                                      {trained / "last", "--fresh"}}) {
    const auto result = train({"training.model_dir=" + model.string(), option});
    EXPECT_EQ(result.code, 2) << model << option << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr("is a model"), HasSubstr("--init-from")));
  }
  EXPECT_EQ(contents_of(folder_), before);
}

TEST_F(TrainBadInput, DoesNotOverwriteForeignFiles) {
  const auto project = folder_ / "project";
  for (const auto* name :
       {"train.jsonl", "train.log", "validations.tsv", "validation/step-00000030.txt",
        "checkpoints/mine", "last", "best", "events.out.tfevents.0000000001.host.regard"}) {
    fs::remove_all(project);
    fs::create_directories((project / name).parent_path());
    write_text(project / name, "mine");
    const auto before = contents_of(project);
    for (const auto* option : {"training.max_steps=60", "--fresh"}) {
      const auto result = train({"training.model_dir=" + project.string(), option});
      EXPECT_EQ(result.code, 2) << name << result.err;
      EXPECT_THAT(result.err, HasSubstr("training.model_dir to another folder"));
    }
    EXPECT_EQ(contents_of(project), before) << name;
  }
}

TEST_F(TrainBadInput, AcceptsAFolderWithOtherFiles) {
  fs::create_directories(folder_ / "run");
  write_text(folder_ / "run" / "notes.txt", "mine");
  EXPECT_EQ(train({"training.max_steps=1"}).code, 0);
  EXPECT_EQ(read_text(folder_ / "run" / "notes.txt"), "mine");
}

}  // namespace
}  // namespace regard::train_bad_input_test
