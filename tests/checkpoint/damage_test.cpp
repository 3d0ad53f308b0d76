// Reading a checkpoint with any damaged byte is an error that names the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "base/random.h"
#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::damage_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::size_t max_offsets = 1000;

// Returns the offsets of all bytes of a file, or a random thousand of them.
std::vector<std::size_t> offsets_in(std::size_t size) {
  std::vector<std::size_t> all(size);
  for (std::size_t i = 0; i < size; ++i) all[i] = i;
  if (size > max_offsets) {
    Random random(size);
    random.shuffle(all);
    all.resize(max_offsets);
  }
  return all;
}

class Damage : public testing::TestWithParam<std::string> {
 protected:
  Damage() {
    FolderWriter writer(path_);
    writer.add_text("config.yaml", "model:\n  decoder:\n    hidden_size: 64\n");
    writer.add_text("training.json", R"({"step": 7, "schedule": {"decreases": 0}})");
    torch::manual_seed(1);
    writer.add_tensors("model.safetensors", {{"a", torch::randn({20, 30})}, {"b", torch::ones(5)}});
    writer.commit({{"step", 7}});
    bytes_ = bytes_of(file_);
  }
  // Returns the error of reading all files.
  std::string message() const {
    return message_of<DamagedError>([&] { FolderReader(path_, {}).verify_all(); });
  }
  // Expects an error that names the file after `change` at each offset.
  void expect_named(const std::function<std::string(std::size_t)>& change) {
    for (const auto at : offsets_in(bytes_.size())) {
      put_bytes(file_, change(at));
      ASSERT_THAT(message(), HasSubstr(file_.string())) << "at byte " << at;
    }
    put_bytes(file_, bytes_);
    EXPECT_NO_THROW(FolderReader(path_, {}).verify_all());
  }

  const ScratchFolder scratch_;
  fs::path path_ = scratch_ / "c";
  fs::path file_ = path_ / GetParam();
  std::string bytes_;
};

TEST_P(Damage, DetectsEveryTruncation) {
  expect_named([&](std::size_t at) { return bytes_.substr(0, at); });
}

TEST_P(Damage, DetectsEveryFlippedByte) {
  Random random(3);
  expect_named([&](std::size_t at) {
    auto flipped = bytes_;
    flipped[at] = static_cast<char>(flipped[at] ^ static_cast<char>(1 + random.below(255)));
    return flipped;
  });
}

TEST_P(Damage, DetectsBytesAfterTheEnd) {
  put_bytes(file_, bytes_ + " ");
  EXPECT_THAT(message(), HasSubstr(file_.string()));
}

INSTANTIATE_TEST_SUITE_P(Files, Damage,
                         testing::Values("manifest.json", "config.yaml", "training.json",
                                         "model.safetensors"),
                         [](const auto& tested) {
                           return tested.param.substr(0, tested.param.find('.'));
                         });

}  // namespace
}  // namespace regard::damage_test
