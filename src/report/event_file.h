// Writes event files for TensorBoard: scalars by step and tag, in the format of TensorFlow's
// summary writers. A file is a sequence of TFRecords,
//
//   length (8 bytes), mask(crc(length)), data, mask(crc(data))     all little-endian
//   mask(c) = rotate_right(c, 15) + 0xa282ead8                     crc is CRC-32C (Castagnoli)
//
// and each record's data is a protocol buffer of TensorFlow's event.proto.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/run_logs.h"

namespace regard {

// Returns the checksum CRC-32C.
std::uint32_t crc32c(std::string_view bytes);
// Returns `data` as a TFRecord.
std::string tf_record(std::string_view data);

using Scalars = std::vector<std::pair<std::string, double>>;  // tag, value

// The functions below return serialised Events; wall_time is in seconds since 1970.

// The first event of a file.
std::string version_event(double wall_time);
// Tells readers to ignore the events at `step` and later steps in earlier files.
std::string restart_event(double wall_time, std::int64_t step);
// The values of a step.
std::string scalars_event(double wall_time, std::int64_t step, const Scalars& scalars);

// Writes one session's events to a new file in the run folder. TensorBoard reads files in order of
// name, so the name sorts after those of earlier sessions.
class EventFile {
 public:
  // Without `resume_step`, removes the run's earlier event files. With it, begins with a restart
  // event at resume_step + 1, so that no step counts twice. Throws EnvironmentError if the file
  // cannot be written.
  explicit EventFile(const std::filesystem::path& folder,
                     std::optional<std::int64_t> resume_step = {});

  // Writes one event and flushes it to the operating system. Throws EnvironmentError.
  void add(std::int64_t step, const Scalars& scalars);
  const std::string& path() const { return file_.path(); }

 private:
  LineFile file_;
};

// Returns the files that EventFile wrote into a folder, in order of name.
std::vector<std::filesystem::path> event_files(const std::filesystem::path& folder);

}  // namespace regard
