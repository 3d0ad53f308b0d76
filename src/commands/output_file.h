// Output of a command: standard output, or a file that appears only when it is complete.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "data/byte_stream.h"

namespace regard {

// Throws ConfigError with the file's name if an output is also an input or another output, belongs
// to a training run or a model folder, or if "-" (standard input or output) is given twice. Ignores
// empty names.
void check_files(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);
// Throws ConfigError if the output file exists already, because it may have been edited by hand, or
// if its name is reserved in the folder of a run or model. Accepts standard output ("" or "-").
void check_new_file(const std::string& path);
// Returns `path`, or "-" if it is empty: for options that default to standard input or output.
std::string path_or_dash(const std::string& path);

// Replaces `path` when commit() is called, through a FileReplacement. Without commit(), also after
// an error or a signal, an existing file stays as it is. Writes to standard output, pipes and
// devices directly. Compresses if the name ends in .gz. Throws ConfigError for a file of a training
// run or a model folder, EnvironmentError with the system's reason for all other failures.
class OutputFile {
 public:
  // Writes to standard output if `path` is empty or "-".
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  // Passes everything written so far to the system.
  void flush();
  // Completes the output. Call it once, after the last write().
  void commit();

 private:
  void put(std::string_view bytes);  // writes bytes as they are, without compression
  [[noreturn]] void fail() const;

  std::string path_;
  std::optional<FileReplacement> replacement_;  // empty if the output is written directly
  std::FILE* file_;
  std::unique_ptr<GzipCompressor> compressor_;
};

// Writes a text as OutputFile does.
void write_output(const std::string& path, std::string_view text);

}  // namespace regard
