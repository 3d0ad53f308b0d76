// The event files that TensorBoard reads: scalars by step and tag, as TensorFlow's summary writers
// leave them. A file is a row of TFRecords,
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

#include "report/line_file.h"

namespace regard {

std::uint32_t crc32c(std::string_view bytes);
// With its lengths and checksums around it.
std::string tf_record(std::string_view data);

using Scalars = std::vector<std::pair<std::string, double>>;  // tag, value

// Serialised Events; wall_time is in seconds since 1970.
std::string version_event(double wall_time);
// Tells a reader to forget what earlier files say of this step and later ones.
std::string restart_event(double wall_time, std::int64_t step);
std::string scalars_event(double wall_time, std::int64_t step, const Scalars& scalars);

// One sitting's events, in a new file of the run folder that sorts behind those of earlier
// sittings: TensorBoard reads them in the order of their names.
class EventFile {
 public:
  // With `resume_step` opens by a restart behind it, so that no step counts twice. Throws
  // EnvironmentError where the file cannot be written.
  explicit EventFile(const std::filesystem::path& folder,
                     std::optional<std::int64_t> resume_step = {});

  // With the system when it returns.
  void add(std::int64_t step, const Scalars& scalars);
  const std::string& path() const { return file_.path(); }

 private:
  LineFile file_;
};

// The files that EventFile has written into a folder, in the order of their names.
std::vector<std::filesystem::path> event_files(const std::filesystem::path& folder);

}  // namespace regard
