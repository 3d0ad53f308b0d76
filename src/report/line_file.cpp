#include "report/line_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace regard {
namespace {

[[noreturn]] void fail_writing(const std::string& path) {
  throw EnvironmentError("{}: cannot write ({}); check the free space and the permissions", path,
                         std::strerror(errno));
}

}  // namespace

LineFile::LineFile(std::string path, Mode mode)
    : path_(std::move(path)), file_(std::fopen(path_.c_str(), mode == Mode::create ? "w" : "a")) {
  if (!file_) fail_writing(path_);
}

void LineFile::append(std::string_view line) {
  write(std::string(line) + "\n");
}

void LineFile::write(std::string_view bytes) {
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size();
  if (!written || std::fflush(file_.get()) != 0) fail_writing(path_);
}

std::vector<std::string> read_whole_lines(const std::string& path) {
  if (!std::filesystem::exists(path)) return {};
  const std::string text = read_file<EnvironmentError>(path, "record of the run");
  std::vector<std::string> lines;
  std::size_t start = 0;
  for (std::size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
    lines.push_back(text.substr(start, end - start));
  return lines;
}

}  // namespace regard
