#include "translation/ordered_lines.h"

#include <atomic>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

namespace regard {
namespace {

constexpr std::size_t max_bytes_kept = std::size_t{128} << 20;

bool is_cancellation(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const CancelledSearch&) {
    return true;
  } catch (...) {
    return false;
  }
}

class InOrder : public LineStream {
 public:
  InOrder(OrderedLines& lines, std::size_t most_lines) : lines_(lines), most_lines_(most_lines) {}

  bool read(bool few, std::vector<QueuedLine>& lines) override {
    {
      const std::lock_guard lock(mutex_);
      if (error_) return false;
      if (kept_.size() >= most_lines_ || bytes_ >= max_bytes_kept) {
        is_full_ = true;
        return true;
      }
    }
    bool more = true;
    std::exception_ptr error;
    try {
      more = lines_.read(few, lines);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    for (auto& line : lines) {  // also those before an error
      line.index = first_ + kept_.size();
      kept_.emplace_back();
    }
    if (error) keep_error(first_ + kept_.size(), error);
    return more && !error;
  }
  void on_arrival(const std::function<void()>& arrived) override {
    lines_.on_arrival(arrived);
    const std::lock_guard lock(mutex_);
    arrived_ = arrived;
  }

  bool is_wanted(const QueuedLine& line) const override { return line.index < end_; }
  void finish(QueuedLine& line, std::vector<Translation> sentences) override {
    try {
      lines_.finish(line, std::move(sentences));
    } catch (...) {
      return fail(line, std::current_exception());
    }
    std::unique_lock lock(mutex_);
    bytes_ += line.bytes();
    kept_[line.index - first_] = std::move(line);
    write_next(lock);
  }
  void fail(QueuedLine& line, std::exception_ptr error) override {
    if (!is_wanted(line) && is_cancellation(error)) return;  // because of the error of another line
    const std::lock_guard lock(mutex_);
    keep_error(line.index, std::move(error));
  }
  void progress(std::int64_t finished) override { lines_.progress(finished); }
  bool should_join() const override { return false; }  // whole batches take less time

  void throw_error() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  // The error of the first line counts.
  void keep_error(std::size_t line, std::exception_ptr error) {
    if (line >= error_line_) return;
    error_ = std::move(error);
    error_line_ = line;
    end_ = lines_.keeps_lines_before_error() ? line : 0;
    if (arrived_) arrived_();  // read() returns false now
  }

  // If another thread is writing, it writes these lines too.
  void write_next(std::unique_lock<std::mutex>& lock) {
    if (writing_) return;
    writing_ = true;
    for (;;) {
      const auto first = first_;
      std::vector<QueuedLine> next;
      while (!kept_.empty() && kept_.front() && first + next.size() < end_) {
        bytes_ -= kept_.front()->bytes();
        next.push_back(std::move(*kept_.front()));
        kept_.pop_front();
        ++first_;
      }
      if (next.empty()) break;
      lock.unlock();
      std::exception_ptr error;
      try {
        lines_.write(std::move(next));
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      if (error) keep_error(first, error);
      if (std::exchange(is_full_, false) && arrived_) arrived_();
    }
    writing_ = false;
  }

  OrderedLines& lines_;
  std::size_t most_lines_;
  std::mutex mutex_;  // guards all members below
  // The lines that are read and not written, empty until they are finished.
  std::deque<std::optional<QueuedLine>> kept_;
  std::size_t first_ = 0;  // position of the first of them in the input
  std::size_t bytes_ = 0;  // of those that are finished
  bool writing_ = false;
  bool is_full_ = false;  // read() appended nothing
  std::function<void()> arrived_;
  std::exception_ptr error_;
  std::size_t error_line_ = std::numeric_limits<std::size_t>::max();
  // Lines from here on are neither translated nor written.
  std::atomic<std::size_t> end_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace

void translate_in_order(OrderedLines& lines, std::size_t most_lines,
                        const std::function<void(LineStream&)>& translate) {
  InOrder stream(lines, most_lines);
  translate(stream);
  stream.throw_error();
}

}  // namespace regard
