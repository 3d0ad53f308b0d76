// regard prepare, and training from its folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/train.h"

namespace regard::prepare_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class Prepare : public Train {
 protected:
  Finished prepare(const Words& more = {}) const {
    return run(Words{"prepare", "-c", config_.string(), "-o", prepared_.string()} + more);
  }
  Finished train_prepared(const Words& more = {}) const {
    return train(more + Words{"data.prepared=" + prepared_.string()});
  }
  Finished verify() const { return run({"prepare", "--verify", prepared_.string()}); }

  const fs::path prepared_ = folder_ / "prepared";
};

TEST_F(Prepare, TrainsWithoutTheText) {
  const Words distinct = {"data.remove_duplicates=true", "training.max_steps=10"};
  const auto prepared = prepare(distinct);
  ASSERT_EQ(prepared.code, 0) << prepared.err;
  EXPECT_THAT(prepared.err, AllOf(HasSubstr("duplicates"), HasSubstr("data.prepared=")));
  for (const auto* name : {"train.en", "train.fr"}) fs::remove(folder_ / name);
  const auto trained = train_prepared(distinct);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(read_text(folder_ / "run" / "manifest.json"),
              AllOf(HasSubstr(prepared_.string()), HasSubstr("train.en")));
  const auto again =
      train_prepared(distinct + Words{"data.train=[]", "training.model_dir=" + path("b")});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(weights(), weights("b"));
}

// A batch has all pairs, so that only the order of sums depends on where they were read.
TEST_F(Prepare, TheLossesAreThoseOfTheText) {
  const Words whole = {"training.batch_type=sentence", "training.batch_size=100000",
                       "training.max_steps=6",         "training.logging_every=1",
                       "training.precision=fp32",      "model.dropout.embeddings=0",
                       "model.dropout.states=0",       "model.dropout.readout=0"};
  ASSERT_EQ(prepare().code, 0);
  const auto trained = train_prepared(whole);
  ASSERT_EQ(trained.code, 0) << trained.err;
  ASSERT_EQ(train(whole + Words{"training.model_dir=" + path("text")}).code, 0);
  const auto log = [&](const std::string& name) {
    std::vector<Json> steps;
    for (const auto& line : lines_of(read_text(folder_ / name / "train.jsonl"))) {
      steps.push_back(parse_json(line));
    }
    return steps;
  };
  const auto prepared = log("run"), text = log("text");
  ASSERT_EQ(prepared.size(), 6u);
  ASSERT_EQ(text.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(prepared[i].at("epoch"), text[i].at("epoch"));
    EXPECT_NEAR(prepared[i].at("loss"), text[i].at("loss"), 1e-5);
  }
  EXPECT_LT(text.back().at("loss"), text.front().at("loss"));
}

TEST_F(Prepare, AResumedTrainingEndsInTheSameBytes) {
  const Words same = {"training.batch_size=30", "data.tokenizer.kind=unigram",
                      "data.tokenizer.vocabulary_size=30", "data.tokenizer.sampling=0.5"};
  ASSERT_EQ(prepare(same).code, 0);
  ASSERT_EQ(train_prepared(same).code, 0);
  const auto straight = weights();
  fs::remove_all(folder_ / "run");
  for (const auto* steps :
       {"training.max_steps=7", "training.max_steps=31", "training.max_steps=60"}) {
    const auto resumed = train_prepared(same + Words{steps});
    ASSERT_EQ(resumed.code, 0) << resumed.err;
  }
  EXPECT_EQ(weights(), straight);
}

TEST_F(Prepare, DamageIsNamed) {
  ASSERT_EQ(prepare().code, 0);
  EXPECT_EQ(verify().code, 0);
  const auto shard = prepared_ / "shard-00000.bin";
  const auto intact = read_text(shard);
  auto bytes = intact;
  bytes[bytes.size() - 2] = 'x';
  write_text(shard, bytes);
  const auto verified = verify();
  EXPECT_EQ(verified.code, 3);
  EXPECT_THAT(verified.err, AllOf(HasSubstr("shard-00000.bin"), HasSubstr("damaged")));
  const auto trained = train_prepared();
  EXPECT_EQ(trained.code, 3);
  EXPECT_THAT(trained.err, AllOf(HasSubstr("shard-00000.bin: pair"), HasSubstr("is damaged")));
  write_text(shard, intact.substr(0, 1000));
  const auto cut = train_prepared({"--fresh"});
  EXPECT_EQ(cut.code, 3);
  EXPECT_THAT(cut.err, HasSubstr("found 1000 bytes, expected"));
  fs::remove(prepared_ / "prepared.json");
  for (const auto& finished : {train_prepared({"--fresh"}), verify()}) {
    EXPECT_EQ(finished.code, 3);
    EXPECT_THAT(finished.err, HasSubstr("found no prepared.json"));
  }
}

TEST_F(Prepare, OtherInputsAndFoldersAreErrors) {
  ASSERT_EQ(prepare().code, 0);
  const auto expect_error = [](const Finished& finished, int code, const std::string& text) {
    EXPECT_EQ(finished.code, code) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(text));
  };
  const auto manifest = read_text(prepared_ / "prepared.json");
  expect_error(prepare(), 2, "expected an empty folder");
  EXPECT_EQ(read_text(prepared_ / "prepared.json"), manifest);
  expect_error(prepare({"data.tokenizer.extend_by=5"}), 2, "data.tokenizer.extend_by is 5");
  expect_error(train_prepared({"data.max_length=7"}), 2, "data.max_length: 100 → 7");
  expect_error(train_prepared({"data.tokenizer.vocabulary_size=9"}), 2,
               "data.tokenizer.vocabulary_size");
  const auto words = file("words", "<pad>\n<unk>\n<s>\n</s>\na\n");
  expect_error(train_prepared({"data.tokenizer.src_file=" + words}), 2, "data.tokenizer.src_file");
  expect_error(train({"data.prepared=" + path("none")}), 3, "found no prepared.json");
  expect_error(run({"prepare", "-c", config_.string(), "-o", folder_.string()}), 2,
               "expected an empty folder");
  expect_error(run({"prepare", "-c", config_.string()}), 2, "-o");
  expect_error(run({"prepare", "--verify", prepared_.string(), "-o", "x"}), 2, "--verify");
  expect_error(run({"prepare", "--verify", folder_.string()}), 3, "found no prepared.json");
  // The tokenizers of another model do not fit.
  ASSERT_EQ(train({"data.tokenizer.kind=character", "training.model_dir=" + path("other"),
                   "training.max_steps=1"})
                .code,
            0);
  expect_error(train_prepared({"--init-from", path("other")}), 5, "made by other tokenizers");
}

}  // namespace
}  // namespace regard::prepare_test
