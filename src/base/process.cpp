#include "base/process.h"

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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
#include "base/mapped_file.h"
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

// Returns the size of the process's address space in bytes, or 0 if it is unknown.
std::uint64_t address_space() noexcept {
  std::array<char, 64> text{};
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const auto read = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  return read <= 0 ? 0
                   : std::strtoull(text.data(), nullptr, 10) *
                         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// True if fewer than `bytes` bytes are left below the limit on memory (ulimit -v). Allocates
// nothing, so that a signal handler can call it.
bool is_limit_nearly_reached(std::uint64_t bytes) noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         address_space() + bytes > limit.rlim_cur;
}

// True if 1 MiB cannot be allocated, or if less than 32 MiB is left below the limit: a larger
// allocation may have failed. Recognizes exhausted memory where no std::bad_alloc says so, for
// example if the exception itself could not be allocated.
bool is_memory_exhausted() noexcept {
  constexpr std::size_t mebibyte = 1 << 20;
  void* probe = std::malloc(mebibyte);
  std::free(probe);
  return probe == nullptr || is_limit_nearly_reached(32 * mebibyte);
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
  if (is_memory_exhausted()) return report(out_of_memory_message, ExitCode::environment);
  return report(unknown_reason_message, ExitCode::unexpected);
}

// Ends the program without destructors, which other threads may still need.
[[noreturn]] void end_program() noexcept {
  std::quick_exit(static_cast<int>(report_current_exception()));
}

// Called when a library ends the program, as libgomp does when it cannot allocate memory.
void report_exit_of_library(int status, void* /*unused*/) {
  if (status != EXIT_FAILURE || !is_memory_exhausted()) return;
  std::quick_exit(static_cast<int>(report(out_of_memory_message, ExitCode::environment)));
}

// Called when the process accesses invalid memory. A mapped file that was cut is named. If the
// limit on memory is nearly reached, that is taken as the cause: the main thread's stack grows
// during calls, so any call can fault, and some libraries use memory that they failed to allocate.
// All other faults end the program by their signal, as without this function.
void report_fault(int signal, siginfo_t* info, void* /*context*/) {
  if (const char* path = signal == SIGBUS ? path_of_mapped(info->si_addr) : nullptr) {
    for (const std::string_view part :
         {std::string_view("error: "), std::string_view(path),
          std::string_view(": was cut while it was read, or its disk cannot be read\n")}) {
      report(part, ExitCode::input);
    }
    std::quick_exit(static_cast<int>(ExitCode::input));
  }
  // The allocation that failed may have been a thread's stack or a buffer of this size.
  constexpr std::uint64_t largest_allocation = 64 << 20;
  if (is_limit_nearly_reached(largest_allocation)) {
    std::quick_exit(static_cast<int>(report(out_of_memory_message, ExitCode::environment)));
  }
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

bool has_default_action(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL;
}

// Makes report_fault() the handler of memory faults. It runs on a separate stack, because the main
// thread's stack may be what could not grow. Does nothing if another library, such as a sanitizer,
// handles these signals already.
void handle_faults() {
  if (!has_default_action(SIGSEGV) || !has_default_action(SIGBUS)) return;
  static std::array<std::byte, 1 << 16> handler_stack;
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  if (::sigaltstack(&stack, nullptr) != 0) return;
  for (const int signal : {SIGSEGV, SIGBUS}) {
    struct sigaction action {};
    action.sa_sigaction = report_fault;
    action.sa_flags = SA_ONSTACK | SA_RESETHAND | SA_SIGINFO;
    ::sigaction(signal, &action, nullptr);
  }
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
  if (is_memory_exhausted()) {
    log::error("not enough memory; raise the limit (ulimit -v), or reduce `threads`: {}", message);
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
  handle_faults();
  report_uncaught_exceptions();
  ::on_exit(report_exit_of_library, nullptr);
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
