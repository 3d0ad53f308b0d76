// Writes pairs of lines to two parallel files in the course of a long computation, and goes on
// after a kill. Of the output OUT:
//
//     OUT.json                     the settings of the computation and its progress
//     OUT.src.part, OUT.trg.part   the pairs so far; bytes after the recorded sizes are not counted
//     OUT.src, OUT.trg             the pairs, when they are complete
//     OUT.lock                     locked by the process that writes
//
// save() flushes both files to the disk and then replaces OUT.json, so that a recorded size is
// never larger than the file. A process that goes on cuts the files to these sizes, and repeats the
// input lines after the last one recorded. finish() renames the files; OUT.json stays as a record
// of how they were made.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/file_lock.h"
#include "base/json.h"

namespace regard {

struct PairProgress {
  std::int64_t lines = 0;  // of the input, whose pairs are all written
  std::int64_t pairs = 0;
  std::uint64_t source_bytes = 0;
  std::uint64_t target_bytes = 0;
  Json counts = Json::object();  // of the caller
};

// Not thread-safe.
class PairJournal {
 public:
  // Begins the output, or goes on where an earlier process stopped. `settings` is a flat JSON
  // object of everything that the pairs depend on. With `fresh`, starts over; complete files of
  // before stay until finish() replaces them. Throws
  // ConfigError if OUT.json belongs to something else or has other settings, or if OUT.src or
  // OUT.trg exist without it; InputError if the files were changed since they were recorded;
  // EnvironmentError if a file cannot be written or another process writes them.
  PairJournal(std::filesystem::path output, Json settings, bool fresh);
  ~PairJournal();
  PairJournal(const PairJournal&) = delete;
  PairJournal& operator=(const PairJournal&) = delete;

  // True if both files are complete: nothing may be added.
  bool is_complete() const { return is_complete_; }
  const PairProgress& progress() const { return progress_; }
  const std::filesystem::path& source_path() const { return source_.path; }
  const std::filesystem::path& target_path() const { return target_.path; }

  // Calls visit(source, target) for each pair that earlier processes wrote, in their order. Call it
  // before the first add().
  void read_pairs(const std::function<void(std::string_view, std::string_view)>& visit) const;
  // Adds a pair of lines, which must have no line break.
  void add(std::string_view source, std::string_view target);
  // Records that all pairs of the next `lines` input lines were added, with the caller's counts.
  // Calls save() after at least a second, so rarely that it takes little of the time.
  void end_lines(std::int64_t lines, Json counts);
  // After this, a kill loses nothing. Throws EnvironmentError.
  void save();
  // Saves, and gives the files their names.
  void finish();

 private:
  struct File {
    std::filesystem::path path;     // when it is complete
    std::filesystem::path partial;  // as long as it is not
    int descriptor = -1;
    std::string waiting = {};  // bytes that are not written yet
  };

  std::filesystem::path with_suffix(const char* suffix) const;
  Json read_state() const;
  void check_settings(const Json& state) const;
  void check_nothing_to_lose(bool has_state, bool fresh) const;
  void write_state() const;
  void open(File& file, std::uint64_t size) const;
  void flush(File& file) const;
  void rename_complete_file(const File& file, std::uint64_t size) const;

  std::filesystem::path output_;
  Json settings_;
  File source_;
  File target_;
  std::unique_ptr<FileLock> lock_;
  PairProgress progress_;
  bool is_complete_ = false;
  std::chrono::steady_clock::time_point last_save_;
  std::chrono::steady_clock::duration save_time_{};  // that the last save() took
};

}  // namespace regard
