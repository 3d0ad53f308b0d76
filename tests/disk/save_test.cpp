// Saving a model: what a crash of the machine keeps, and what remains if a call fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "checkpoint/folder.h"
#include "checkpoint/run_folder.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/disk/disk.h"

namespace regard::save_test {
namespace {

namespace fs = std::filesystem;
using disk::Watch;
using testing::HasSubstr;
using testing::IsEmpty;

// Writes a folder with a config.yaml and weights, all of which are `value`.
FolderWriter writer_of(const fs::path& path, int value) {
  FolderWriter writer(path);
  writer.add_text("config.yaml", std::to_string(value));
  writer.add_tensors("model.safetensors", {{"w", torch::full({3}, value, torch::kFloat)}});
  return writer;
}

// Returns the value with which a folder was written; 0 if there is none. Checks that it is
// complete.
int value_of(const fs::path& path) {
  if (!fs::exists(path)) return 0;
  const FolderReader reader(path, {});
  reader.verify_all();
  const int value = std::stoi(reader.text("config.yaml"));
  EXPECT_EQ(reader.tensors("model.safetensors")[0].second[2].item<float>(), value);
  return value;
}

// Something that is saved. Each begins in an empty folder `at`.
struct Saved {
  std::string name;
  std::function<void(const fs::path& at)> prepare;  // saves the value 1, or nothing
  std::function<void(const fs::path& at)> save;     // saves the value 2
  std::function<int(const fs::path& at)> value;     // 0: nothing was saved; throws if it is damaged
};

void nothing(const fs::path&) {}

// A run with a checkpoint of step `value`, `last` and `best`.
void save_run(const fs::path& at, int value) {
  RunFolder run(at / "run");
  run.lock();
  run.make_checkpoints_folder();
  writer_of(run.checkpoint(value), value).commit({{"step", value}});
  run.set_last(value);
  run.set_best(value);
  run.prune(1, 1, {value});
}

int value_of_run(const fs::path& at) {
  RunFolder run(at / "run");
  const auto last = run.last(), best = run.best();
  if (!last) return 0;
  // `best` is set after `last`.
  const int value = value_of(*last);
  EXPECT_LE(best ? value_of(*best) : 0, value);
  return value;
}

const std::vector<Saved> all_saved = {
    {"new folder", nothing, [](const fs::path& at) { writer_of(at / "m", 2).commit(); },
     [](const fs::path& at) { return value_of(at / "m"); }},
    {"folder in place of another", [](const fs::path& at) { writer_of(at / "m", 1).commit(); },
     [](const fs::path& at) { writer_of(at / "m", 2).commit(); },
     [](const fs::path& at) { return value_of(at / "m"); }},
    {"folder that keeps a file",
     [](const fs::path& at) {
       auto writer = writer_of(at / "m", 1);
       writer.add_text("kept", "kept");
       writer.commit();
     },
     [](const fs::path& at) {
       auto writer = writer_of(at / "m", 2);
       writer.keep_other_files();
       writer.commit();
     },
     [](const fs::path& at) {
       EXPECT_EQ(FolderReader(at / "m", {}).text("kept"), "kept");
       return value_of(at / "m");
     }},
    {"file", [](const fs::path& at) { write_file(at / "f", "1"); },
     [](const fs::path& at) { write_file(at / "f", "2"); },
     [](const fs::path& at) { return std::stoi(bytes_of(at / "f")); }},
    {"folder in new folders", nothing,
     [](const fs::path& at) { writer_of(at / "a/b/m", 2).commit(); },
     [](const fs::path& at) { return value_of(at / "a/b/m"); }},
    {"first checkpoint of a run", nothing, [](const fs::path& at) { save_run(at, 2); },
     value_of_run},
    {"checkpoint of a run", [](const fs::path& at) { save_run(at, 1); },
     [](const fs::path& at) { save_run(at, 2); }, value_of_run},
};

TEST(Save, IsOnTheDiskWhenItReturns) {
  for (const auto& saved : all_saved) {
    const ScratchFolder scratch;
    saved.prepare(scratch.path());
    const Watch watch(scratch.path());
    saved.save(scratch.path());
    auto unflushed = watch.unflushed();
    std::erase(unflushed, fs::canonical(scratch.path()).string() + "/run/.lock: content");
    EXPECT_THAT(unflushed, IsEmpty()) << saved.name;
    EXPECT_THAT(watch.named_too_early(), IsEmpty()) << saved.name;
    EXPECT_EQ(saved.value(scratch.path()), 2) << saved.name;
  }
}

TEST(Save, ACallThatFailsIsReportedAndLosesNothing) {
  for (const auto& saved : all_saved) {
    const auto counts = [&] {
      const ScratchFolder scratch;
      saved.prepare(scratch.path());
      const Watch watch(scratch.path());
      saved.save(scratch.path());
      return watch.counts();
    }();
    for (const auto& [call, number] : counts) {
      for (int n = 1; n <= number; ++n) {
        const int error = n % 2 == 0 ? ENOSPC : EIO;
        const auto what = saved.name + ": " + call + " " + std::to_string(n);
        const ScratchFolder scratch;
        saved.prepare(scratch.path());
        const auto before = saved.value(scratch.path());
        bool is_reported = false;
        {
          Watch watch(scratch.path());
          watch.fail(call, n, error);
          try {
            saved.save(scratch.path());
          } catch (const EnvironmentError& failure) {
            is_reported = true;
            EXPECT_THAT(failure.what(), HasSubstr(scratch.path().string())) << what;
            EXPECT_THAT(failure.what(), HasSubstr(std::strerror(error))) << what;
          }
          ASSERT_TRUE(watch.has_failed()) << what;
        }
        const auto value = saved.value(scratch.path());
        EXPECT_TRUE(value == before || value == 2) << what << ": " << value;
        EXPECT_TRUE(is_reported || value == 2) << what << ": neither reported nor saved";
        saved.save(scratch.path());
        EXPECT_EQ(saved.value(scratch.path()), 2) << what;
        for (const auto& entry : fs::recursive_directory_iterator(scratch.path())) {
          const auto name = entry.path().filename().string();
          EXPECT_TRUE(name == ".lock" || !name.starts_with('.')) << what << " left " << name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace regard::save_test
