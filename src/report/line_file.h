// A text file that is written by whole lines. append() flushes each line to the system, so that a
// killed process leaves at most its last line torn.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

class LineFile {
 public:
  enum class Mode { create, append };

  // `create` empties an existing file. Throws EnvironmentError if the file cannot be written.
  LineFile(std::string path, Mode mode);

  // Writes `line` and a newline, and flushes them. Throws EnvironmentError with the system's reason
  // on failure, e.g. a full disk.
  void append(std::string_view line);
  // The same for bytes, without a newline.
  void write(std::string_view bytes);
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

// Returns the lines of a file, none if there is no file. Omits a last line without a newline, which
// a killed process leaves. Throws EnvironmentError.
std::vector<std::string> read_whole_lines(const std::string& path);

}  // namespace regard
