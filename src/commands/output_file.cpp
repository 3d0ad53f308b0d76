#include "commands/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
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

// C strings in atomics, because a signal handler may do little more than read them and call
// unlink().
std::array<std::atomic<char*>, 16> files_to_remove;

extern "C" void remove_all() {
  for (auto& slot : files_to_remove) {
    if (const char* path = slot.load()) ::unlink(path);
  }
}

extern "C" void remove_and_terminate(int signal) {
  remove_all();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// Does not replace handlers: signals may be ignored (nohup) or handled by training.
void install_handlers() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction before = {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_DFL) std::signal(signal, remove_and_terminate);
  }
}

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

std::FILE* open_temporary(const std::string& path, std::string& opened) {
  std::filesystem::path beside;
  const int descriptor = create_temporary(path, beside);
  opened = beside.string();
  return descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb");
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

RemovedOnSignal::RemovedOnSignal(const std::string& path) {
  [[maybe_unused]] static const bool registered = std::at_quick_exit(remove_all) == 0;
  install_handlers();
  char* copy = ::strdup(path.c_str());
  for (std::size_t i = 0; i < files_to_remove.size() && slot_ < 0; ++i) {
    char* none = nullptr;
    if (files_to_remove[i].compare_exchange_strong(none, copy)) slot_ = static_cast<int>(i);
  }
  if (slot_ < 0) std::free(copy);
}

RemovedOnSignal::~RemovedOnSignal() {
  if (slot_ >= 0) std::free(files_to_remove[static_cast<std::size_t>(slot_)].exchange(nullptr));
}

RemovedOnSignal::RemovedOnSignal(RemovedOnSignal&& other) noexcept
    : slot_(std::exchange(other.slot_, -1)) {}

RemovedOnSignal& RemovedOnSignal::operator=(RemovedOnSignal&& other) noexcept {
  std::swap(slot_, other.slot_);
  return *this;
}

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
    path_ = open_path_ = "standard output";
    return;
  }
  if (descriptor) {
    open_path_ = path_ = path;
    const int copy = ::dup(*descriptor);
    file_ = copy < 0 ? nullptr : ::fdopen(copy, "wb");
    if (file_ == nullptr) fail();
    return;
  }
  check_output_path(path);
  open_path_ = path_ = resolve_link(path);
  file_ = is_replaceable(path) ? open_temporary(path_, open_path_) : open_special(path);
  if (file_ == nullptr) fail();
  if (open_path_ != path_) cleanup_ = RemovedOnSignal(open_path_);
  if (path.ends_with(".gz")) compressor_ = std::make_unique<GzipCompressor>();
}

OutputFile::~OutputFile() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
  if (open_path_ != path_) std::remove(open_path_.c_str());
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
  auto* file = std::exchange(file_, nullptr);
  if (std::fclose(file) != 0) fail();
  if (open_path_ == path_) return;
  sync_to_disk(open_path_);
  if (std::rename(open_path_.c_str(), path_.c_str()) != 0) fail();
  open_path_ = path_;
  cleanup_ = {};
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
