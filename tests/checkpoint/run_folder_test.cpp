#include "checkpoint/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <utility>

#include "base/error.h"
#include "checkpoint/folder.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::run_folder_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void save(const RunFolder& run, std::int64_t step) {
  FolderWriter writer(run.checkpoint(step));
  writer.add_tensors("model.safetensors", {});
  writer.commit();
}

void save(const RunFolder& run, std::initializer_list<std::int64_t> steps) {
  for (const std::int64_t step : steps) save(run, step);
}

TEST(RunFolder, StepsHaveEightDigitsAndSortAsNumbers) {
  const ScratchFolder scratch;
  const RunFolder run(scratch / "x");
  EXPECT_THAT(run.checkpoint_steps(), IsEmpty());
  EXPECT_EQ(run.checkpoint(1000), scratch / "x/checkpoints/step-00001000");
  save(run, {123456789, 2000, 99999999, 0});
  EXPECT_THAT(run.checkpoint_steps(), ElementsAre(0, 2000, 99999999, 123456789));
}

TEST(RunFolder, ListsOnlyCompleteCheckpoints) {
  const ScratchFolder scratch;
  const RunFolder run(scratch / "x");
  save(run, 5);
  for (const char* name :
       {"step-00000006", ".step-00000007.tmp", "step-8", "step-", "step-0000000x", "step--0000001",
        "step-99999999999999999999", "notes"}) {
    fs::create_directories(scratch / "x/checkpoints" / name);
    if (std::string(name) != "step-00000006") {
      put_bytes(scratch / "x/checkpoints" / name / "manifest.json", "{}");
    }
  }
  EXPECT_THAT(run.checkpoint_steps(), ElementsAre(5));
}

TEST(RunFolder, LinksAreRelativeAndReplaced) {
  const ScratchFolder scratch;
  RunFolder run(scratch / "x");
  run.lock();
  EXPECT_EQ(run.last(), std::nullopt);
  EXPECT_EQ(run.best(), std::nullopt);
  save(run, {1, 2, 3});
  run.set_last(1);
  run.set_last(2);
  run.set_best(1);
  EXPECT_EQ(fs::read_symlink(scratch / "x/last"), "checkpoints/step-00000002");
  EXPECT_EQ(run.last(), run.checkpoint(2));
  EXPECT_EQ(run.best(), run.checkpoint(1));
  fs::rename(scratch / "x", scratch / "moved");
  EXPECT_TRUE(is_checkpoint(scratch / "moved/last"));
}

TEST(RunFolder, WritesNothingIntoAnotherFolderThatTookItsPlace) {
  const ScratchFolder scratch;
  RunFolder run(scratch / "x");
  run.lock();
  fs::rename(scratch / "x", scratch / "moved");
  fs::create_directory(scratch / "x");
  run.make_checkpoints_folder();
  FolderWriter writer(run.checkpoint(1));
  writer.require_parent();
  EXPECT_THROW(writer.commit(), EnvironmentError);
  EXPECT_THROW(run.set_last(1), CheckpointError);
  EXPECT_TRUE(fs::is_empty(scratch / "x"));
  EXPECT_TRUE(fs::is_empty(scratch / "moved/checkpoints"));
}

TEST(RunFolder, ReplacesALinkLeftByAKilledTraining) {
  const ScratchFolder scratch;
  RunFolder run(scratch / "x");
  run.lock();
  save(run, 1);
  fs::create_symlink("nowhere", scratch / "x/.last.tmp");
  run.set_last(1);
  EXPECT_EQ(run.last(), run.checkpoint(1));
}

TEST(RunFolder, LinksNeedACompleteCheckpoint) {
  const ScratchFolder scratch;
  RunFolder run(scratch / "x");
  run.lock();
  fs::create_directories(run.checkpoint(1));
  EXPECT_THROW(run.set_last(1), CheckpointError);
  EXPECT_THROW(run.set_best(2), CheckpointError);
}

TEST(RunFolder, NamesALastCheckpointThatIsIncomplete) {
  const ScratchFolder scratch;
  RunFolder run(scratch / "x");
  run.lock();
  save(run, {1, 2});
  run.set_last(2);
  EXPECT_EQ(run.incomplete_last(), std::nullopt);
  fs::remove(run.checkpoint(2) / "manifest.json");
  EXPECT_EQ(run.incomplete_last(), run.checkpoint(2));
  fs::remove_all(run.checkpoint(2));
  EXPECT_EQ(run.incomplete_last(), std::nullopt);
  EXPECT_EQ(run.last(), run.checkpoint(1));
}

TEST(RunFolder, ACopyWithoutLinksKeepsItsBestAndLast) {
  const ScratchFolder scratch;
  {
    RunFolder run(scratch / "x");
    run.lock();
    save(run, {1, 2, 3});
    run.set_last(2);
    run.set_best(1);
  }
  fs::remove(scratch / "x/last");
  fs::remove(scratch / "x/best");
  const RunFolder copy(scratch / "x");
  EXPECT_EQ(copy.last(), copy.checkpoint(2));
  EXPECT_EQ(copy.best(), copy.checkpoint(1));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(resolve_model(copy.path()), copy.checkpoint(1));
  EXPECT_THAT(
      ::testing::internal::GetCapturedStderr(),
      AllOf(HasSubstr("found neither `best` nor `last`"), HasSubstr("the best checkpoint")));
  for (const std::string damaged : {"", "../../evil\n", "step-1/../../evil\n"}) {
    std::ofstream(scratch / "x/checkpoints/best") << damaged;
    EXPECT_EQ(copy.best(), std::nullopt) << damaged;
  }
}

TEST(RunFolder, ABrokenLinkFallsBackToTheNewest) {
  const ScratchFolder scratch;
  RunFolder run(scratch / "x");
  run.lock();
  save(run, {1, 2, 3});
  run.set_last(3);
  run.set_best(3);
  fs::remove_all(run.checkpoint(3));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run.last(), run.checkpoint(2));
  EXPECT_THAT(
      ::testing::internal::GetCapturedStderr(),
      AllOf(HasSubstr("x/last: points to checkpoints/step-00000003"), HasSubstr("missing")));
  EXPECT_EQ(run.best(), std::nullopt);
}

void save_with_step(const RunFolder& run, std::int64_t step) {
  FolderWriter writer(run.checkpoint(step));
  writer.add_text("numbers", std::to_string(step));
  writer.commit({{"step", step}});
}

TEST(RunFolder, LockingReplacesCopiesByLinksAndKeepsTheCopies) {
  const ScratchFolder scratch;
  {
    RunFolder run(scratch / "x");
    run.lock();
    save_with_step(run, 1);
    save_with_step(run, 2);
    run.set_best(1);
    run.set_last(2);
    for (const auto& [link, step] : {std::pair{"x/best", 1}, {"x/last", 2}}) {  // as `cp -rL`
      fs::remove(scratch / link);
      fs::copy(run.checkpoint(step), scratch / link);
    }
  }
  RunFolder run(scratch / "x");
  EXPECT_EQ(run.best(), scratch / "x/best");
  EXPECT_EQ(run.best_step(), 1);
  run.lock();
  EXPECT_EQ(fs::read_symlink(scratch / "x/best"), "checkpoints/step-00000001");
  EXPECT_EQ(fs::read_symlink(scratch / "x/last"), "checkpoints/step-00000002");
  EXPECT_EQ(bytes_of(scratch / "x/best.copied/numbers"), "1");
  EXPECT_EQ(bytes_of(scratch / "x/last.copied/numbers"), "2");
}

TEST(RunFolder, ACopyWithoutItsCheckpointStaysUntilALinkTakesItsName) {
  const ScratchFolder scratch;
  RunFolder run(scratch / "x");
  save_with_step(run, 1);
  fs::rename(run.checkpoint(1), scratch / "x/last");
  run.lock();
  EXPECT_EQ(run.last(), scratch / "x/last");
  save_with_step(run, 2);
  run.set_last(2);
  EXPECT_EQ(fs::read_symlink(scratch / "x/last"), "checkpoints/step-00000002");
  EXPECT_EQ(bytes_of(scratch / "x/last.copied/numbers"), "1");
}

TEST(RunFolder, DetectsAMovedDeletedOrReplacedFolder) {
  const ScratchFolder scratch;
  RunFolder run(scratch / "x");
  EXPECT_NO_THROW(run.check_not_moved());  // not locked yet
  run.lock();
  EXPECT_NO_THROW(run.check_not_moved());
  const auto message = [&] { return message_of<EnvironmentError>([&] { run.check_not_moved(); }); };
  fs::rename(scratch / "x", scratch / "moved");
  EXPECT_THAT(message(), HasSubstr("moved or deleted"));
  fs::create_directory(scratch / "x");
  EXPECT_THAT(message(), HasSubstr("moved or deleted"));
  put_bytes(scratch / "x/.lock", "");
  EXPECT_THAT(message(), HasSubstr("moved or deleted"));
  fs::remove_all(scratch / "x");
  fs::rename(scratch / "moved", scratch / "x");
  EXPECT_EQ(message(), "");
}

TEST(RunFolder, PruningKeepsTheNewestTheBestAndTheLinked) {
  const ScratchFolder scratch;
  RunFolder run(scratch / "x");
  run.lock();
  save(run, {1, 2, 3, 4, 5, 6, 7, 8});
  run.set_best(1);
  run.set_last(2);
  run.prune(2, 2, {99, 4, 6, 3});
  EXPECT_THAT(run.checkpoint_steps(), ElementsAre(1, 2, 4, 6, 7, 8));
  run.prune(0, 0, {});
  EXPECT_THAT(run.checkpoint_steps(), ElementsAre(1, 2));
}

TEST(RunFolder, PruningFewCheckpointsRemovesNothing) {
  const ScratchFolder scratch;
  RunFolder run(scratch / "x");
  run.prune(3, 3, {});
  save(run, {1, 2});
  run.prune(3, 3, {1});
  EXPECT_THAT(run.checkpoint_steps(), ElementsAre(1, 2));
}

TEST(RunFolder, ASecondLockNamesTheHolder) {
  const ScratchFolder scratch;
  {
    RunFolder first(scratch / "x");
    first.lock();
    first.lock();
    RunFolder second(scratch / "x");
    EXPECT_THAT(message_of<EnvironmentError>([&] { second.lock(); }),
                AllOf(HasSubstr((scratch / "x").string()),
                      HasSubstr(fmt::format("process {} is training", ::getpid()))));
  }
  RunFolder third(scratch / "x");
  EXPECT_NO_THROW(third.lock());
}

TEST(RunFolder, TheLockOfAKilledProcessIsFree) {
  const ScratchFolder scratch;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    RunFolder run(scratch / "x");
    run.lock();
    const bool told = ::write(ready[1], "!", 1) == 1;
    while (told) ::pause();
    ::_exit(1);
  }
  ::close(ready[1]);
  char byte = 0;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  ::close(ready[0]);
  RunFolder run(scratch / "x");
  EXPECT_THAT(message_of<EnvironmentError>([&] { run.lock(); }),
              HasSubstr(fmt::format("process {} is training", child)));
  ::kill(child, SIGKILL);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_NO_THROW(run.lock());
}

TEST(RunFolder, LockingCleansUpAfterAKilledTraining) {
  const ScratchFolder scratch;
  RunFolder run(scratch / "x");
  save(run, {1, 2});
  fs::create_directories(scratch / "x/checkpoints/.mine.tmp");
  fs::create_directories(scratch / "x/checkpoints/.step-00000004.tmp-89abcdef/sub");
  put_bytes(scratch / "x/checkpoints/.step-00000004.regard-lock",
            "regard is writing the folder of this name\n123\n89abcdef\n");
  run.lock();
  EXPECT_THAT(run.checkpoint_steps(), ElementsAre(1, 2));
  for (const auto* name : {".step-00000004.tmp-89abcdef", ".step-00000004.regard-lock"}) {
    EXPECT_FALSE(fs::exists(scratch / "x/checkpoints" / name)) << name;
  }
  EXPECT_TRUE(fs::exists(scratch / "x/checkpoints/.mine.tmp"));
}

TEST(ResolveModel, PrefersBestThenLastThenTheFolderItself) {
  const ScratchFolder scratch;
  RunFolder run(scratch / "x");
  run.lock();
  save(run, {1, 2});
  EXPECT_EQ(resolve_model(run.path()), run.checkpoint(2));
  run.set_last(2);
  EXPECT_EQ(resolve_model(run.path()), run.checkpoint(2));
  run.set_best(1);
  EXPECT_EQ(resolve_model(run.path()), run.checkpoint(1));
  EXPECT_EQ(resolve_model(scratch / "x/last"), scratch / "x/last");
  EXPECT_EQ(resolve_model(run.checkpoint(2)), run.checkpoint(2));
}

TEST(ResolveModel, ListsModelsNearThePath) {
  const ScratchFolder scratch;
  save(RunFolder(scratch / "runs/x"), 1);
  save(RunFolder(scratch / "runs/y"), 1);
  fs::create_directories(scratch / "runs/empty");
  const auto refusal = [](const fs::path& path) {
    return message_of<CheckpointError>([&] { resolve_model(path); });
  };
  const std::string near =
      fmt::format("; found: {}, {}", (scratch / "runs/x").string(), (scratch / "runs/y").string());
  EXPECT_THAT(
      refusal(scratch / "runs/z"),
      AllOf(HasSubstr("runs/z: no such folder (looked for: model.safetensors"), HasSubstr(near)));
  EXPECT_THAT(refusal(scratch / "runs/empty"), AllOf(HasSubstr("no model found"), HasSubstr(near)));
  EXPECT_THAT(refusal(scratch / "runs"), HasSubstr(near));
  EXPECT_THAT(refusal(scratch / "none/at/all"), ::testing::Not(HasSubstr("found: ")));
}

}  // namespace
}  // namespace regard::run_folder_test
