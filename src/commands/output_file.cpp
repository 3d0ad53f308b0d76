#include "commands/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/owned_files.h"
#include "base/strings.h"
#include "data/text_path.h"

namespace regard {
namespace {

// True if a temporary file can replace the path: it is a regular file, or nothing is there.
bool is_replaceable(const std::string& path) {
  std::error_code ignored;
  return !std::filesystem::exists(path, ignored) || is_file(path);
}

// Returns the open descriptor that a name under /dev or /proc stands for. Opening the name again
// would overwrite the file from its start.
std::optional<int> descriptor_of(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    if (const auto number = parse_number<int>(path.substr(folder.size()))) return number;
  }
  return std::nullopt;
}

// Returns the file that a symbolic link points to, or `path`.
std::string resolve_link(const std::string& path) {
  std::error_code error;
  const auto target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

// Returns a stream that writes to a copy of the descriptor, or null with errno set.
std::FILE* open_copy(int descriptor) {
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  return copy < 0 ? nullptr : ::fdopen(copy, "wb");
}

// Opens something that is no regular file. Says so if that waits for the reader of a pipe.
std::FILE* open_special(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor >= 0) {
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    return ::fdopen(descriptor, "wb");
  }
  if (errno == ENXIO) log::info("{}: waiting for a program that reads this pipe", path);
  return std::fopen(path.c_str(), "wb");
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  if (std::filesystem::equivalent(a, b, ignored)) {
    return is_file(a);  // a terminal may be both
  }
  return std::filesystem::absolute(a).lexically_normal() ==
         std::filesystem::absolute(b).lexically_normal();
}

}  // namespace

void check_files(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  if (std::ranges::count(inputs, "-") > 1) {
    throw ConfigError("-: standard input can be read only once; give files for the other inputs");
  }
  if (std::ranges::count(outputs, "-") > 1) {
    throw ConfigError("-: standard output can have only one output; give files for the others");
  }
  const auto is_named_file = [](const std::string& path) {
    std::error_code ignored;
    return !is_standard_stream(path) && !descriptor_of(path) &&
           !std::filesystem::is_character_file(path, ignored);
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!is_named_file(outputs[i])) continue;
    check_output_path(outputs[i]);
    for (const auto& input : inputs) {
      if (is_named_file(input) && is_same_file(file_of_text(input), outputs[i])) {
        throw ConfigError("{}: is an input and would be overwritten; give the output another name",
                          outputs[i]);
      }
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (is_named_file(outputs[k]) && is_same_file(outputs[k], outputs[i])) {
        throw ConfigError("{}: is given for two outputs; give each its own name", outputs[i]);
      }
    }
  }
}

std::string path_or_dash(const std::string& path) {
  return path.empty() ? "-" : path;
}

OutputFile::OutputFile(const std::string& path) : path_(path), file_(stdout) {
  const auto descriptor = descriptor_of(path);
  if (is_standard_stream(path) || descriptor == STDOUT_FILENO) {
    path_ = "standard output";
    return;
  }
  if (descriptor) {
    file_ = open_copy(*descriptor);
  } else {
    check_output_path(path);
    path_ = resolve_link(path);
    if (is_replaceable(path)) replacement_.emplace(path_);
    file_ = replacement_ ? open_copy(replacement_->descriptor()) : open_special(path);
  }
  if (file_ == nullptr) fail();
  if (path.ends_with(".gz")) compressor_ = std::make_unique<GzipCompressor>();
}

OutputFile::~OutputFile() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

void OutputFile::write(std::string_view bytes) {
  if (compressor_) return put(compressor_->compress(bytes));
  put(bytes);
}

void OutputFile::put(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
}

void OutputFile::flush() {
  if (std::fflush(file_) != 0) fail();
}

void OutputFile::commit() {
  if (compressor_) put(compressor_->finish());
  flush();
  if (file_ == stdout) return;
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail();
  if (replacement_) replacement_->commit();
}

void OutputFile::fail() const {
  throw EnvironmentError("{}: cannot be written ({})", path_, std::strerror(errno));
}

void write_output(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

void check_new_file(const std::string& path) {
  std::error_code ignored;
  if (is_standard_stream(path)) return;
  check_output_path(path);
  if (!std::filesystem::exists(path, ignored)) return;
  throw ConfigError("{}: file exists; give another name with -o", path);
}

}  // namespace regard
