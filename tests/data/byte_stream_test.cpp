#include "data/byte_stream.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "data/line_reader.h"
#include "tests/data/test_folder.h"

namespace regard::byte_stream_test {
namespace {

TEST(GzipCompressor, RoundTripsTextInChunks) {
  const TestFolder folder;
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
  const TestFolder folder;
  EXPECT_TRUE(read_lines(folder.write("text.gz", GzipCompressor().finish())).empty());
}

}  // namespace
}  // namespace regard::byte_stream_test
