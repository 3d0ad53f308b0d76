#include "data/png_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/data/png_bytes.h"

namespace regard::png_file_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class PngFile : public testing::Test {
 protected:
  Image read(const std::string& bytes) const { return read_png(folder_.write("x.png", bytes)); }
  void expect_refused(const std::string& bytes, const std::string& message) const {
    EXPECT_THAT([&] { read(bytes); },
                ThrowsMessage<InputError>(AllOf(HasSubstr("x.png: "), HasSubstr(message))));
  }

  ScratchFolder folder_;
};

TEST_F(PngFile, EveryOpaqueFormBecomesRedGreenAndBlueOf8Bits) {
  const auto rgb = read(png_bytes(2, 1, 8, 2, std::string("\x01\x02\x03\xff\x80\x00", 6)));
  EXPECT_EQ(rgb.width, 2);
  EXPECT_EQ(rgb.height, 1);
  EXPECT_THAT(rgb.rgb, ElementsAre(1, 2, 3, 255, 128, 0));
  EXPECT_THAT(read(png_bytes(2, 1, 8, 0, "\x07\xf0")).rgb, ElementsAre(7, 7, 7, 240, 240, 240));
  EXPECT_THAT(read(png_bytes(2, 1, 1, 0, "\x40")).rgb, ElementsAre(0, 0, 0, 255, 255, 255));
  const auto palette = png_chunk("PLTE", "\x0a\x14\x1e\x28\x32\x3c");
  EXPECT_THAT(read(png_bytes(2, 1, 8, 3, std::string("\x01\x00", 2), palette)).rgb,
              ElementsAre(40, 50, 60, 10, 20, 30));
  // 16 bits of the same brightness.
  EXPECT_THAT(read(png_bytes(1, 1, 16, 2, "\x80\x80\x07\x07\xf0\xf0")).rgb,
              ElementsAre(128, 7, 240));
}

TEST_F(PngFile, OtherFilesAreRefusedWithAReason) {
  expect_refused("text", "found no PNG file");
  expect_refused("", "found no PNG file");
  expect_refused(png_bytes(1, 1, 8, 6, "\x01\x02\x03\x80"), "transparent pixels");
  expect_refused(png_bytes(1, 1, 8, 4, "\x01\x80"), "transparent pixels");
  expect_refused(png_bytes(10'000, 10'000, 8, 2, ""), "found 10000 x 10000 pixels");
  expect_refused(png_bytes(0, 1, 8, 2, ""), "damaged");
  expect_refused(png_bytes(2, 2, 8, 2, "abcdef"), "damaged");  // half of the pixels
  EXPECT_THAT([&] { read_png(folder_.path("missing.png")); },
              ThrowsMessage<InputError>(HasSubstr("missing.png")));
}

TEST_F(PngFile, AFileThatEndsTooEarlyOrHasOtherPixelsIsRefused) {
  const auto bytes = png_of(6, 5);
  const auto image = read(bytes);
  // The last chunk, of 12 bytes, has no pixels.
  for (std::size_t size = 0; size < bytes.size() - 12; ++size) {
    EXPECT_THROW(read(bytes.substr(0, size)), InputError) << size;
  }
  const auto pixels = bytes.find("IDAT") + 4;
  for (std::size_t at = pixels; at < bytes.size() - 12; ++at) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_THROW(read(damaged), InputError) << at;
  }
}

}  // namespace
}  // namespace regard::png_file_test
