// What training and decoding tell a person who waits: plain lines, and on a terminal one line
// beneath them that rewrites itself. Formatting is pure; only the reporters draw.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "report/status_line.h"

namespace regard {

// The facts of one moment. Loss is per target token, in nats; what is absent is not shown.
struct TrainingProgress {
  std::int64_t step = 0;
  std::optional<std::int64_t> total_steps;
  std::int64_t epoch = 1;
  std::optional<std::int64_t> total_epochs;
  double loss = 0.0;
  double perplexity = 1.0;
  double learning_rate = 0.0;
  double gradient_norm = 0.0;
  double source_tokens_per_second = 0.0;
  double target_tokens_per_second = 0.0;
  std::uint64_t peak_memory_bytes = 0;  // 0: not known
  double seconds_elapsed = 0.0;
  std::optional<double> seconds_left;
  std::optional<double> seconds_to_validation;
};

struct DecodingProgress {
  std::string label;  // what goes on, e.g. "validating"
  std::int64_t sentences = 0;
  std::optional<std::int64_t> total_sentences;
  double seconds_elapsed = 0.0;
};

// "epoch 3  step 1,200/10,000 (12 %)  loss 2.31  ppl 10.1  lr 1.0e-3  |g| 0.800 …": all facts.
std::string format_progress(const TrainingProgress& progress);
// The same for a terminal: with a bar where the end is known, fewer facts where columns are few,
// one column left free. Never longer than the terminal is wide.
std::string format_progress_line(const TrainingProgress& progress, const Terminal& terminal);
std::string format_progress_line(const DecodingProgress& progress, const Terminal& terminal);

// Shows how training stands. The line goes away with the reporter.
class ProgressReporter {
 public:
  ProgressReporter() = default;
  ProgressReporter(const ProgressReporter&) = delete;
  ProgressReporter& operator=(const ProgressReporter&) = delete;
  ~ProgressReporter() { status_line::clear(); }

  // Whether update() would draw now: ask before gathering facts that cost time.
  bool wants_update() const;
  // For every step: redraws the terminal's line, at most ten times a second; elsewhere nothing.
  void update(const TrainingProgress& progress);
  // For every logging interval: one log line with all facts, on a terminal above the one that
  // update() redraws.
  void report(const TrainingProgress& progress);
};

// Counts sentences on a terminal; silent elsewhere. The line goes away with the reporter.
class DecodingReporter {
 public:
  // `total` is absent where the input is a stream.
  DecodingReporter(std::string label, std::optional<std::int64_t> total);
  DecodingReporter(const DecodingReporter&) = delete;
  DecodingReporter& operator=(const DecodingReporter&) = delete;
  ~DecodingReporter() { status_line::clear(); }

  void update(std::int64_t sentences);

 private:
  DecodingProgress progress_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace regard
