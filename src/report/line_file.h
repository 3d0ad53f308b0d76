// A text file that grows by whole lines: what was appended is with the system when append()
// returns, so that a killed process leaves at most its last line torn.
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

  // `create` empties a file that is there. Throws EnvironmentError where it cannot be written.
  LineFile(std::string path, Mode mode);

  // Writes `line` and a newline, and hands them to the system. Throws EnvironmentError, with the
  // system's reason, where that fails (a full disk is noticed here).
  void append(std::string_view line);
  // The same for bytes that are no line.
  void write(std::string_view bytes);
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

// The lines of a file, none where there is no file. A last line without a newline, which a killed
// process leaves, is not among them. Throws EnvironmentError.
std::vector<std::string> read_whole_lines(const std::string& path);

}  // namespace regard
