#include "report/event_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "base/error.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/report/event_reader.h"

namespace regard::event_file_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Pair;

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

// RFC 3720, B.4, and the usual check value of the CRC catalogue.
TEST(EventFile, ChecksumIsCrc32c) {
  std::string ascending;
  for (char byte = 0; byte < 32; ++byte) ascending += byte;
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  EXPECT_EQ(crc32c(ascending), 0x46DD794EU);
  EXPECT_EQ(crc32c(std::string(ascending.rbegin(), ascending.rend())), 0x113FDB5CU);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(""), 0U);
}

// The bytes that the RecordWriter of TensorBoard 2.21 writes for the same events.
TEST(EventFile, WritesTheSameBytesAsTensorBoard) {
  constexpr double time = 1700000000.25;
  EXPECT_EQ(hex(tf_record(version_event(time))),
            "1800000000000000a37f4b220900001040fc54d9411a0d627261696e2e4576656e743a32338d2fe9");
  EXPECT_EQ(hex(tf_record(restart_event(time, 301))),
            "100000000000000095fbfe180900001040fc54d94110ad023a020801cb79b93b");
  EXPECT_EQ(hex(tf_record(
                scalars_event(time, 300, {{"train/loss", 2.5}, {"train/learning_rate", 0.001}}))),
            "3d000000000000006049f1ec0900001040fc54d94110ac022a2f0a110a0a747261696e2f6c6f7373150000"
            "20400a1a0a13747261696e2f6c6561726e696e675f72617465156f12833ac3bac719");
}

TEST(EventFile, BeginsWithVersionAndStoresScalars) {
  const ScratchFolder folder;
  EventFile file(folder.path());
  file.add(1, {{"loss", 3.5}, {"rate", 1e-4}});
  file.add(1'000'000'000'000, {{"loss", std::numeric_limits<double>::quiet_NaN()}});
  const auto events = read_events(bytes_of(file.path()));
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_GT(events[0].wall_time, 1.7e9);
  EXPECT_EQ(events[1].step, 1);
  EXPECT_THAT(events[1].scalars, ElementsAre(Pair("loss", 3.5F), Pair("rate", 1e-4F)));
  EXPECT_EQ(events[2].step, 1'000'000'000'000);
  EXPECT_TRUE(std::isnan(events[2].scalars.at("loss")));
}

TEST(EventFile, ResumedRunAddsALaterFileWithRestartEvent) {
  const ScratchFolder folder;
  EventFile(folder.path()).add(10, {{"loss", 2}});
  const EventFile second(folder.path(), 5);  // within the same second
  const EventFile third(folder.path(), 7);
  const auto files = event_files(folder.path());
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[1], second.path());
  EXPECT_EQ(files[2], third.path());
  EXPECT_EQ(read_events(bytes_of(files[0])).back().step, 10);
  const auto events = read_events(bytes_of(files[1]));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_TRUE(events[1].restart);
  EXPECT_EQ(events[1].step, 6);
}

TEST(EventFile, NewRunRemovesOnlyItsOwnFiles) {
  const ScratchFolder folder;
  const auto foreign = folder / "events.out.tfevents.1700000000.host.1.0";
  put_bytes(foreign, "somebody else's");
  EventFile(folder.path()).add(1, {{"loss", 1}});
  const EventFile anew(folder.path());
  EXPECT_THAT(event_files(folder.path()), ElementsAre(anew.path()));
  EXPECT_EQ(read_events(bytes_of(anew.path())).size(), 1U);
  EXPECT_EQ(bytes_of(foreign), "somebody else's");
}

TEST(EventFile, MissingFolderIsAnError) {
  const ScratchFolder folder;
  EXPECT_THROW(EventFile(folder / "none"), EnvironmentError);
}

}  // namespace
}  // namespace regard::event_file_test
