// Where a command writes: standard output, or a file that appears only when it is complete.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "commands/unfinished_files.h"
#include "data/gzip_packer.h"

namespace regard {

// Throws ConfigError with the file's name if an output is an input or another output, or belongs to
// a training run or a model folder, or if "-", standard input or output, is given twice. Ignores
// empty names.
void check_files(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);
// What check_files() is told of an option that is standard input or output unless it is given.
std::string standard_unless_given(const std::string& path);

// A file is written aside, under a new name beside its own, and takes its place by commit(), with
// the permissions of what was there; that stands until then, and for good when commit() is never
// reached, be it for an error or a signal: nothing is left aside. Standard output,
// pipes and devices get their bytes as they come. A name in .gz gets them packed. Throws
// ConfigError for a file of a training run or a model folder, EnvironmentError with the system's
// reason for everything else.
class OutputFile {
 public:
  // Standard output when `path` is empty or "-".
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  // Hands everything so far to the system.
  void flush();
  void commit();

 private:
  void put(std::string_view bytes);
  [[noreturn]] void fail() const;

  std::string path_;
  std::string written_;  // the path that is open; path_ itself where nothing is renamed
  UnfinishedFile aside_;
  std::FILE* file_;
  std::unique_ptr<GzipPacker> packer_;
};

}  // namespace regard
