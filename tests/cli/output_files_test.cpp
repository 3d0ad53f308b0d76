// Files that a command writes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/cli/run.h"

namespace regard::output_files_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::ptrdiff_t files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), {});
}

TEST(OutputFiles, SignalLeavesNoTemporaryFiles) {
  const auto folder = fresh_folder();
  const int unnamed = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
  if (unnamed >= 0) ::close(unnamed);
  std::ptrdiff_t expected = 1;
  const auto path = folder / "alignments";
  write_text(path, "older\n");
  for (const int signal : {SIGTERM, SIGKILL}) {
    Running translating({"translate", "-m", tiny_model().string(), "--alignments", path.string()});
    translating.write("the cat\n");
    ASSERT_TRUE(translating.read_line());
    translating.send(signal);
    EXPECT_EQ(translating.finish().code, 128 + signal);
    EXPECT_EQ(read_text(path), "older\n");
    if (unnamed < 0) ++expected;  // the file system needs a name
    EXPECT_EQ(files_in(folder), expected) << signal;
  }
}

TEST(OutputFiles, ReplacedFileKeepsItsPermissions) {
  const auto folder = fresh_folder();
  const auto path = folder / "out";
  write_text(path, "secret\n");
  const auto own = fs::perms::owner_read | fs::perms::owner_write;
  fs::permissions(path, own);
  ASSERT_EQ(run({"translate", "-m", tiny_model().string(), "-o", path.string()}, "the cat\n").code,
            0);
  EXPECT_EQ(fs::status(path).permissions(), own);
}

TEST(OutputFiles, JsonIsUtf8ForAnyFileName) {
  const auto folder = fresh_folder();
  const auto path = folder / "h\xFF";
  write_text(path, "a b c\n");
  const auto finished = run({"evaluate", "--hypotheses", path.string(), path.string(), "-r",
                             path.string(), "--json", "--force"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("h\uFFFD"));
}

// Returns all files below the folder with their bytes, and links with their targets.
std::map<std::string, std::string> content_of(const fs::path& folder) {
  std::map<std::string, std::string> content;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto name = entry.path().lexically_relative(folder).string();
    if (entry.is_symlink()) {
      content[name] = fs::read_symlink(entry.path()).string();
    } else {
      content[name] = entry.is_directory() ? "" : read_text(entry.path());
    }
  }
  return content;
}

class OutputsOfEachCommand : public CliTest {
 protected:
  OutputsOfEachCommand() {
    const auto corpus = toy_corpus(3, 7);
    write_text(source_, corpus.source);
    write_text(target_, corpus.target);
  }
  // Returns each option for an output file, without its value.
  std::vector<Words> commands() const {
    const Words translate = {"translate", "-m", model_.string(), "-i", source_};
    const Words score = {"score", "-m", model_.string(), "-s", source_};
    const Words evaluate = {"evaluate", "-m", model_.string(), "-s", source_, "-r", target_};
    return {translate + Words{"-o"},
            translate + Words{"--alignments"},
            translate + Words{"--attention-weights"},
            translate + Words{"--report"},
            score + Words{"-t", target_, "-o"},
            score + Words{"-t", target_, "--align"},
            score + Words{"--n-best", path("list"), "-o"},
            evaluate + Words{"--force", "-o"},
            evaluate + Words{"--force", "--by-length", "5", "--by-length-svg"},
            {"shortlist", "-m", model_.string(), "-s", source_, "-t", target_, "-o"},
            {"report", run_.string(), "-o"},
            {"average", model_.string(), tiny_model().string(), "-o"},
            {"config", "init", source_, target_, "--yes", "-o"},
            {"config", "convert", source_, "-o"}};
  }

  const fs::path run_ = copy_of_run(tiny_model(), folder_ / "run");
  const fs::path model_ = copy_of_model(tiny_model(), folder_ / "model");
  const std::string source_ = path("a.en");
  const std::string target_ = path("a.fr");
};

TEST_F(OutputsOfEachCommand, DoNotOverwriteFilesOfARunOrModel) {
  fs::create_symlink(run_ / "train.log", folder_ / "link");
  write_text(folder_ / "list", "0 ||| le chat\n");
  const auto before = content_of(folder_);
  const std::vector<fs::path> others = {
      run_ / "train.log",       run_ / "validations.tsv", run_ / "best/config.yaml",
      run_ / "checkpoints/new", model_ / "manifest.json", run_ / "validation/step-00000030.txt"};
  std::size_t next = 0;
  for (const auto& words : commands()) {
    const auto& other = others[next++ % others.size()];
    for (const auto& output : {folder_ / "link", model_ / "model.safetensors", other}) {
      const auto finished = run(words + Words{output.string()});
      EXPECT_EQ(finished.code, 2) << testing::PrintToString(words) << output << finished.err;
      EXPECT_THAT(finished.err, HasSubstr("choose another name for the output")) << words[0];
    }
  }
  for (const auto* picture : {"best/", "checkpoints/maps/", "checkpoints/a.svg"}) {
    const auto finished = run({"translate", "-m", model_.string(), "-i", source_, "--picture",
                               (run_ / picture).string()});
    EXPECT_EQ(finished.code, 2) << picture;
  }
  EXPECT_EQ(run({"man", "--into", (run_ / "checkpoints").string()}).code, 2);
  EXPECT_EQ(content_of(folder_), before);
}

TEST_F(OutputsOfEachCommand, MayHaveOtherNamesInARun) {
  const auto made = [&](const Words& words) {
    const auto finished = run(words);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return fs::exists(words.back());
  };
  const auto before = content_of(run_);
  EXPECT_TRUE(
      made({"translate", "-m", run_.string(), "-i", source_, "-o", (run_ / "test.fr").string()}));
  EXPECT_TRUE(made({"average", run_.string(), "--best", "1", "-o", (run_ / "averaged").string()}));
  EXPECT_TRUE(made({"report", run_.string(), "-o", (run_ / "page.html").string()}));
  const auto after = content_of(run_);
  for (const auto& [name, bytes] : before) EXPECT_EQ(after.at(name), bytes) << name;
}

TEST_F(OutputsOfEachCommand, APipeWithoutAReaderIsWaitedForWithAMessage) {
  const auto pipe = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto errors = (folder_ / "errors").string();
  // The reader begins when the message is there.
  const auto command = std::string(REGARD_BINARY_DIR) + "/regard translate -m " + model_.string() +
                       " -i " + source_ + " -o " + pipe + " 2>" + errors +
                       " & timeout 60 sh -c 'until grep -q waiting " + errors +
                       "; do sleep 0.05; done; cat " + pipe + "' >" + (folder_ / "read").string();
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_THAT(read_text(errors), HasSubstr("pipe: waiting for a program that reads this pipe"));
  EXPECT_EQ(lines_of(read_text(folder_ / "read")).size(), lines_of(read_text(source_)).size());
}

}  // namespace
}  // namespace regard::output_files_test
