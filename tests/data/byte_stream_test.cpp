#include "data/byte_stream.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/random.h"
#include "base/sha256.h"
#include "data/line_reader.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/data/compressed.h"

namespace regard::byte_stream_test {
namespace {

using testing::HasSubstr;

struct Format {
  const char* name;
  const char* ending;
};
constexpr Format formats[] = {{"xz", ".xz"}, {"bzip2", ".bz2"}, {"zstd", ".zst"}};

std::string text_of(const std::string& path) {
  ByteStream stream(path);
  std::string text(1 << 20, '\0');
  std::size_t size = 0;
  while (const auto count = stream.read(text.data() + size, text.size() - size)) size += count;
  text.resize(size);
  return text;
}

std::string error_of(const std::string& path) {
  return message_of<InputError>([&] { text_of(path); });
}

std::string random_text() {
  Random random(1);
  std::string text;
  while (text.size() < 300'000) text += std::to_string(random.next()) + "\n";
  return text;
}

TEST(ByteStream, DecompressesByTheFirstBytesWhateverTheName) {
  const ScratchFolder folder;
  const auto text = random_text();
  for (const auto& [name, ending] : formats) {
    const auto packed = compressed(text, name);
    ASSERT_LT(packed.size(), text.size()) << name;
    EXPECT_EQ(text_of(folder.write("plain", packed)), text) << name;
    EXPECT_EQ(text_of(folder.write(std::string("a") + ending, packed)), text) << name;
    EXPECT_EQ(text_of(folder.write("twice", packed + packed)), text + text) << name;
    EXPECT_EQ(text_of(folder.write("none", compressed("", name))), "") << name;
  }
}

TEST(ByteStream, CompressedDataThatIsDamagedIsAnError) {
  const ScratchFolder folder;
  const auto text = random_text();
  for (const auto& [name, ending] : formats) {
    const auto packed = compressed(text, name);
    const std::string data = std::string("the ") + name + " data ";
    for (const auto size : {std::size_t{14}, packed.size() / 2, packed.size() - 1}) {
      EXPECT_THAT(error_of(folder.write("cut", packed.substr(0, size))),
                  HasSubstr("cut: " + data + "is cut short; copy or fetch the file again"))
          << size;
    }
    auto broken = packed;
    broken.replace(12, 20, std::string(20, 'X'));
    EXPECT_THAT(error_of(folder.write("broken", broken)),
                HasSubstr("broken: " + data + "is broken ("));
    EXPECT_THAT(error_of(folder.write("tail", packed + "a line of text\n")),
                HasSubstr(data + "is "));
  }
}

TEST(ByteStream, ANameThatPromisesACompressionIsHeldToIt) {
  const ScratchFolder folder;
  for (const auto& [name, ending] : formats) {
    EXPECT_THAT(
        error_of(folder.write(std::string("a") + ending, "text\n")),
        HasSubstr(std::string("its name ends in ") + ending + ", but its bytes are not " + name +
                  " data; if it is plain text, remove " + ending + " from its name"));
  }
  EXPECT_EQ(text_of(folder.write("bz", "BZh9 is text\n")), "BZh9 is text\n");
  EXPECT_EQ(text_of(folder.write("short", "BZ")), "BZ");
}

TEST(ByteStream, TheHashIsThatOfTheStoredBytes) {
  const ScratchFolder folder;
  const auto packed = compressed(random_text(), "zstd");
  Sha256 hash;
  ByteStream stream(folder.write("a.zst", packed));
  stream.hash_into(hash);
  for (char buffer[1000]; stream.read(buffer, sizeof buffer) > 0;) continue;
  EXPECT_EQ(hash.hex_digest(), sha256(packed));
}

TEST(GzipCompressor, RoundTripsTextInChunks) {
  const ScratchFolder folder;
  Random random(1);
  for (const std::size_t chunk : {1, 1000, 300'000}) {
    GzipCompressor compressor;
    std::string text;
    std::string compressed;
    while (text.size() < 2 * chunk) {
      std::string bytes;
      while (bytes.size() < chunk) bytes += std::to_string(random.next()) + "\n";
      text += bytes;
      compressed += compressor.compress(bytes);
    }
    compressed += compressor.finish();
    std::string read;
    for (const auto& line : read_lines(folder.write("text.gz", compressed))) read += line + "\n";
    EXPECT_EQ(read, text);
  }
}

TEST(GzipCompressor, NoBytesAreAnEmptyText) {
  const ScratchFolder folder;
  EXPECT_TRUE(read_lines(folder.write("text.gz", GzipCompressor().finish())).empty());
}

}  // namespace
}  // namespace regard::byte_stream_test
