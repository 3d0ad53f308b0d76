#include "data/text_files.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/sha256.h"
#include "data/line_reader.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/cli/bad_corpora.h"
#include "tests/data/gzipped.h"

namespace regard::text_files_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string many_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::string(static_cast<std::size_t>(i % 40), 'x') + "\n";
  return text;
}

std::vector<std::string> lines_of(const TextFile& file) {
  std::vector<std::string> lines;
  TextFile::Reader reader(file);
  std::int64_t number = 1;
  while (const auto block = reader.next()) {
    for (std::size_t i = 0; i < block->size(); ++i) {
      EXPECT_EQ(block->number(i), number++);
      lines.emplace_back(block->line(i, file.path()));
    }
  }
  return lines;
}

// The files that all readers of lines agree on.
const std::vector<std::string>& texts() {
  static const std::vector<std::string> all = {
      "",
      "\n",
      "a\nb",
      "\uFEFFa\r\nb\r\n\r",
      "\x1f",
      std::string("a\0b\n\n\n", 6),
      std::string(200'000, '\n'),
      many_lines(50'000),
      std::string(300'000, 'x') + "\nb\n",
      gzipped(many_lines(50'000)),
      gzipped(""),
      gzipped("a\n") + gzipped("b") + std::string(70'000, '\0'),
  };
  return all;
}

TEST(TextFiles, HaveTheLinesAndDigestOfTheFile) {
  const ScratchFolder folder;
  for (const auto& bytes : texts()) {
    const auto path = folder.write("text", bytes);
    for (const std::int64_t memory :
         {std::int64_t{0}, std::int64_t{100'000}, TextFiles::default_memory}) {
      ThreadPool pool;
      const TextFiles files({path}, pool, memory);
      const auto& file = files.at(path);
      EXPECT_EQ(file.digest().sha256, sha256(bytes));
      EXPECT_EQ(file.digest().lines, count_lines(path));
      EXPECT_EQ(lines_of(file), read_lines(path));
    }
    EXPECT_EQ(digest_of(path).sha256, sha256(bytes));
  }
}

// Training reads text with TextFiles, the other commands with LineReader.
TEST(TextFiles, HaveTheLinesOfReadLinesOrItsMessageForEachUnusualText) {
  const ScratchFolder folder;
  ThreadPool pool;
  std::string plain;
  for (int i = 0; i < 40; ++i) plain += "the cat sees " + std::to_string(i) + "\n";
  for (const auto& text : bad_texts()) {
    SCOPED_TRACE(text.title);
    const auto path = folder.write(text.file_name, text.spoil(plain));
    std::vector<std::string> expected;
    const auto message = message_of<InputError>([&] { expected = read_lines(path); });
    EXPECT_EQ(message.empty(), text.fate != Fate::refused);
    for (const std::int64_t memory : {std::int64_t{0}, TextFiles::default_memory}) {
      const TextFiles files({path}, pool, memory);
      std::vector<std::string> found;
      EXPECT_EQ(message_of<InputError>([&] { found = lines_of(files.at(path)); }), message);
      EXPECT_EQ(found, expected);
    }
  }
}

TEST(TextFiles, TheColumnsOfAFileAreTextsWithDigestsOfTheirOwn) {
  const ScratchFolder folder;
  std::string bytes, source, target;
  for (int i = 0; i < 20'000; ++i) {
    source += "source " + std::to_string(i) + "\n";
    target += "target " + std::to_string(i) + "\n";
    bytes += "source " + std::to_string(i) + "\ttarget " + std::to_string(i) + "\n";
  }
  const auto path = folder.write("pairs.tsv", bytes);
  for (const std::int64_t memory : {0, 1 << 30}) {
    ThreadPool pool(2);
    const TextFiles files({path + "#1", path + "#2"}, pool, memory);
    EXPECT_EQ(lines_of(files.at(path + "#1")), read_lines(folder.write("src", source)));
    EXPECT_EQ(lines_of(files.at(path + "#2")), read_lines(folder.write("trg", target)));
    EXPECT_EQ(files.at(path + "#1").digest().lines, 20'000);
    EXPECT_EQ(files.at(path + "#1").digest().sha256, sha256(bytes + "#tsv:1"));
    EXPECT_EQ(digest_of(path + "#2").sha256, sha256(bytes + "#tsv:2"));
  }
}

TEST(TextFiles, CountLinesWithoutValidatingThem) {
  const ScratchFolder folder;
  const auto path = folder.write("text", "a\n\xFF\nb\n");
  ThreadPool pool;
  const TextFiles files({path}, pool);
  EXPECT_EQ(files.at(path).digest().lines, 3);
  EXPECT_THAT([&] { lines_of(files.at(path)); },
              ThrowsMessage<InputError>(HasSubstr("text:2: byte 1 of the line")));
}

TEST(TextFiles, ALineOfMoreThan16MegabytesIsAnErrorWhenItIsRead) {
  const ScratchFolder folder;
  const auto path = folder.write("text", "a\n" + std::string(max_line_bytes, 'x') + "\nb\n" +
                                             std::string(max_line_bytes + 1, 'x') + "\nc\n");
  ThreadPool pool;
  for (const std::int64_t memory : {std::int64_t{0}, TextFiles::default_memory}) {
    const TextFiles files({path}, pool, memory);
    EXPECT_EQ(files.at(path).digest().lines, 5);
    EXPECT_THAT([&] { lines_of(files.at(path)); },
                ThrowsMessage<InputError>(HasSubstr("text:4: found a line of more than")));
  }
}

TEST(TextFiles, EachFileHasItsOwnError) {
  const ScratchFolder folder;
  const auto good = folder.write("good", "a\n");
  const auto broken = folder.write("broken.gz", gzipped(many_lines(1000)).substr(0, 200));
  ThreadPool pool(3);
  const TextFiles files({folder.path("gone"), good, broken, good}, pool);
  EXPECT_EQ(files.at(good).digest().lines, 1);
  EXPECT_THAT([&] { files.at(broken); }, ThrowsMessage<InputError>(HasSubstr("is cut short")));
  EXPECT_THAT([&] { files.at(folder.path("gone")); },
              ThrowsMessage<InputError>(HasSubstr("cannot be read")));
  EXPECT_THROW(files.at("other"), std::out_of_range);
}

TEST(TextFiles, AChangeBetweenTwoReadingsIsAnError) {
  const ScratchFolder folder;
  const auto path = folder.write("text", "one\ntwo\n");
  const auto time = std::filesystem::last_write_time(path);
  ThreadPool pool;
  const TextFiles files({path}, pool, /*memory=*/0);
  EXPECT_EQ(lines_of(files.at(path)), read_lines(path));
  folder.write("text", "one\nTWO\n");
  std::filesystem::last_write_time(path, time);
  EXPECT_THAT([&] { lines_of(files.at(path)); },
              ThrowsMessage<InputError>(HasSubstr("changed while it was read")));
}

TEST(ForEachBlock, VisitsEveryBlockOnceOnAllThreads) {
  const ScratchFolder folder;
  const auto one = folder.write("one", many_lines(50'000));
  const auto two = folder.write("two", many_lines(70'000));
  for (const std::size_t threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    const TextFiles files({one, two}, pool);
    const std::vector<const TextFile*> both = {&files.at(one), &files.at(two)};
    std::vector<std::size_t> lines(threads);
    for_each_block(pool, both, [&](std::size_t thread, const LineBlock& block, const std::string&) {
      lines[thread] += block.size();
    });
    std::size_t sum = 0;
    for (const auto count : lines) sum += count;
    EXPECT_EQ(sum, 120'000u);
  }
}

TEST(ForEachBlock, ThrowsTheFirstErrorInTheOrderOfTheFiles) {
  const ScratchFolder folder;
  const auto one = folder.write("one", many_lines(30'000) + "\xFF\n" + many_lines(30'000));
  const auto two = folder.write("two", "\xFF\n");
  for (const std::size_t threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    const TextFiles files({one, two}, pool);
    const std::vector<const TextFile*> both = {&files.at(one), &files.at(two)};
    const auto validate = [](std::size_t, const LineBlock& block, const std::string& name) {
      for (std::size_t i = 0; i < block.size(); ++i) block.line(i, name);
    };
    EXPECT_THAT([&] { for_each_block(pool, both, validate); },
                ThrowsMessage<InputError>(AllOf(HasSubstr("one:30001:"), HasSubstr("byte 1"))));
  }
}

}  // namespace
}  // namespace regard::text_files_test
