#include "report/event_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <system_error>

#include "base/error.h"
#include "base/wire_format.h"

namespace regard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view file_name_prefix = "events.out.tfevents.";  // required by TensorBoard
constexpr std::string_view suffix = ".regard";

constexpr std::array<std::uint32_t, 256> crc_table() {
  constexpr std::uint32_t polynomial = 0x82F63B78;  // Castagnoli's, bits reversed
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    auto crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc % 2 == 1 ? polynomial : 0);
    table[byte] = crc;
  }
  return table;
}

std::uint32_t mask(std::uint32_t crc) {
  return std::rotr(crc, 15) + 0xA282EAD8U;
}

// Returns the fields that all events have. The field numbers of Event: wall_time = 1, step = 2,
// file_version = 3, summary = 5, session_log = 7. A missing step is 0.
std::string event(double wall_time, std::int64_t step) {
  auto bytes = double_field(1, wall_time);
  if (step != 0) bytes += integer_field(2, static_cast<std::uint64_t>(step));
  return bytes;
}

double now() {
  const std::chrono::duration<double> time = std::chrono::system_clock::now().time_since_epoch();
  return time.count();
}

// The seconds since 1970 in a file's name.
std::int64_t time_of(const fs::path& path) {
  const auto name = path.filename().string();
  return std::strtoll(name.c_str() + file_name_prefix.size(), nullptr, 10);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

// Returns the path of a new file, whose name sorts after those of all earlier files: ten digits
// keep the numerical order. Removes the earlier files unless the run is resumed.
std::string prepare_new_file(const fs::path& folder, bool resuming) {
  auto time = static_cast<std::int64_t>(now());
  for (const auto& earlier : event_files(folder)) {
    time = std::max(time, time_of(earlier) + 1);
    std::error_code error;
    if (!resuming && !fs::remove(earlier, error)) {
      throw EnvironmentError("{}: cannot be removed ({})", earlier.string(), error.message());
    }
  }
  return (folder / fmt::format("{}{:010}.{}{}", file_name_prefix, time, host_name(), suffix))
      .string();
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr auto table = crc_table();
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes) {
    crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  }
  return ~crc;
}

std::string tf_record(std::string_view data) {
  const auto length = little_endian(static_cast<std::uint64_t>(data.size()));
  return length + little_endian(mask(crc32c(length))) + std::string(data) +
         little_endian(mask(crc32c(data)));
}

std::string version_event(double wall_time) {
  return event(wall_time, 0) + bytes_field(3, "brain.Event:2");
}

std::string restart_event(double wall_time, std::int64_t step) {
  constexpr std::uint64_t start = 1;  // SessionLog: status = 1
  return event(wall_time, step) + bytes_field(7, integer_field(1, start));
}

std::string scalars_event(double wall_time, std::int64_t step, const Scalars& scalars) {
  std::string summary;  // Summary: value = 1; its Value: tag = 1, simple_value = 2
  for (const auto& [tag, value] : scalars) {
    summary += bytes_field(1, bytes_field(1, tag) + float_field(2, static_cast<float>(value)));
  }
  return event(wall_time, step) + bytes_field(5, summary);
}

EventFile::EventFile(const fs::path& folder, std::optional<std::int64_t> resume_step)
    : file_(prepare_new_file(folder, resume_step.has_value()), LineFile::Mode::create) {
  file_.write(tf_record(version_event(now())));
  if (resume_step) file_.write(tf_record(restart_event(now(), *resume_step + 1)));
}

void EventFile::add(std::int64_t step, const Scalars& scalars) {
  file_.write(tf_record(scalars_event(now(), step, scalars)));
}

std::vector<fs::path> event_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with(file_name_prefix) && name.ends_with(suffix)) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace regard
