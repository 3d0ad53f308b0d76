#include "data/pair_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::pair_journal_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class PairJournalTest : public testing::Test {
 protected:
  std::unique_ptr<PairJournal> open(const Json& settings = {{"beam_size", "5"}},
                                    bool fresh = false) const {
    return std::make_unique<PairJournal>(output_, settings, fresh);
  }
  template <typename Exception>
  std::string failure(const Json& settings = {{"beam_size", "5"}}) const {
    return message_of<Exception>([&] { open(settings); });
  }
  // Writes both files as one process that is not killed would.
  void write_all() const {
    const auto journal = open();
    add(*journal, "a", 1);
    add(*journal, "b", 3);
    add(*journal, "c", 4);
    journal->finish();
  }
  // The pair of one input line, after lines that had none.
  static void add(PairJournal& journal, const std::string& text, std::int64_t line) {
    journal.add("source " + text, "target " + text);
    journal.end_lines(line - journal.progress().lines, {{"kept", journal.progress().pairs}});
  }
  std::string source() const { return bytes_of(output_ + ".src"); }
  std::string target() const { return bytes_of(output_ + ".trg"); }

  ScratchFolder folder_;
  std::string output_ = folder_.path("synthetic");
};

TEST_F(PairJournalTest, FilesAppearWhenTheyAreComplete) {
  {
    const auto journal = open();
    EXPECT_FALSE(journal->is_complete());
    add(*journal, "a", 2);
    journal->save();
    EXPECT_FALSE(fs::exists(output_ + ".src"));
    EXPECT_EQ(bytes_of(output_ + ".trg.part"), "target a\n");
    add(*journal, "b", 3);
    journal->finish();
  }
  EXPECT_EQ(source(), "source a\nsource b\n");
  EXPECT_EQ(target(), "target a\ntarget b\n");
  for (const auto* gone : {".src.part", ".trg.part", ".lock"}) {
    EXPECT_FALSE(fs::exists(output_ + gone)) << gone;
  }
  const auto journal = open();
  EXPECT_TRUE(journal->is_complete());
  EXPECT_EQ(journal->progress().lines, 3);
  EXPECT_EQ(journal->progress().pairs, 2);
}

TEST_F(PairJournalTest, GoesOnAfterTheLastSave) {
  write_all();
  const auto straight = source() + target();
  for (const auto* suffix : {".src", ".trg", ".json"}) fs::remove(output_ + suffix);
  {
    const auto journal = open();
    add(*journal, "a", 1);
    add(*journal, "b", 3);
    journal->save();
    add(*journal, "lost", 4);
  }
  // A process that is killed in save() leaves more bytes than it has recorded.
  std::ofstream(output_ + ".src.part", std::ios::app) << "source lo";
  {
    const auto journal = open();
    EXPECT_EQ(journal->progress().lines, 3);
    const Json counts = {{"kept", 2}};
    EXPECT_EQ(journal->progress().counts, counts);
    std::vector<std::string> pairs;
    journal->read_pairs([&](std::string_view a, std::string_view b) {
      pairs.push_back(std::string(a) + "|" + std::string(b));
    });
    EXPECT_THAT(pairs, ElementsAre("source a|target a", "source b|target b"));
    add(*journal, "c", 4);
    journal->finish();
  }
  EXPECT_EQ(source() + target(), straight);
}

// A process can be killed after it has recorded the end, before or between the two renames.
TEST_F(PairJournalTest, TheEndIsReachedAfterAKillAmongTheRenames) {
  write_all();
  const auto straight = source() + target();
  fs::rename(output_ + ".trg", output_ + ".trg.part");
  EXPECT_TRUE(open()->is_complete());
  EXPECT_EQ(source() + target(), straight);
  fs::rename(output_ + ".src", output_ + ".src.part");
  fs::rename(output_ + ".trg", output_ + ".trg.part");
  EXPECT_TRUE(open()->is_complete());
  EXPECT_EQ(source() + target(), straight);
}

TEST_F(PairJournalTest, NoPairsAreAnOutputToo) {
  {
    const auto journal = open();
    journal->end_lines(7, Json::object());
    journal->finish();
  }
  EXPECT_TRUE(fs::exists(output_ + ".src"));
  EXPECT_TRUE(fs::exists(output_ + ".trg"));
  EXPECT_TRUE(open()->is_complete());
}

TEST_F(PairJournalTest, OtherSettingsAreNamed) {
  { const auto journal = open({{"beam_size", "5"}, {"tag", ""}, {"old", "1"}}); }
  const Json now = {{"beam_size", "10"}, {"tag", ""}, {"new", "2"}};
  EXPECT_THAT(failure<ConfigError>(now),
              AllOf(HasSubstr("was begun with other settings"), HasSubstr("beam_size: 5 → 10"),
                    HasSubstr("new: (none) → 2"), HasSubstr("old: 1 → (none)"),
                    Not(HasSubstr("tag")), HasSubstr("--fresh")));
  EXPECT_NO_THROW(open(now, /*fresh=*/true));
  EXPECT_NO_THROW(open(now));
  fs::remove(output_ + ".json");
  write_all();
  EXPECT_THAT(failure<ConfigError>(now), HasSubstr("was finished with other settings"));
}

TEST_F(PairJournalTest, AFreshStartReplacesTheFilesAtItsEnd) {
  write_all();
  const auto before = source();
  const auto journal = open({{"beam_size", "9"}}, /*fresh=*/true);
  EXPECT_FALSE(journal->is_complete());
  EXPECT_EQ(journal->progress().lines, 0);
  journal->read_pairs([](std::string_view, std::string_view) { FAIL(); });
  add(*journal, "z", 1);
  EXPECT_EQ(source(), before);
  journal->finish();
  EXPECT_EQ(source(), "source z\n");
}

TEST_F(PairJournalTest, FilesOfOthersAreNotReplaced) {
  folder_.write("synthetic.trg", "mine\n");
  EXPECT_THAT(failure<ConfigError>(),
              AllOf(HasSubstr("synthetic.trg: exists already"), HasSubstr("--fresh")));
  EXPECT_FALSE(fs::exists(output_ + ".json"));
  fs::remove(output_ + ".trg");
  for (const auto* text : {"{}", "not JSON", "[1]", R"({"format": "regard synthetic pairs"})",
                           R"({"format": 1, "version": "x"})"}) {
    folder_.write("synthetic.json", text);
    EXPECT_THAT(failure<ConfigError>(), HasSubstr("synthetic.json: not written by this version"));
    EXPECT_THROW(open({}, /*fresh=*/true), ConfigError);
    EXPECT_EQ(bytes_of(output_ + ".json"), text);
  }
}

TEST_F(PairJournalTest, ChangedFilesAreFound) {
  {
    const auto journal = open();
    add(*journal, "a", 1);
    add(*journal, "b", 2);
    journal->save();
  }
  const auto intact = bytes_of(output_ + ".src.part");
  folder_.write("synthetic.src.part", "sour");
  EXPECT_THAT(failure<InputError>(),
              AllOf(HasSubstr("synthetic.src.part: found 4 bytes"), HasSubstr("--fresh")));
  auto joined = intact;
  joined[joined.find('\n')] = ' ';
  folder_.write("synthetic.src.part", joined);
  const auto ignore = [](std::string_view, std::string_view) {};
  EXPECT_THROW(open()->read_pairs(ignore), InputError);
  folder_.write("synthetic.src.part", intact);
  EXPECT_NO_THROW(open()->read_pairs(ignore));
  fs::remove(output_ + ".json");
  write_all();
  fs::remove(output_ + ".src");
  EXPECT_THAT(failure<InputError>(), HasSubstr("synthetic.src: found no file"));
  folder_.write("synthetic.src", "x\n");
  EXPECT_THAT(failure<InputError>(), HasSubstr("synthetic.src: found 2 bytes"));
}

TEST_F(PairJournalTest, OneProcessWritesAnOutput) {
  const auto journal = open();
  EXPECT_THAT(failure<EnvironmentError>(), HasSubstr("another process writes this output"));
}

TEST_F(PairJournalTest, AMissingFolderIsNamed) {
  EXPECT_THROW(PairJournal("/no/such/folder/x", Json::object(), false), EnvironmentError);
}

}  // namespace
}  // namespace regard::pair_journal_test
