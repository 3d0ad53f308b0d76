#include "checkpoint/folder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/version.h"
#include "checkpoint/manifest.h"
#include "tests/checkpoint/scratch_folder.h"

namespace {

int flock_error = 0;  // of the next call of flock(); 0 for none

}  // namespace

// Stands for the system's flock() in this program.
extern "C" int flock(int descriptor, int operation) {
  using Flock = int (*)(int, int);
  static const auto system_flock = reinterpret_cast<Flock>(::dlsym(RTLD_NEXT, "flock"));
  if (flock_error == 0) return system_flock(descriptor, operation);
  errno = std::exchange(flock_error, 0);
  return -1;
}

namespace regard::folder_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const NamedTensors weights{{"w", torch::arange(6, torch::kFloat).view({2, 3})}};

FolderWriter writer_of(const fs::path& path, const std::string& config = "seed: 1\n") {
  FolderWriter writer(path);
  writer.add_text("config.yaml", config);
  writer.add_text("vocabulary.txt", "a\nb\n");
  writer.add_tensors("model.safetensors", weights);
  return writer;
}

std::vector<std::string> entries_of(const fs::path& path) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(CheckpointFolder, RoundTripsFiles) {
  const ScratchFolder scratch;
  writer_of(scratch / "new/step-1/").commit({{"step", 7}});
  EXPECT_EQ(entries_of(scratch / "new"), std::vector<std::string>{"step-1"});

  const FolderReader reader(scratch / "new/step-1");
  EXPECT_EQ(reader.text("config.yaml"), "seed: 1\n");
  EXPECT_EQ(reader.info()["step"], 7);
  const NamedTensors tensors = reader.tensors("model.safetensors");
  EXPECT_EQ(tensors[0].first, "w");
  EXPECT_TRUE(torch::equal(tensors[0].second, weights[0].second));
  EXPECT_TRUE(reader.has("vocabulary.txt"));
  EXPECT_FALSE(reader.has("manifest.json"));
}

TEST(CheckpointFolder, ManifestListsVersionSizesAndHashes) {
  const ScratchFolder scratch;
  FolderWriter writer(scratch / "c");
  writer.add_text("a.txt", "abc");
  writer.commit();
  auto manifest = Json::parse(bytes_of(scratch / "c/manifest.json"));
  EXPECT_EQ(manifest.at("sha256").get<std::string>().size(), 64u);
  manifest.erase("sha256");
  EXPECT_EQ(
      manifest,
      Json::parse(fmt::format(
          R"({{"format": 2, "regard": "{}", "info": {{}}, "files": {{"a.txt": {{"size": 3, "sha256":
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}}}}}})",
          version())));
}

TEST(CheckpointFolder, EqualContentProducesEqualBytes) {
  const ScratchFolder scratch;
  writer_of(scratch / "a").commit();
  writer_of(scratch / "b").commit();
  for (const std::string& name : entries_of(scratch / "a")) {
    EXPECT_EQ(bytes_of(scratch / "a" / name), bytes_of(scratch / "b" / name)) << name;
  }
}

TEST(CheckpointFolder, WritesNothingBeforeCommit) {
  const ScratchFolder scratch;
  try {
    FolderWriter writer = writer_of(scratch / "c");
    throw std::runtime_error("killed");
  } catch (const std::runtime_error&) {
  }
  EXPECT_THAT(entries_of(scratch.path()), IsEmpty());
}

TEST(CheckpointFolder, ReplacesAnOlderCheckpoint) {
  const ScratchFolder scratch;
  FolderWriter old(scratch / "c");
  old.add_text("old.txt", "old");
  old.commit();
  writer_of(scratch / "c").commit();
  EXPECT_EQ(entries_of(scratch.path()), std::vector<std::string>{"c"});
  EXPECT_FALSE(fs::exists(scratch / "c/old.txt"));
  EXPECT_EQ(FolderReader(scratch / "c").text("config.yaml"), "seed: 1\n");
}

TEST(CheckpointFolder, KeepsOtherFilesUnchanged) {
  const ScratchFolder scratch;
  FolderWriter old(scratch / "c");
  old.add_text("kept.txt", "kept");
  old.add_text("changed.txt", "before");
  old.commit({{"step", 1}});
  struct stat before = {};
  ASSERT_EQ(::stat((scratch / "c/kept.txt").c_str(), &before), 0);
  FolderWriter writer(scratch / "c");
  writer.keep_other_files();
  writer.add_text("changed.txt", "after");
  writer.commit({{"step", 2}});
  const FolderReader reader(scratch / "c");
  EXPECT_EQ(reader.text("kept.txt"), "kept");
  EXPECT_EQ(reader.text("changed.txt"), "after");
  EXPECT_EQ(reader.info().at("step"), 2);
  struct stat after = {};
  ASSERT_EQ(::stat((scratch / "c/kept.txt").c_str(), &after), 0);
  EXPECT_EQ(after.st_ino, before.st_ino);  // not rewritten
  EXPECT_EQ(after.st_nlink, 1u);
  EXPECT_EQ(entries_of(scratch.path()), std::vector<std::string>{"c"});
}

TEST(CheckpointFolder, DoesNotReplaceAnythingElse) {
  const ScratchFolder scratch;
  fs::create_directory(scratch / "home");
  put_bytes(scratch / "home/diary", "dear");
  put_bytes(scratch / "file", "x");
  writer_of(scratch / "c").commit();
  fs::create_directory_symlink("c", scratch / "link");
  for (const char* name : {"home", "file", "link"}) {
    EXPECT_THAT(message_of<EnvironmentError>([&] { writer_of(scratch / name).commit(); }),
                HasSubstr(fmt::format("{}: found something other than a checkpoint",
                                      (scratch / name).string())));
  }
  EXPECT_EQ(bytes_of(scratch / "home/diary"), "dear");
  EXPECT_TRUE(fs::is_symlink(scratch / "link"));
}

TEST(CheckpointFolder, DoesNotReplaceACheckpointWithOtherFiles) {
  const ScratchFolder scratch;
  const auto refused = [&](const std::string& name) {
    return message_of<EnvironmentError>([&] { writer_of(scratch / "c").commit(); }) ==
           fmt::format("{}: found {}, which is not part of a checkpoint; move it away",
                       (scratch / "c").string(), name);
  };
  writer_of(scratch / "c").commit();
  put_bytes(scratch / "c/diary", "dear");
  EXPECT_TRUE(refused("diary"));
  EXPECT_EQ(bytes_of(scratch / "c/diary"), "dear");
  fs::remove(scratch / "c/diary");
  fs::create_directory(scratch / "c/checkpoints");  // of a run
  EXPECT_TRUE(refused("checkpoints"));
  fs::remove(scratch / "c/checkpoints");
  put_bytes(scratch / "c/manifest.json", "{");  // damaged
  EXPECT_NO_THROW(writer_of(scratch / "c").commit());
}

// Writes the lock of a killed writer with this ID.
void put_lock(const fs::path& path, const std::string& mark) {
  put_bytes(path, "regard is writing the folder of this name\n123\n" + mark + "\n");
}

// Runs `act` in another process and returns the id of the process.
template <typename Act>
pid_t in_another_process(Act act) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    act();
    ::_exit(0);
  } catch (...) {
    ::_exit(1);
  }
}

int exit_code_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

FolderWriter large_folder(const fs::path& path, char content) {
  FolderWriter writer(path);
  for (int i = 0; i < 5; ++i) {
    writer.add_text(fmt::format("{}.txt", i), std::string(100'000, content));
  }
  return writer;
}

TEST(CheckpointFolder, ConcurrentWritersLeaveOneCompleteCheckpoint) {
  const ScratchFolder scratch;
  std::vector<pid_t> writers;
  for (const char content : {'a', 'b', 'c', 'd'}) {
    writers.push_back(in_another_process([&] {
      for (int i = 0; i < 20; ++i) large_folder(scratch / "m", content).commit();
    }));
  }
  for (const auto writer : writers) EXPECT_EQ(exit_code_of(writer), 0);
  EXPECT_EQ(entries_of(scratch.path()), std::vector<std::string>{"m"});
  const FolderReader reader(scratch / "m", {});
  EXPECT_NO_THROW(reader.verify_all());
  const auto content = reader.text("0.txt").substr(0, 1);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(reader.text(fmt::format("{}.txt", i)), std::string(100'000, content[0]));
  }
}

TEST(CheckpointFolder, TheNextWriterCleansUpAfterAKilledOne) {
  const ScratchFolder scratch;
  bool left_something = false;
  for (int i = 0; i < 20; ++i) {
    const auto writer = in_another_process([&] {
      for (;;) large_folder(scratch / "m", 'a').commit();
    });
    ::usleep(static_cast<useconds_t>(3'000 + 700 * i));
    ::kill(writer, SIGKILL);
    EXPECT_EQ(exit_code_of(writer), 128 + SIGKILL);
    left_something = left_something || entries_of(scratch.path()).size() > 1;
    if (fs::exists(scratch / "m")) {  // before anything overwrites it
      const FolderReader reader(scratch / "m", {});
      EXPECT_NO_THROW(reader.verify_all());
      for (int k = 0; k < 5; ++k) {
        const auto text = reader.text(fmt::format("{}.txt", k));
        EXPECT_TRUE(text == std::string(100'000, 'a') || text == std::string(100'000, 'b'));
        EXPECT_EQ(text[0], reader.text("0.txt")[0]);
      }
    }
    large_folder(scratch / "m", 'b').commit();
    ASSERT_EQ(entries_of(scratch.path()), std::vector<std::string>{"m"});
    ASSERT_EQ(FolderReader(scratch / "m").text("0.txt")[0], 'b');
  }
  EXPECT_TRUE(left_something);
}

TEST(CheckpointFolder, RemovesOnlyWhatALockRecords) {
  const ScratchFolder scratch;
  const std::vector<std::string> mine = {".c.old", ".c.old-01234567", ".c.tmp", ".c.tmp-01234567"};
  for (const auto& name : mine) {
    fs::create_directories(scratch / name);
    put_bytes(scratch / name / "diary", "dear");
  }
  writer_of(scratch / "c").commit();
  writer_of(scratch / "c").commit();
  remove_checkpoint(scratch / "c");
  EXPECT_EQ(entries_of(scratch.path()), mine);
  for (const auto& name : mine) EXPECT_EQ(bytes_of(scratch / name / "diary"), "dear");

  fs::create_directories(scratch / ".c.tmp-89abcdef/sub");
  put_lock(scratch / ".c.regard-lock", "89abcdef");
  writer_of(scratch / "c").commit();
  remove_checkpoint(scratch / "c");
  EXPECT_EQ(entries_of(scratch.path()), mine);
}

TEST(CheckpointFolder, WaitsForALockAndRejectsAForeignOne) {
  const ScratchFolder scratch;
  const auto lock = scratch / ".c.regard-lock";
  put_bytes(lock, "mine");
  EXPECT_THAT(message_of<EnvironmentError>([&] { writer_of(scratch / "c").commit(); }),
              HasSubstr(".c.regard-lock: not a lock of regard"));
  EXPECT_EQ(bytes_of(lock), "mine");
  for (const auto& torn : {std::string(), std::string("regard is wr"), std::string(9, '\0'),
                           std::string("regard is writing the folder of this name\n1")}) {
    put_bytes(lock, torn);
    writer_of(scratch / "c").commit();
    EXPECT_EQ(entries_of(scratch.path()), std::vector<std::string>{"c"}) << torn;
  }
  const int held = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  const auto writer = in_another_process([&] {
    ::close(held);
    const auto open_files = entries_of("/proc/self/fd").size();
    writer_of(scratch / "c", "late").commit();
    if (entries_of("/proc/self/fd").size() > open_files)
      throw std::runtime_error("files stay open");
  });
  ::usleep(200'000);
  EXPECT_EQ(FolderReader(scratch / "c").text("config.yaml"), "seed: 1\n");
  ::close(held);
  EXPECT_EQ(exit_code_of(writer), 0);
  EXPECT_EQ(bytes_of(scratch / "c/config.yaml"), "late");
}

TEST(CheckpointFolder, TriesALockAgainAfterASignalAndReportsOtherErrors) {
  const ScratchFolder scratch;
  flock_error = EINTR;
  writer_of(scratch / "c").commit();
  flock_error = ENOLCK;
  EXPECT_THAT(message_of<EnvironmentError>([&] { writer_of(scratch / "d").commit(); }),
              HasSubstr(".d.regard-lock: cannot be locked (No locks available)"));
}

// A writer killed between the two renames, on a file system that cannot swap folders.
TEST(CheckpointFolder, RestoresACheckpointThatWasMovedAway) {
  const ScratchFolder scratch;
  const auto moved_aside = [&](const std::string& config) {
    writer_of(scratch / ".c.old-89abcdef", config).commit();
    put_lock(scratch / ".c.regard-lock", "89abcdef");
  };
  moved_aside("seed: 1\n");
  clear_leftovers(scratch / "c");
  EXPECT_TRUE(is_checkpoint(scratch / "c"));
  moved_aside("older");
  clear_leftovers(scratch / "c");
  EXPECT_EQ(entries_of(scratch.path()), std::vector<std::string>{"c"});
  EXPECT_EQ(FolderReader(scratch / "c").text("config.yaml"), "seed: 1\n");
}

TEST(CheckpointFolder, CheckReplaceableFindsWhatCannotBeReplaced) {
  const ScratchFolder scratch;
  EXPECT_NO_THROW(check_replaceable(scratch / "c"));
  writer_of(scratch / "c").commit();
  EXPECT_NO_THROW(check_replaceable(scratch / "c/"));
  put_bytes(scratch / "c/diary", "dear");
  EXPECT_THROW(check_replaceable(scratch / "c"), EnvironmentError);
  EXPECT_THROW(check_replaceable(scratch.path()), EnvironmentError);
}

TEST(CheckpointFolder, FileNamesArePlainAndUnique) {
  FolderWriter writer("unused");
  for (const std::string name : {"", ".", "..", "a/b", "manifest.json"}) {
    EXPECT_THROW(writer.add_text(name, ""), std::logic_error) << name;
  }
  writer.add_text("a", "");
  EXPECT_THROW(writer.add_text("a", ""), std::logic_error);
}

// A file system of one megabyte. Not mounted if that is not permitted.
class SmallDisk {
 public:
  SmallDisk() : mounted_(::mount("tmpfs", scratch_.path().c_str(), "tmpfs", 0, "size=1m") == 0) {}
  ~SmallDisk() {
    if (mounted_) ::umount2(scratch_.path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }
  fs::path operator/(std::string_view name) const { return scratch_ / name; }
  const fs::path& path() const { return scratch_.path(); }

 private:
  ScratchFolder scratch_;
  bool mounted_;
};

TEST(CheckpointFolder, ReportsTooLittleSpaceBeforeWriting) {
  const SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "file systems cannot be mounted here";
  writer_of(disk / "c").commit();
  FolderWriter writer(disk / "c");
  writer.add_tensors("model.safetensors", {{"w", torch::zeros({1000, 1000})}});
  EXPECT_THAT(message_of<EnvironmentError>([&] { writer.commit(); }),
              AllOf(HasSubstr(disk.path().string()), HasSubstr("needed: 4.0 MB, free: 1.0 MB")));
  EXPECT_EQ(entries_of(disk.path()), std::vector<std::string>{"c"});
}

// Root may write everywhere, so it becomes another user temporarily.
class WithoutRights {
 public:
  WithoutRights() : was_root_(::geteuid() == 0) {
    if (was_root_) taken_ = ::seteuid(65534) == 0;
  }
  ~WithoutRights() {
    if (was_root_ && taken_ && ::seteuid(0) != 0) std::abort();
  }
  WithoutRights(const WithoutRights&) = delete;
  WithoutRights& operator=(const WithoutRights&) = delete;
  bool given_up() const { return taken_; }

 private:
  bool was_root_;
  bool taken_ = true;
};

TEST(CheckpointFolder, ErrorsNameAFolderWithoutPermission) {
  const ScratchFolder scratch;
  fs::create_directory(scratch / "runs");
  fs::permissions(scratch.path(), fs::perms{0755});
  fs::permissions(scratch / "runs", fs::perms{0555});
  const WithoutRights nobody;
  if (!nobody.given_up()) GTEST_SKIP() << "the superuser's rights cannot be given up here";
  EXPECT_THAT(message_of<EnvironmentError>([&] { writer_of(scratch / "runs/c").commit(); }),
              AllOf(HasSubstr((scratch / "runs").string()), HasSubstr("Permission denied")));
  EXPECT_THAT(entries_of(scratch / "runs"), IsEmpty());
}

TEST(CheckpointFolder, ErrorsNameMissingTruncatedAndUnknownFiles) {
  const ScratchFolder scratch;
  writer_of(scratch / "c").commit();
  fs::resize_file(scratch / "c/vocabulary.txt", 3);
  fs::remove(scratch / "c/model.safetensors");
  const FolderReader reader(scratch / "c");
  EXPECT_THAT(message_of<CheckpointError>([&] { reader.text("vocabulary.txt"); }),
              HasSubstr("vocabulary.txt: damaged: found 3 bytes, expected 4"));
  EXPECT_THAT(message_of<CheckpointError>([&] { reader.tensors("model.safetensors"); }),
              HasSubstr("model.safetensors: missing"));
  EXPECT_THAT(message_of<CheckpointError>([&] { reader.text("none"); }),
              HasSubstr("written without none"));
}

TEST(CheckpointFolder, AnEditedConfigurationIsOnlyAWarning) {
  const ScratchFolder scratch;
  writer_of(scratch / "c").commit();
  put_bytes(scratch / "c/config.yaml", "seed: 2 # mine\n");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(FolderReader(scratch / "c").text("config.yaml"), "seed: 2 # mine\n");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("config.yaml: changed since"));
  EXPECT_THROW(FolderReader(scratch / "c", {}).text("config.yaml"), CheckpointError);
}

TEST(CheckpointFolder, ErrorsNameADamagedManifest) {
  const ScratchFolder scratch;
  EXPECT_THAT(message_of<CheckpointError>([&] { FolderReader reader(scratch / "none"); }),
              HasSubstr("none: no checkpoint found (expected a folder with manifest.json)"));
  writer_of(scratch / "c").commit();
  const auto path = scratch / "c/manifest.json";
  const std::string whole = bytes_of(path);
  for (const std::string& bytes : {std::string(), whole.substr(0, whole.size() / 2),
                                   std::string("[]"), std::string(R"({"format": 2})")}) {
    put_bytes(path, bytes);
    EXPECT_THAT(message_of<CheckpointError>([&] { FolderReader reader(scratch / "c"); }),
                HasSubstr("manifest.json: the manifest is damaged"));
  }
  put_bytes(path, R"({"format": 3, "regard": "9.0"})");
  EXPECT_THAT(message_of<CheckpointError>([&] { FolderReader reader(scratch / "c"); }),
              AllOf(HasSubstr("of format 3"), HasSubstr("(9.0)")));
}

TEST(CheckpointFolder, RejectsNamesThatLeadOutOfTheFolder) {
  const ScratchFolder scratch;
  writer_of(scratch / "c").commit();
  auto manifest = Json::parse(bytes_of(scratch / "c/manifest.json"));
  manifest["sha256"] = std::string(64, '0');
  const std::string whole = manifest.dump();
  const std::string plain = "vocabulary.txt";
  const auto at = whole.find(plain);
  for (const char* name : {"../../etc/passwd", "/etc/passwd", "..", ".", "", "a\\u0000b"}) {
    auto changed = whole;
    put_bytes(scratch / "c/manifest.json",
              sealed_manifest(changed.replace(at, plain.size(), name)));
    EXPECT_THAT(message_of<CheckpointError>([&] { FolderReader reader(scratch / "c"); }),
                AllOf(HasSubstr("manifest.json: the manifest is damaged"),
                      HasSubstr("leads out of the folder")))
        << name;
  }
}

TEST(CheckpointFolder, RejectsLinks) {
  const ScratchFolder scratch;
  for (const char* name : {"config.yaml", "vocabulary.txt", "manifest.json"}) {
    writer_of(scratch / "c").commit();
    fs::rename(scratch / "c" / name, scratch / name);
    fs::create_symlink(scratch / name, scratch / "c" / name);
    EXPECT_THAT(message_of<CheckpointError>([&] {
                  const FolderReader reader(scratch / "c");
                  static_cast<void>(reader.text(name));
                }),
                AllOf(HasSubstr(name), HasSubstr("a link")));
    fs::remove_all(scratch / "c");
  }
}

TEST(CheckpointFolder, RejectsALargeManifestBeforeReadingIt) {
  const ScratchFolder scratch;
  writer_of(scratch / "c").commit();
  fs::resize_file(scratch / "c/manifest.json", std::uintmax_t{1} << 40);
  EXPECT_THAT(message_of<CheckpointError>([&] { FolderReader reader(scratch / "c"); }),
              HasSubstr("manifest.json: larger than 1048576 bytes"));
}

TEST(CheckpointFolder, AFolderRemovedWhileItIsReadIsFoundAgain) {
  const ScratchFolder scratch;
  const auto write = [&](const std::string& name, const std::string& text) {
    FolderWriter writer(scratch / name);
    writer.add_text("tokens.txt", text);
    writer.commit();
  };
  const auto link = scratch / "best";
  write("first", "1");
  write("second", "2");
  fs::create_directory_symlink("first", link);
  int attempts = 0;
  const auto text = retry_if_removed([&] {
    const FolderReader reader(link);
    ++attempts;
    if (attempts == 1) {  // as training does: the link first
      fs::remove(link);
      fs::create_directory_symlink("second", link);
      remove_checkpoint(scratch / "first");
    } else if (attempts == 2) {
      write("second", "3");
    }
    return reader.text("tokens.txt");
  });
  EXPECT_EQ(attempts, 3);
  EXPECT_EQ(text, "3");
}

TEST(CheckpointFolder, AFolderThatIsRemovedEachTimeIsAnError) {
  const ScratchFolder scratch;
  int attempts = 0;
  EXPECT_THAT(message_of<RemovedError>([&] {
                retry_if_removed([&] {
                  ++attempts;
                  writer_of(scratch / "c").commit();
                  const FolderReader reader(scratch / "c");
                  remove_checkpoint(scratch / "c");
                  reader.verify_all();
                });
              }),
              HasSubstr("c: removed or replaced while it was read"));
  EXPECT_EQ(attempts, 10);
}

TEST(CheckpointFolder, RemovalLeavesNothing) {
  const ScratchFolder scratch;
  writer_of(scratch / "c").commit();
  remove_checkpoint(scratch / "c");
  EXPECT_THAT(entries_of(scratch.path()), IsEmpty());
  EXPECT_THROW(remove_checkpoint(scratch / "c"), EnvironmentError);
}

}  // namespace
}  // namespace regard::folder_test
