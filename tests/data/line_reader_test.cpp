#include "data/line_reader.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/random.h"
#include "base/sha256.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/data/gzipped.h"

namespace regard::line_reader_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> lines_in(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

std::string error_in(const std::string& path) {
  return message_of<InputError>([&] { lines_in(path); });
}

TEST(LineReader, LinesEndAtLineFeedsOnly) {
  const ScratchFolder folder;
  using namespace std::string_literals;
  const std::string text = "a\0b\nc\rd\ne\u0085f\u2028g\u000Bh\n\nlast"s;
  const auto path = folder.write("text", text);
  EXPECT_THAT(lines_in(path), ElementsAre("a\0b"s, "c\rd", "e\u0085f\u2028g\u000Bh", "", "last"));
  EXPECT_EQ(count_lines(path), 5);
}

TEST(LineReader, AFinalLineFeedAddsNoLine) {
  const ScratchFolder folder;
  EXPECT_THAT(lines_in(folder.write("one", "a\n")), ElementsAre("a"));
  EXPECT_THAT(lines_in(folder.write("empty", "")), ElementsAre());
  EXPECT_THAT(lines_in(folder.write("blank", "\n")), ElementsAre(""));
  EXPECT_EQ(count_lines(folder.path("one")), 1);
  EXPECT_EQ(count_lines(folder.path("empty")), 0);
  EXPECT_EQ(count_lines(folder.path("blank")), 1);
}

TEST(LineReader, OneCarriageReturnAtTheEndIsDropped) {
  const ScratchFolder folder;
  EXPECT_THAT(lines_in(folder.write("text", "a\r\nb\r\r\n\r\nc\r")),
              ElementsAre("a", "b\r", "", "c"));
}

TEST(LineReader, AByteOrderMarkIsDroppedAtTheStartOnly) {
  const ScratchFolder folder;
  EXPECT_THAT(lines_in(folder.write("text", "\uFEFFa\n\uFEFFb\n")), ElementsAre("a", "\uFEFFb"));
}

TEST(LineReader, InvalidUtf8IsReportedWithFileLineAndByte) {
  const ScratchFolder folder;
  const auto path = folder.write("latin1", "fine\n\xE9t\xE9\n");
  EXPECT_THAT(error_in(path), HasSubstr(path + ":2: byte 1 of the line (0xE9) is not UTF-8"));
  const auto utf16 = folder.write("utf16", std::string("\xFF\xFE"
                                                       "a\0\n\0",
                                                       6));
  EXPECT_THAT(error_in(utf16), HasSubstr("utf16:1: byte 1 "));
}

TEST(LineReader, ReadsALineOfTenMegabytes) {
  const ScratchFolder folder;
  const std::string line(10'000'000, 'x');
  EXPECT_THAT(lines_in(folder.write("text", line + "\nb\n")), ElementsAre(line, "b"));
  EXPECT_THAT(lines_in(folder.write("text.gz", gzipped(line + "\nb\n"))), ElementsAre(line, "b"));
}

TEST(LineReader, DetectsGzipByItsBytes) {
  const ScratchFolder folder;
  EXPECT_THAT(lines_in(folder.write("text.gz", gzipped("a\nb"))), ElementsAre("a", "b"));
  EXPECT_THAT(lines_in(folder.write("text.txt", gzipped("a\nb"))), ElementsAre("a", "b"));
  EXPECT_THAT(lines_in(folder.write("nothing.gz", gzipped(""))), ElementsAre());
  EXPECT_EQ(count_lines(folder.path("text.gz")), 2);
}

TEST(LineReader, ConcatenatedGzipMembersAreOneText) {
  const ScratchFolder folder;
  const auto path = folder.write("text.gz", gzipped("a\nb") + gzipped("") + gzipped("c\n"));
  EXPECT_THAT(lines_in(path), ElementsAre("a", "bc"));
}

TEST(LineReader, DamagedGzipIsAnInputError) {
  const ScratchFolder folder;
  std::string text;
  Random random(3);
  for (int i = 0; i < 50'000; ++i) text += static_cast<char>('a' + random.below(26));
  std::string compressed = gzipped(text);
  const auto cut = folder.write("cut.gz", compressed.substr(0, compressed.size() / 2));
  EXPECT_THAT(error_in(cut), AllOf(HasSubstr(cut), HasSubstr("cut short")));
  EXPECT_THAT(error_in(folder.write("tail.gz", compressed.substr(0, compressed.size() - 1))),
              HasSubstr("cut short"));
  compressed[compressed.size() - 6] ^= 1;  // the checksum
  EXPECT_THAT(error_in(folder.write("broken.gz", compressed)), HasSubstr("is broken"));
  EXPECT_THAT(error_in(folder.write("junk.gz", gzipped("a\n") + "junk")),
              HasSubstr("is followed by other bytes"));
  EXPECT_THAT(error_in(folder.write("plain.gz", "a\n")), HasSubstr("not gzip data"));
  EXPECT_THAT(error_in(folder.write("empty.gz", "")), HasSubstr("not gzip data"));
}

TEST(LineReader, SkipsZerosAfterGzipAndRejectsOtherBytes) {
  const ScratchFolder folder;
  EXPECT_THAT(lines_in(folder.write("padded.gz", gzipped("a\n") + std::string(100'000, '\0') +
                                                     gzipped("b\n") + std::string(1, '\0'))),
              ElementsAre("a", "b"));
  for (const std::string tail : {"x", "\n", "more"}) {
    EXPECT_THAT(
        error_in(folder.write("tail.gz", gzipped("a\nb\n") + tail)),
        HasSubstr("is followed by other bytes; copy or fetch the file again (after line 2)"));
  }
  EXPECT_THAT(error_in(folder.write("magic", "\x1F\x8Bno gzip")), HasSubstr("is broken"));
}

TEST(LineReader, AFileThatChangesIsAnErrorAtItsEndIfItIsHashed) {
  const ScratchFolder folder;
  const std::string text(100'000, '\n');
  std::string line;
  for (const bool hashes : {false, true}) {
    Sha256 hash;
    LineReader reader(folder.write("text", text));
    if (hashes) reader.hash_into(hash);
    ASSERT_TRUE(reader.next(line));
    std::ofstream(folder.path("text"), std::ios::app) << "more\n";
    const auto read_all = [&] {
      while (reader.next(line)) continue;
    };
    if (hashes) {
      EXPECT_THAT(message_of<InputError>(read_all), HasSubstr("changed while it was read"));
    } else {
      read_all();
    }
    EXPECT_EQ(reader.line_number(), 100'001);
  }
}

TEST(LineReader, RawLinesAreTheBytesUpToTheLineFeedOrTheirBeginning) {
  const ScratchFolder folder;
  const std::string longest(max_line_bytes, 'x');
  LineReader reader(
      folder.write("text", "\uFEFFa\r\n\xFF\n" + longest + "\n" + longest + "yz\n\nlast"));
  std::vector<std::string> lines;
  for (std::string line; reader.next_raw(line);) lines.push_back(line);
  EXPECT_THAT(lines, ElementsAre("\uFEFFa\r", "\xFF", longest, testing::SizeIs(max_line_bytes + 1),
                                 "", "last"));
  EXPECT_EQ(reader.line_number(), 6);
}

TEST(LineReader, DetectsUtf16WithAndWithoutAMark) {
  const ScratchFolder folder;
  using namespace std::string_literals;
  EXPECT_THAT(error_in(folder.write("marked", "\xFE\xFF\0a\0\n"s)), HasSubstr("iconv -f UTF-16 "));
  EXPECT_THAT(error_in(folder.write("little", "a\0b\0\n\0"s)), HasSubstr("iconv -f UTF-16LE "));
  EXPECT_THAT(error_in(folder.write("big", "\0a\0b\0\n"s)), HasSubstr("iconv -f UTF-16BE "));
}

TEST(LineReader, AGzipBombIsAnInputError) {
  const ScratchFolder folder;
  const std::string zeros(std::size_t{8} << 20, '0');
  const auto fits = folder.write("fits.gz", gzipped("a\n") + gzipped(zeros) + gzipped(zeros));
  LineReader reader(fits);
  std::string line;
  EXPECT_TRUE(reader.next(line) && reader.next(line));
  EXPECT_EQ(line.size(), 2 * zeros.size());

  const auto bomb = folder.write("bomb.gz", gzipped("a\n") + gzipped(zeros) + gzipped(zeros + "0"));
  EXPECT_THAT(error_in(bomb),
              AllOf(HasSubstr("bomb.gz:2: found a line of more than 16777216 bytes")));
}

TEST(LineReader, AnUnreadableFileIsAnInputError) {
  const ScratchFolder folder;
  EXPECT_THAT(error_in(folder.path("missing")), HasSubstr("missing: cannot be read (No such file"));
  EXPECT_THAT(error_in(folder.path("")), HasSubstr("a folder"));
  EXPECT_THROW(count_lines(folder.path("missing")), InputError);
  EXPECT_THROW(count_lines(folder.path("")), InputError);
  if (::geteuid() != 0) {  // root reads everything
    ::chmod(folder.write("secret", "a\n").c_str(), 0);
    EXPECT_THAT(error_in(folder.path("secret")), HasSubstr("Permission denied"));
  }
}

TEST(LineReader, CountingRejectsAPipe) {
  const ScratchFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_THROW(count_lines(folder.path("pipe")), InputError);
}

TEST(LineReader, ReturnsALineOfAPipeAsSoonAsItArrives) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  LineReader reader("/dev/fd/" + std::to_string(ends[0]));
  std::string line;
  for (const std::string text : {"one", "two"}) {
    ASSERT_GT(::write(ends[1], (text + "\nr").data(), text.size() + 2), 0);
    ASSERT_TRUE(reader.next(line));  // blocks forever if it waits for more bytes
    EXPECT_THAT(line, HasSubstr(text));
  }
  ::close(ends[1]);
  EXPECT_TRUE(reader.next(line));
  EXPECT_EQ(line, "r");
  EXPECT_FALSE(reader.next(line));
  EXPECT_EQ(reader.line_number(), 3);
  ::close(ends[0]);
}

TEST(LineReader, ReadsGzipFromAPipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string compressed = gzipped("one\ntwo\n");
  ASSERT_EQ(::write(ends[1], compressed.data(), compressed.size()),
            static_cast<ssize_t>(compressed.size()));
  LineReader reader("/dev/fd/" + std::to_string(ends[0]));
  ::close(ends[1]);
  std::string line;
  EXPECT_TRUE(reader.next(line) && line == "one");
  EXPECT_TRUE(reader.next(line) && line == "two");
  EXPECT_FALSE(reader.next(line));
  ::close(ends[0]);
}

}  // namespace
}  // namespace regard::line_reader_test
