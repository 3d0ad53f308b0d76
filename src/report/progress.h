// Shows the progress of training and decoding: log lines and, on a terminal, one status line below
// them. The format functions are pure; only status_line and the reporters write.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/terminal.h"

namespace regard {

// The terminal of stderr; not live with --quiet.
Terminal stderr_terminal();

// Escape sequences that start and end a style; empty without colour.
enum class Style { plain, strong, faint, accent };
std::string_view style_on(Style style, const Terminal& terminal);
std::string_view style_off(Style style, const Terminal& terminal);

// The status line at the bottom of a terminal, redrawn in place. Shared by everything that shows
// progress.
namespace status_line {

// True if a tenth of a second has passed since the last draw.
bool due();
// Replaces the line on stderr. `text` must be shorter than the terminal is wide.
void draw(std::string_view text);
// Clears the line, if there is one. It is also cleared before each log line.
void clear();

}  // namespace status_line

// The loss is per target token, in nats. Values that are not set are not shown.
struct TrainingProgress {
  std::int64_t step = 0;
  std::optional<std::int64_t> total_steps;
  std::int64_t epoch = 1;
  std::optional<std::int64_t> total_epochs;
  double loss = 0.0;
  double perplexity = 1.0;
  std::optional<double> risk;  // minimum risk training: the expected risk of a sentence
  double learning_rate = 0.0;
  double gradient_norm = 0.0;
  double source_tokens_per_second = 0.0;
  double target_tokens_per_second = 0.0;
  std::uint64_t peak_memory_bytes = 0;  // 0: unknown
  double seconds_elapsed = 0.0;
  std::optional<double> seconds_left;
  std::optional<double> seconds_to_validation;
};

struct DecodingProgress {
  std::string label;  // e.g. "validating"
  std::int64_t sentences = 0;
  std::optional<std::int64_t> total_sentences;
  double seconds_elapsed = 0.0;
};

// "epoch 3  step 1,200/10,000 (12 %)  loss 2.31  ppl 10.1  lr 1.0e-3  |g| 0.800 …": all fields.
std::string format_progress(const TrainingProgress& progress);
// "translating  1,200/10,000 sentences (12 %)  40.0 per second  3:40 left"
std::string format_progress(const DecodingProgress& progress);
// Return a line for a terminal, with a bar if the fraction done is known. Omit the least important
// fields if the line would not fit. The last column stays free.
std::string format_progress_line(const TrainingProgress& progress, const Terminal& terminal);
std::string format_progress_line(const DecodingProgress& progress, const Terminal& terminal);

// Shows the progress of training. The destructor clears the status line.
class ProgressReporter {
 public:
  ProgressReporter() = default;
  ProgressReporter(const ProgressReporter&) = delete;
  ProgressReporter& operator=(const ProgressReporter&) = delete;
  ~ProgressReporter() { status_line::clear(); }

  // True if update() would draw now. Call it before computing values that take time.
  bool wants_update() const;
  // Call for every step: redraws the status line, at most ten times a second. Does nothing without
  // a terminal.
  void update(const TrainingProgress& progress);
  // Call for every logging interval: writes a log line with all fields, above the status line.
  void report(const TrainingProgress& progress);
};

// Counts sentences on a terminal, and elsewhere writes a log line once in a while. The destructor
// clears the status line.
class DecodingReporter {
 public:
  // `total` is absent if the input is a stream. `log_interval` is the time between log lines.
  DecodingReporter(std::string label, std::optional<std::int64_t> total,
                   std::chrono::seconds log_interval = std::chrono::minutes(1));
  DecodingReporter(const DecodingReporter&) = delete;
  DecodingReporter& operator=(const DecodingReporter&) = delete;
  ~DecodingReporter() { status_line::clear(); }

  // Call it with the number of finished sentences, as often as it changes: redraws at most ten
  // times a second.
  void update(std::int64_t sentences);

 private:
  using Clock = std::chrono::steady_clock;

  DecodingProgress progress_;
  std::chrono::seconds log_interval_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_log_ = start_;
};

}  // namespace regard
