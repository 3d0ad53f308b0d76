#include "base/failure.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
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

constexpr std::string_view no_memory_left =
    "error: there is not enough memory; take a smaller batch, or raise the limit (ulimit -v)\n";
constexpr std::string_view no_reason_left =
    "error: unexpected: the program cannot go on, and has no memory left to say why\n";

// LibTorch's messages begin, if an assertion has failed, with its place and its text, and end in
// the place of their making and the stack.
std::string_view without_stack(std::string_view message) {
  constexpr std::string_view allocator = "DefaultCPUAllocator: ";
  if (const auto at = message.find(allocator); message.starts_with("[enforce fail") && at < 200) {
    message.remove_prefix(at + allocator.size());
  }
  return message.substr(
      0, std::min(message.find("\nException raised from"), message.find("\nframe #")));
}

// True for what the system refuses only for now, or to this user.
bool is_refused_thread(const std::exception& error) {
  const auto* refusal = dynamic_cast<const std::system_error*>(&error);
  return refusal != nullptr && (refusal->code() == std::errc::resource_unavailable_try_again ||
                                refusal->code() == std::errc::not_enough_memory);
}

// Returns the size of the process's address space in bytes, 0 if the system does not tell.
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

// Returns true if memory cannot be allocated, or if the limit to it (ulimit -v) is close. An
// exception for which there is no memory ends the program without being the current one.
bool is_memory_exhausted() noexcept {
  constexpr std::size_t little = 1 << 20;
  void* probe = std::malloc(little);
  std::free(probe);
  rlimit limit{};
  return probe == nullptr ||
         (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
          address_space() + 32 * little > limit.rlim_cur);
}

// Needs no memory.
ExitCode say(std::string_view sentence, ExitCode code) noexcept {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, sentence.data(), sentence.size());
  return code;
}

ExitCode report_current_exception() noexcept {
  const auto thrown = std::current_exception();
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return say(no_memory_left, ExitCode::environment);
  } catch (const std::exception& error) {
    try {
      return report_failure(error);
    } catch (const std::exception& second) {
      return say(is_out_of_memory(second) ? no_memory_left : no_reason_left, ExitCode::environment);
    }
  } catch (...) {
  }
  if (is_memory_exhausted()) return say(no_memory_left, ExitCode::environment);
  return say(no_reason_left, ExitCode::unexpected);
}

// The handlers of at_quick_exit() remove unfinished files.
[[noreturn]] void end_program() noexcept {
  std::quick_exit(static_cast<int>(report_current_exception()));
}

}  // namespace

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  if (dynamic_cast<const Error*>(&error) != nullptr) return false;
  // LibTorch's allocator for the processor has no class of error of its own.
  const std::string_view message = error.what();
  for (const auto* phrase : {"can't allocate memory", "out of memory"}) {
    if (message.find(phrase) != std::string_view::npos) return true;
  }
  return false;
}

ExitCode report_failure(const std::exception& error) {
  if (const auto* foreseen = dynamic_cast<const Error*>(&error)) {
    log::error("{}", error.what());
    return foreseen->code();
  }
  const auto message = without_stack(error.what());
  if (is_out_of_memory(error)) {
    log::error(
        "there is not enough memory: {}\nTake a smaller training.batch_size or --batch-size, a "
        "smaller data.max_length, or smaller sizes in `model`",
        message);
    return ExitCode::environment;
  }
  if (dynamic_cast<const std::filesystem::filesystem_error*>(&error) != nullptr) {
    log::error("{}", message);
    return ExitCode::environment;
  }
  if (is_refused_thread(error)) {
    log::error(
        "the system starts no more threads ({}): raise the limit to processes (ulimit -u) or to "
        "memory (ulimit -v), or set threads to fewer",
        message);
    return ExitCode::environment;
  }
  if (is_memory_exhausted()) {
    log::error("there is not enough memory; raise the limit (ulimit -v), or lower threads: {}",
               message);
    return ExitCode::environment;
  }
  log::error("unexpected: {}\nThis is a fault of regard {}; please report it", message, version());
  return ExitCode::unexpected;
}

void report_uncaught_exceptions() {
  std::set_terminate(end_program);
}

}  // namespace regard
