// regard train: what bad input gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "tests/cli/train.h"

namespace regard {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// What bad input gets: an exit code, and a sentence that holds these words.
using TrainBadInput = Train;

TEST_F(TrainBadInput, AMissingCorpusFile) {
  const auto result = train({"data.train.0.src=" + (folder_ / "nowhere.en").string()});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("nowhere.en"), HasSubstr("command line: data.train.0.src"),
                    HasSubstr("no such file")));
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(TrainBadInput, AMissingFileIsNamedByTheKeyAndTheLineThatAskForIt) {
  fs::remove(folder_ / "dev.fr");
  const auto result = train();
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("config.yaml:7: data.dev.trg"), HasSubstr("dev.fr")));
}

TEST_F(TrainBadInput, ACorpusOfWhichNothingIsKept) {
  const auto result = train({"data.max_length=1"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("train.en"), HasSubstr("no training pair is left"),
                                HasSubstr("data.max_length")));
}

TEST_F(TrainBadInput, AMisspeltKeyIsNamedWithASuggestion) {
  const auto result = train({"training.learning_rte=1"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("learning_rte"), HasSubstr("learning_rate")));
}

TEST_F(TrainBadInput, AMisspeltKeyInTheFileIsNamedByLine) {
  write_text(config_, read_text(config_) + "  beam_sise: 3\n");
  const auto result = train();
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("config.yaml:"), HasSubstr("beam_size")));
}

TEST_F(TrainBadInput, AValueOfTheWrongTypeOrOutOfRange) {
  EXPECT_EQ(train({"training.max_steps=many"}).code, 2);
  const auto result = train({"model.dropout.states=1.5"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("1.5"), HasSubstr("0.99")));
}

TEST_F(TrainBadInput, KeysThatContradictEachOther) {
  const auto result = train({"model.tied_embeddings=all"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("tied_embeddings"), HasSubstr("joint")));
}

TEST_F(TrainBadInput, AnUnknownAttentionNamesTheNearest) {
  const auto result = train({"model.attention.kind=aditive"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("`additive`"), HasSubstr("command line:")));
}

TEST_F(TrainBadInput, AnOptionOfAnotherAttentionNamesItsReaders) {
  const auto result = train({"model.attention.kind=general", "model.attention.size=32"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("command line:"), HasSubstr("model.attention.size"),
                                HasSubstr("only additive")));
}

TEST_F(TrainBadInput, AttentionBetweenStatesOfTwoWidths) {
  const auto result = train({"model.attention.kind=dot", "model.attention.size=512"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("project_keys"), HasSubstr("wide")));
}

TEST_F(TrainBadInput, AVocabularyLargerThanTheCorpusCanGive) {
  const auto result = train({"data.tokenizer.kind=bpe", "data.tokenizer.vocabulary_size=5000"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("vocabulary_size"), HasSubstr("5000"), HasSubstr("train.en")));
}

TEST_F(TrainBadInput, ADamagedManifestIsNamedAndCanBeMovedAway) {
  ASSERT_EQ(train().code, 0);
  for (const auto* damaged : {"{", "[]", R"({"data": [1]})"}) {
    write_text(folder_ / "run" / "manifest.json", damaged);
    const auto result = train({"training.max_steps=62"});
    EXPECT_EQ(result.code, 5) << damaged;
    EXPECT_THAT(result.err, HasSubstr("manifest.json: damaged"));
  }
  fs::remove(folder_ / "run" / "manifest.json");
  EXPECT_EQ(train({"training.max_steps=62"}).code, 0);
}

TEST_F(TrainBadInput, TheTokenizerOfADamagedModelIsTheModelsFault) {
  ASSERT_EQ(train().code, 0);
  const auto model = folder_ / "carried_off";
  fs::copy(fs::canonical(folder_ / "run" / "last"), model, fs::copy_options::recursive);
  write_text(model / "source.vocabulary", "a\n\nb\n");
  fs::remove(model / "manifest.json");
  const auto result = run({"translate", "-m", model.string()}, "the cat\n");
  EXPECT_EQ(result.code, 5) << result.err;
}

TEST_F(TrainBadInput, AMissingConfiguration) {
  const auto result = run({"train", "-c", (folder_ / "nowhere.yaml").string()});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("nowhere.yaml"));
}

TEST_F(TrainBadInput, ADeviceThatIsNotThere) {
  const auto result = train({"--device", "cuda:99"});
  EXPECT_EQ(result.code, 6);
  EXPECT_THAT(result.err, HasSubstr("cuda:99"));
}

TEST_F(TrainBadInput, AFolderThatCannotBeMade) {
  const auto result = train({"training.model_dir=/proc/no/run"});
  EXPECT_EQ(result.code, 6);
  EXPECT_THAT(result.err, HasSubstr("/proc/no"));
}

TEST_F(TrainBadInput, AFullDiskKeepsTheLastCheckpoint) {
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

TEST_F(TrainBadInput, ACheckpointCutShortIsNamedAndNothingIsOverwritten) {
  ASSERT_EQ(train().code, 0);
  const auto file = folder_ / "run" / "last" / "training.safetensors";
  fs::resize_file(file, fs::file_size(file) / 2);
  const auto before = weights();
  const auto result = train({"training.max_steps=90"});
  EXPECT_EQ(result.code, 5);
  EXPECT_THAT(result.err, HasSubstr("training.safetensors"));
  EXPECT_EQ(weights(), before);
}

TEST_F(TrainBadInput, FromADamagedCheckpointOneFallsBackToTheOneBefore) {
  const std::vector<std::string> same = {"training.save_every=10", "training.max_steps=70",
                                         "training.keep_newest=3"};
  ASSERT_EQ(train(same).code, 0);
  const auto straight = weights();
  const auto rows = read_text(folder_ / "run" / "validations.tsv");
  const auto checkpoints = folder_ / "run" / "checkpoints";
  write_text(checkpoints / "step-00000070" / "model.safetensors", "x");
  fs::resize_file(checkpoints / "step-00000060" / "manifest.json", 40);
  const auto refused = train(same);
  EXPECT_EQ(refused.code, 5);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("step-00000070"), HasSubstr("--fall-back")));
  auto with_flag = same;
  with_flag.push_back("--fall-back");
  const auto resumed = train(with_flag);
  EXPECT_EQ(resumed.code, 0);
  EXPECT_THAT(resumed.err, AllOf(HasSubstr("step-00000070/model.safetensors: damaged"),
                                 HasSubstr("step-00000060/manifest.json: the manifest is damaged"),
                                 HasSubstr("Going on from step 50")));
  EXPECT_EQ(weights(), straight);
}

// Of a run with three checkpoints; `damage` is done to the last, or to all.
TEST_F(TrainBadInput, EveryKindOfDamageOffersToFallBackAndCanBe) {
  const std::vector<std::string> same = {"training.save_every=10", "training.max_steps=60",
                                         "training.keep_newest=3"};
  const auto fall_back = [&] {
    auto arguments = same;
    arguments.push_back("--fall-back");
    return train(arguments);
  };
  ASSERT_EQ(train(same).code, 0);
  const auto straight = weights();
  for (const std::string file : {"manifest.json", "config.yaml", "model.safetensors",
                                 "training.json", "training.safetensors", "source.vocabulary"}) {
    const auto damaged = folder_ / "run" / "checkpoints" / "step-00000060" / file;
    ASSERT_TRUE(fs::exists(damaged)) << file;
    if (file == "manifest.json") {
      fs::remove(damaged);
    } else {
      fs::resize_file(damaged, fs::file_size(damaged) - 20);
    }
    for (const std::string option : {"--dry-run", "--json"}) {
      auto arguments = same;
      arguments.push_back(option);
      const auto refused = train(arguments);
      EXPECT_EQ(refused.code, 5) << file << refused.err;
      EXPECT_THAT(refused.err, AllOf(HasSubstr(file), HasSubstr("--fall-back"))) << file;
    }
    const auto resumed = fall_back();
    EXPECT_EQ(resumed.code, 0) << file << resumed.err;
    EXPECT_THAT(resumed.err, HasSubstr("Going on from step 50")) << file;
    EXPECT_TRUE(weights() == straight) << file;
  }
  for (const auto* step : {"40", "50", "60"}) {
    write_text(
        folder_ / "run" / "checkpoints" / (std::string("step-000000") + step) / "training.json",
        "{}");
  }
  const auto rows = read_text(folder_ / "run" / "validations.tsv");
  const auto refused = fall_back();
  EXPECT_EQ(refused.code, 5);
  EXPECT_THAT(refused.err, HasSubstr("no checkpoint of this run is sound"));
  EXPECT_TRUE(weights() == straight);
  EXPECT_EQ(read_text(folder_ / "run" / "validations.tsv"), rows);
}

TEST_F(TrainBadInput, ARunWhoseManifestsAreAllLostIsLeftAsItIs) {
  const std::vector<std::string> same = {"training.save_every=10", "training.keep_newest=2"};
  ASSERT_EQ(train(same).code, 0);
  const auto checkpoints = folder_ / "run" / "checkpoints";
  fs::remove(checkpoints / "step-00000060" / "manifest.json");
  EXPECT_THAT(train(same).err, HasSubstr("--fall-back"));
  fs::remove(checkpoints / "step-00000050" / "manifest.json");
  const auto journal = read_text(folder_ / "run" / "train.jsonl");
  auto arguments = same;
  arguments.push_back("--fall-back");
  const auto refused = train(arguments);
  EXPECT_EQ(refused.code, 5);
  EXPECT_THAT(refused.err, HasSubstr("no checkpoint of this run is sound"));
  EXPECT_TRUE(fs::exists(checkpoints / "step-00000060" / "model.safetensors"));
  EXPECT_EQ(read_text(folder_ / "run" / "train.jsonl"), journal);
}

TEST_F(TrainBadInput, AnEditedConfigurationOfACheckpointIsBlamedForNothingElse) {
  ASSERT_EQ(train().code, 0);
  const auto config = folder_ / "run" / "last" / "config.yaml";
  write_text(config, read_text(config) + "# mine\n");
  write_text(folder_ / "dev.en", "");
  const auto result = train({"training.max_steps=70"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, Not(HasSubstr("--fall-back")));
}

TEST_F(TrainBadInput, FallingBackBeginsWithTheCheckpointThatIsTheLast) {
  const std::vector<std::string> same = {"training.save_every=10", "training.keep_newest=3"};
  ASSERT_EQ(train(same).code, 0);
  fs::remove(folder_ / "run" / "last");
  fs::create_symlink("checkpoints/step-00000050", folder_ / "run" / "last");
  auto arguments = same;
  arguments.push_back("--fall-back");
  EXPECT_THAT(train(arguments).err, HasSubstr("Going on from step 50"));
}

TEST_F(TrainBadInput, ARunOfAnotherShapeIsNamedKeyByKey) {
  ASSERT_EQ(train().code, 0);
  const auto before = weights();
  const auto result = train({"model.decoder.hidden_size=24"});
  EXPECT_EQ(result.code, 5);
  EXPECT_THAT(result.err, AllOf(HasSubstr("model.decoder.hidden_size"), HasSubstr("24")));
  EXPECT_EQ(weights(), before);
}

TEST_F(TrainBadInput, FirstWeightsOfAnotherShape) {
  ASSERT_EQ(train().code, 0);
  const auto result = train({"--init-from", (folder_ / "run").string(), "model.attention.size=24",
                             "training.model_dir=" + (folder_ / "other").string()});
  EXPECT_EQ(result.code, 5);
  EXPECT_THAT(result.err, HasSubstr("shape"));
}

// All numbers of a safetensors file in single precision: behind the header, whose length comes
// first.
std::vector<float> numbers_in(const fs::path& path) {
  const auto bytes = read_text(path);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::vector<float> numbers((bytes.size() - sizeof header - header) / sizeof(float));
  std::memcpy(numbers.data(), bytes.data() + sizeof header + header,
              numbers.size() * sizeof(float));
  return numbers;
}

TEST_F(TrainBadInput, ALearningRateThatDivergesLeavesTheLastCheckpoint) {
  const auto result =
      train({"training.optimizer=sgd", "training.learning_rate=1000", "training.weight_decay=1000",
             "training.clip_grad_norm=0", "training.save_every=1", "training.max_steps=2000",
             "training.validation_every=5000"});
  EXPECT_EQ(result.code, 4);
  EXPECT_THAT(result.err, AllOf(HasSubstr("learning_rate"), HasSubstr("The last checkpoint stands"),
                                HasSubstr("clip_grad_norm (it is off)"),
                                HasSubstr("no finite numbers any more, which are not saved")));
  EXPECT_THAT(result.err, ContainsRegex("The last batch is of [^ ]*train.en:[0-9]+, "));
  const auto last = folder_ / "run" / "last";
  EXPECT_EQ(run({"info", last.string()}).code, 0);
  for (const float weight : numbers_in(last / "model.safetensors")) {
    ASSERT_TRUE(std::isfinite(weight));
  }
}

// The memory holds the model and eight sentences, but not all of the validation text at once.
TEST_F(TrainBadInput, AValidationThatTheMemoryDoesNotHoldIsMadeInSmallerBatches) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes all addresses";
#endif
  std::string source, target;
  for (int line = 0; line < 400; ++line) {
    for (int word = 0; word < 60; ++word) source += "the ", target += "le ";
    source += "\n", target += "\n";
  }
  write_text(folder_ / "dev.en", source);
  write_text(folder_ / "dev.fr", target);
  const std::vector<std::string> settings = {"threads=1",
                                             "testing.batch_size=400",
                                             "testing.max_output_length=3",
                                             "model.decoder.hidden_size=256",
                                             "model.decoder.readout_size=2000",
                                             "training.max_steps=2",
                                             "training.validation_every=2"};
  std::string command = "ulimit -v 1200000; exec " + std::string(REGARD_BINARY_DIR) +
                        "/regard train -c " + config_.string();
  for (const auto& setting : settings) command += " " + setting;
  const auto messages = (folder_ / "messages").string();
  const auto code = std::system(("bash -c '" + command + " 2>" + messages + "'").c_str());
  EXPECT_EQ(WEXITSTATUS(code), 0) << read_text(messages);
  EXPECT_THAT(read_text(messages), HasSubstr("validation: the memory is too small"));
  EXPECT_TRUE(fs::exists(folder_ / "run" / "last" / "model.safetensors"));
}

// Each update multiplies the weights by 1 − 38 · 0.1, until they are too large; with half of the
// rate by 1 − 19 · 0.1, which is less than 1 in size.
TEST_F(TrainBadInput, ADivergedTrainingGoesBackAndOnWithHalfOfTheRate) {
  const std::vector<std::string> options = {
      "training.optimizer=sgd",  "training.learning_rate=0.1",     "training.weight_decay=38",
      "training.momentum=0",     "training.clip_grad_norm=0.01",   "training.save_every=10",
      "training.max_steps=100",  "training.validation_every=5000", "training.scheduling=constant",
      "training.warmup_steps=0", "training.keep_newest=3"};
  const auto result = train(options);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("this batch is skipped"), HasSubstr("5 times in a row"),
                                HasSubstr("Going back to"), HasSubstr("half of the learning rate"),
                                ContainsRegex("[0-9]+ batches were skipped")));
  EXPECT_THAT(read_text(folder_ / "run" / "last" / "training.json"),
              ContainsRegex("\"setbacks\": [12],"));
  const auto bytes = weights();
  auto again = options;
  again.push_back("--fresh");
  EXPECT_EQ(train(again).code, 0);
  EXPECT_EQ(weights(), bytes);
}

TEST_F(TrainBadInput, AFolderThatMustNotBeWritten) {
  const auto locked = folder_ / "locked";
  fs::create_directories(locked);
  // What holds for everyone else, root overrides; not so a file system that is read-only.
  const bool root = geteuid() == 0;
  const auto mount = "mount -t tmpfs -o ro none '" + locked.string() + "' 2>/dev/null";
  if (root && std::system(mount.c_str()) != 0) GTEST_SKIP() << "no read-only file system";
  if (!root) fs::permissions(locked, fs::perms::owner_read | fs::perms::owner_exec);
  const auto result = train({"training.model_dir=" + (locked / "run").string()});
  if (root) {
    EXPECT_EQ(std::system(("umount '" + locked.string() + "'").c_str()), 0);
  } else {
    fs::permissions(locked, fs::perms::owner_all);
  }
  EXPECT_EQ(result.code, 6);
  EXPECT_THAT(result.err, AllOf(HasSubstr("locked/run"), HasSubstr("choose one")));
}

TEST_F(TrainBadInput, AFolderOfSomebodyElseIsNotWrittenInto) {
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
      EXPECT_THAT(result.err, HasSubstr("training.model_dir a folder of its own"));
    }
    EXPECT_EQ(read_text(project / name), config);
    EXPECT_EQ(std::distance(fs::directory_iterator(project), {}), 1);
  }
}

}  // namespace
}  // namespace regard
