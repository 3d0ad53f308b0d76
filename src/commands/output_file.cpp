#include "commands/output_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/owned_files.h"

namespace regard {
namespace {

bool takes_a_rename(const std::string& path) {
  std::error_code ignored;
  return !std::filesystem::exists(path, ignored) || is_file(path);
}

// The open descriptor that a name under /dev or /proc stands for: to open it anew would begin its
// file from the beginning.
std::optional<int> descriptor_of(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = 0;
    const auto* end = path.data() + path.size();
    const auto parsed = std::from_chars(path.data() + folder.size(), end, number);
    if (parsed.ec == std::errc() && parsed.ptr == end) return number;
  }
  return std::nullopt;
}

// The file behind a link, where there is one: it is what the bytes are meant for.
std::string target_of(const std::string& path) {
  std::error_code error;
  const auto target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

std::FILE* open_aside(const std::string& path, std::string& written) {
  std::filesystem::path beside;
  const int descriptor = open_beside(path, beside);
  written = beside.string();
  return descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb");
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
    throw ConfigError("-: standard input is one text; give files for the others");
  }
  if (std::ranges::count(outputs, "-") > 1) {
    throw ConfigError("-: two outputs would be mixed on standard output; give one of them a file");
  }
  const auto is_named_file = [](const std::string& path) {
    std::error_code ignored;
    return !is_standard_stream(path) && !descriptor_of(path) &&
           !std::filesystem::is_character_file(path, ignored);
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!is_named_file(outputs[i])) continue;
    refuse_owned_file(outputs[i]);
    for (const auto& input : inputs) {
      if (is_named_file(input) && is_same_file(input, outputs[i])) {
        throw ConfigError("{}: is read and would be written over; give the output another name",
                          outputs[i]);
      }
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (is_named_file(outputs[k]) && is_same_file(outputs[k], outputs[i])) {
        throw ConfigError("{}: is the name of two outputs; give each its own", outputs[i]);
      }
    }
  }
}

std::string standard_unless_given(const std::string& path) {
  return path.empty() ? "-" : path;
}

OutputFile::OutputFile(const std::string& path) : path_(path), file_(stdout) {
  const auto descriptor = descriptor_of(path);
  if (is_standard_stream(path) || descriptor == STDOUT_FILENO) {
    path_ = written_ = "standard output";
    return;
  }
  if (descriptor) {
    written_ = path_ = path;
    const int copy = ::dup(*descriptor);
    file_ = copy < 0 ? nullptr : ::fdopen(copy, "wb");
    if (file_ == nullptr) fail();
    return;
  }
  refuse_owned_file(path);
  written_ = path_ = target_of(path);
  file_ = takes_a_rename(path) ? open_aside(path_, written_) : std::fopen(path.c_str(), "wb");
  if (file_ == nullptr) fail();
  if (written_ != path_) aside_ = UnfinishedFile(written_);
  if (path.ends_with(".gz")) packer_ = std::make_unique<GzipPacker>();
}

OutputFile::~OutputFile() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
  if (written_ != path_) std::remove(written_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  if (packer_) return put(packer_->pack(bytes));
  put(bytes);
}

void OutputFile::put(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
}

void OutputFile::flush() {
  if (std::fflush(file_) != 0) fail();
}

void OutputFile::commit() {
  if (packer_) put(packer_->finish());
  flush();
  if (file_ == stdout) return;
  auto* file = std::exchange(file_, nullptr);
  if (std::fclose(file) != 0) fail();
  if (written_ == path_) return;
  sync_to_disk(written_);
  if (std::rename(written_.c_str(), path_.c_str()) != 0) fail();
  written_ = path_;
  aside_ = {};
}

void OutputFile::fail() const {
  throw EnvironmentError("{}: cannot be written ({})", path_, std::strerror(errno));
}

}  // namespace regard
