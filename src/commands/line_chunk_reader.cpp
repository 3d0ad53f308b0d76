#include "commands/line_chunk_reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "commands/output_file.h"
#include "data/line_reader.h"

namespace regard {
namespace {

bool is_regular_file(const std::string& path) {
  struct stat status {};
  const int failed =
      is_standard_stream(path) ? fstat(STDIN_FILENO, &status) : stat(path.c_str(), &status);
  return failed == 0 && S_ISREG(status.st_mode);
}

}  // namespace

// Limits the memory of the lines read ahead: a few compressed bytes can expand to megabytes.
constexpr std::size_t max_bytes = std::size_t{64} << 20;

// State shared by the reading thread and the caller. Freed when both have released it.
struct LineChunkReader::Shared {
  std::unique_ptr<LineReader> reader;
  std::size_t min_lines = 1;  // next() waits for this many lines
  std::size_t max_lines = 1;
  LineLimit limit;

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> lines;
  std::vector<std::string> warnings;  // logged by the thread that calls next()
  std::size_t bytes = 0;              // size of `lines`
  std::exception_ptr error;
  bool ended = false;
  bool abandoned = false;

  bool is_full() const { return lines.size() >= max_lines || bytes >= max_bytes; }

  void read_all() {
    std::string line;
    while (reader->next(line)) {
      auto warning = cut_long_line(line, limit, reader->name(), reader->line_number());
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return !is_full() || abandoned; });
      if (abandoned) return;
      bytes += line.size() + sizeof line;
      lines.push_back(std::move(line));
      if (warning) warnings.push_back(std::move(*warning));
      changed.notify_all();
    }
    if (!reader->changed()) return;
    const std::lock_guard lock(mutex);
    warnings.push_back(fmt::format("{}: changed while it was read, after {}", reader->name(),
                                   counted(reader->line_number(), "line")));
  }

  void run() {
    std::exception_ptr failure;
    try {
      read_all();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    error = failure;
    ended = true;
    changed.notify_all();
  }
};

LineChunkReader::LineChunkReader(const std::string& path, std::size_t max_lines,
                                 const LineLimit& limit)
    : shared_(new Shared) {
  shared_->reader = std::make_unique<LineReader>(path_or_dash(path), /*may_grow=*/true);
  shared_->limit = limit;
  shared_->max_lines = max_lines;
  shared_->min_lines = is_regular_file(path) ? max_lines : 1;
  // Detached, because a thread that waits for terminal input cannot be interrupted.
  std::thread([shared = shared_] { shared->run(); }).detach();
}

LineChunkReader::~LineChunkReader() {
  const std::lock_guard lock(shared_->mutex);
  shared_->abandoned = true;
  shared_->changed.notify_all();
}

std::vector<std::string> LineChunkReader::next() {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait(lock, [&] {
    return shared_->ended || shared_->is_full() || shared_->lines.size() >= shared_->min_lines;
  });
  auto lines = std::exchange(shared_->lines, {});
  for (const auto& warning : std::exchange(shared_->warnings, {})) log::warning("{}", warning);
  shared_->bytes = 0;
  shared_->changed.notify_all();
  if (lines.empty() && shared_->error) std::rethrow_exception(shared_->error);
  return lines;
}

}  // namespace regard
