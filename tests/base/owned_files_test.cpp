#include "base/owned_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::owned_files_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class OwnedFiles : public testing::Test {
 protected:
  OwnedFiles() {
    fs::create_directories(run_ / "checkpoints/step-00000010");
    fs::create_directories(run_ / "validation");
    put_bytes(run_ / "manifest.json", R"({"regard": "0.1.0", "data": []})");
    put_bytes(run_ / "train.log", "log");
    fs::create_directory_symlink("checkpoints/step-00000010", run_ / "best");
    for (const auto& folder : {model_, run_ / "checkpoints/step-00000010"}) {
      fs::create_directories(folder);
      put_bytes(folder / "manifest.json",
                R"({"format": 2, "regard": "0.1.0", "files": {"config.yaml": {}, "x.bin": {}}})");
      put_bytes(folder / "config.yaml", "name: x");
    }
  }
  std::string error_of(const fs::path& path) const {
    return message_of<ConfigError>([&] { check_output_path(path); });
  }

  ScratchFolder scratch_;
  fs::path run_ = scratch_ / "run";
  fs::path model_ = scratch_ / "model";
};

TEST_F(OwnedFiles, RejectsFilesOfARun) {
  for (const auto* name :
       {"train.log", "train.jsonl", "config.yaml", "manifest.json", "validations.tsv", ".lock",
        "validation/step-00000010.txt", "events.out.tfevents.12.host.regard", "checkpoints", "best",
        "last", "best/config.yaml", "best/mine", "checkpoints/step-00000010/mine",
        "checkpoints/new/deep/mine", "validation/", "best/"}) {
    EXPECT_THAT(error_of(run_ / name),
                AllOf(HasSubstr(name), HasSubstr("and would be overwritten")))
        << name;
  }
}

TEST_F(OwnedFiles, AllowsOtherNamesInARun) {
  for (const auto* name :
       {"report.html", "out", "averaged", "train.log.txt", "maps/", "sub/train.log"}) {
    EXPECT_EQ(error_of(run_ / name), "") << name;
  }
  EXPECT_EQ(error_of(run_), "");
}

TEST_F(OwnedFiles, RejectsFilesInTheManifestOfAModel) {
  for (const auto* name : {"manifest.json", "config.yaml", "x.bin", "model.safetensors"}) {
    EXPECT_THAT(error_of(model_ / name), HasSubstr("model folder " + model_.string())) << name;
  }
  EXPECT_EQ(error_of(model_ / "translation.txt"), "");
  EXPECT_EQ(error_of(model_), "");
  put_bytes(model_ / "manifest.json", "{");  // damaged
  put_bytes(model_ / "model.safetensors", "");
  EXPECT_THAT(error_of(model_ / "manifest.json"), HasSubstr("model folder"));
}

TEST_F(OwnedFiles, ResolvesLinksAndDots) {
  fs::create_symlink(run_ / "train.log", scratch_ / "link");
  fs::create_directory_symlink(run_, scratch_ / "other");
  EXPECT_THAT(error_of(scratch_ / "link"), HasSubstr("training run"));
  EXPECT_THAT(error_of(scratch_ / "other/train.jsonl"), HasSubstr("training run"));
  EXPECT_THAT(error_of(model_ / "../run/./train.log"), HasSubstr("training run"));
}

TEST_F(OwnedFiles, AllowsOtherFolders) {
  const auto mine = scratch_ / "mine";
  fs::create_directories(mine / "checkpoints");
  put_bytes(mine / "manifest.json", R"({"name": "mine"})");
  for (const auto* name :
       {"train.log", "config.yaml", "train.jsonl", "manifest.json", "checkpoints"}) {
    EXPECT_EQ(error_of(mine / name), "") << name;
  }
  EXPECT_FALSE(is_run_folder(mine));
  EXPECT_FALSE(is_run_folder(model_));
  EXPECT_TRUE(is_run_folder(run_));
}

TEST_F(OwnedFiles, RejectsFilesOfARunThatHasJustStarted) {
  const auto young = scratch_ / "young";
  fs::create_directories(young);
  put_bytes(young / ".lock", "12\n");
  put_bytes(young / "train.log", "");
  EXPECT_TRUE(is_run_folder(young));
  EXPECT_THAT(error_of(young / "train.jsonl"), HasSubstr("training run"));
}

}  // namespace
}  // namespace regard::owned_files_test
