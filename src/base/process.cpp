#include "base/process.h"

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

#include "base/log.h"
#include "base/version.h"

namespace regard {
namespace {

constexpr std::string_view out_of_memory_message =
    "error: not enough memory; use a smaller batch, or raise the limit (ulimit -v)\n";
constexpr std::string_view unknown_reason_message =
    "error: unexpected: the program stops for a reason that it cannot report; please report this "
    "bug in regard\n";

// Returns the part of a LibTorch message that is for the user. Removes "[enforce fail at
// alloc_cpu.cpp:…] …. DefaultCPUAllocator: " from the start, and the source location and the stack
// trace from the end.
std::string_view without_stack(std::string_view message) {
  constexpr std::string_view allocator = "DefaultCPUAllocator: ";
  constexpr std::size_t max_prefix = 200;  // if found later, the words belong to the message
  const auto at = message.find(allocator);
  if (message.starts_with("[enforce fail") && at < max_prefix) {
    message.remove_prefix(at + allocator.size());
  }
  return message.substr(
      0, std::min(message.find("\nException raised from"), message.find("\nframe #")));
}

// True if the system refused to start a thread.
bool is_thread_refused(const std::exception& error) {
  const auto* refusal = dynamic_cast<const std::system_error*>(&error);
  return refusal != nullptr && (refusal->code() == std::errc::resource_unavailable_try_again ||
                                refusal->code() == std::errc::not_enough_memory);
}

// Writes to standard error without allocating memory, and returns `code`.
ExitCode report(std::string_view message, ExitCode code) noexcept {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message.data(), message.size());
  return code;
}

ExitCode report_current_exception() noexcept {
  const auto thrown = std::current_exception();
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return report(out_of_memory_message, ExitCode::environment);
  } catch (const std::exception& error) {
    try {
      return report_failure(error);
    } catch (const std::exception& second) {
      return report(is_out_of_memory(second) ? out_of_memory_message : unknown_reason_message,
                    ExitCode::environment);
    }
  } catch (...) {
  }
  return report(unknown_reason_message, ExitCode::unexpected);
}

// Ends the program without destructors, which other threads may still need.
[[noreturn]] void end_program() noexcept {
  std::quick_exit(static_cast<int>(report_current_exception()));
}

// Opens /dev/null as this standard descriptor if it is closed. open() takes the lowest free number,
// so the lower descriptors must be open already.
void open_if_closed(int descriptor) {
  if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) return;
  const int unusable = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
  // Without /dev/null: an O_PATH descriptor can be neither read nor written.
  if (::open("/dev/null", unusable) < 0) ::open("/", O_PATH);
}

}  // namespace

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  if (dynamic_cast<const Error*>(&error) != nullptr) return false;
  // LibTorch's CPU allocator has no exception class of its own: only the message tells.
  const std::string_view message = error.what();
  for (const auto* phrase : {"can't allocate memory", "out of memory"}) {
    if (message.find(phrase) != std::string_view::npos) return true;
  }
  return false;
}

ExitCode report_failure(const std::exception& error) {
  if (const auto* known = dynamic_cast<const Error*>(&error)) {
    log::error("{}", error.what());
    return known->code();
  }
  const auto message = without_stack(error.what());
  if (is_out_of_memory(error)) {
    log::error(
        "not enough memory: {}\nUse a smaller training.batch_size or --batch-size, a smaller "
        "data.max_length, or smaller sizes in `model`",
        message);
    return ExitCode::environment;
  }
  if (dynamic_cast<const std::filesystem::filesystem_error*>(&error) != nullptr) {
    log::error("{}", message);
    return ExitCode::environment;
  }
  if (is_thread_refused(error)) {
    log::error(
        "the system cannot start more threads ({}); raise the limit on processes (ulimit -u) or on "
        "memory (ulimit -v), or reduce `threads`",
        message);
    return ExitCode::environment;
  }
  log::error("unexpected: {}\nThis is a bug in regard {}; please report it", message, version());
  return ExitCode::unexpected;
}

void report_uncaught_exceptions() {
  std::set_terminate(end_program);
}

void prepare_process() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    open_if_closed(descriptor);
  }
  std::signal(SIGXFSZ, SIG_IGN);
  report_uncaught_exceptions();
}

void keep_freed_memory() {
#ifdef __GLIBC__
  // Setting either of them stops glibc from raising the other one, which begins at 128 kB.
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // as high as glibc would raise it
  ::mallopt(M_TRIM_THRESHOLD, -1);        // never
#endif
}

std::uint64_t peak_memory() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts in kilobytes
}

}  // namespace regard
