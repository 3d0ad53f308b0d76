#include "data/gzip_packer.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "data/line_reader.h"
#include "tests/data/files.h"

namespace regard {
namespace {

TEST(GzipPacker, WhatItPacksInPiecesIsReadBackTheSame) {
  const TestFolder folder;
  Random random(1);
  for (const std::size_t piece : {1, 1000, 300'000}) {
    GzipPacker packer;
    std::string text;
    std::string packed;
    while (text.size() < 2 * piece) {
      std::string bytes;
      while (bytes.size() < piece) bytes += std::to_string(random.next()) + "\n";
      text += bytes;
      packed += packer.pack(bytes);
    }
    packed += packer.finish();
    std::string found;
    for (const auto& line : read_lines(folder.write("text.gz", packed))) found += line + "\n";
    EXPECT_EQ(found, text);
  }
}

TEST(GzipPacker, NothingIsAnEmptyText) {
  const TestFolder folder;
  EXPECT_TRUE(read_lines(folder.write("text.gz", GzipPacker().finish())).empty());
}

}  // namespace
}  // namespace regard
