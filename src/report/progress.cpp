#include "report/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <utility>
#include <vector>

#include "base/log.h"
#include "report/format.h"

namespace regard {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto redraw_interval = std::chrono::milliseconds(100);

// State of the process's one terminal.
bool drawn = false;  // guarded by log::stderr_mutex()
Clock::time_point last_draw{};

void write_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void erase() {
  if (!drawn) return;
  write_stderr("\r\x1b[K");
  drawn = false;
}

constexpr std::size_t min_bar = 8;
constexpr std::size_t max_bar = 28;
constexpr std::string_view field_gap = "  ";

// A field of the line. In a narrow terminal the fields of the highest rank are left out first.
struct ProgressField {
  std::string name;  // faint, before the value
  std::string value;
  std::string unit;  // faint, after the value
  int rank = 0;

  std::size_t width() const {
    const auto padded = [](const std::string& s) { return s.empty() ? 0 : display_width(s) + 1; };
    return padded(name) + display_width(value) + padded(unit);
  }
  std::string text(const Terminal& terminal) const {
    const std::string_view on = style_on(Style::faint, terminal);
    const std::string_view off = style_off(Style::faint, terminal);
    const std::string before = name.empty() ? "" : fmt::format("{}{}{} ", on, name, off);
    const std::string after = unit.empty() ? "" : fmt::format(" {}{}{}", on, unit, off);
    return before + value + after;
  }
};

// A line of fields with a bar after fields[0, before_bar).
struct ProgressLine {
  std::vector<ProgressField> fields;
  std::size_t before_bar = 0;
  std::optional<double> fraction;
};

std::string with_total(std::int64_t value, std::optional<std::int64_t> total) {
  return total ? fmt::format("{}/{}", format_thousands(value), format_thousands(*total))
               : format_thousands(value);
}

std::optional<double> fraction_done(const TrainingProgress& p) {
  if (p.total_steps && *p.total_steps > 0)
    return static_cast<double>(p.step) / static_cast<double>(*p.total_steps);
  if (p.seconds_left && p.seconds_elapsed + *p.seconds_left > 0.0)
    return p.seconds_elapsed / (p.seconds_elapsed + *p.seconds_left);
  return std::nullopt;
}

ProgressLine progress_fields(const TrainingProgress& p) {
  ProgressLine line{{}, /*before_bar=*/2, fraction_done(p)};
  auto& fields = line.fields;
  fields.push_back({"epoch", with_total(p.epoch, p.total_epochs), "", 3});
  fields.push_back({"step", with_total(p.step, p.total_steps), "", 0});
  fields.push_back({"loss", format_short(p.loss), "", 1});
  fields.push_back({"ppl", format_short(p.perplexity), "", 4});
  if (p.risk) fields.push_back({"risk", format_short(*p.risk), "", 1});
  fields.push_back({"lr", format_rate(p.learning_rate), "", 6});
  fields.push_back({"|g|", format_short(p.gradient_norm), "", 7});
  if (p.source_tokens_per_second > 0) {  // a language model has no source
    fields.push_back({"", format_short(p.source_tokens_per_second), "src tok/s", 9});
  }
  fields.push_back({"", format_short(p.target_tokens_per_second), "trg tok/s", 5});
  if (p.peak_memory_bytes > 0) fields.push_back({"", format_bytes(p.peak_memory_bytes), "", 8});
  if (p.seconds_left)
    fields.push_back({"", format_duration(*p.seconds_left), "left", 2});
  else
    fields.push_back({"", format_duration(p.seconds_elapsed), "elapsed", 2});
  if (p.seconds_to_validation)
    fields.push_back({"validation in", format_duration(*p.seconds_to_validation), "", 6});
  return line;
}

ProgressLine progress_fields(const DecodingProgress& p) {
  ProgressLine line{{}, /*before_bar=*/2, std::nullopt};
  line.fields.push_back({"", p.label, "", 1});
  line.fields.push_back({"", with_total(p.sentences, p.total_sentences), "sentences", 0});
  if (p.total_sentences && *p.total_sentences > 0)
    line.fraction = static_cast<double>(p.sentences) / static_cast<double>(*p.total_sentences);
  const double rate =
      p.seconds_elapsed > 0.0 ? static_cast<double>(p.sentences) / p.seconds_elapsed : 0.0;
  line.fields.push_back({"", format_short(rate), "per second", 3});
  if (line.fraction && rate > 0.0)
    line.fields.push_back(
        {"", format_duration(static_cast<double>(*p.total_sentences - p.sentences) / rate), "left",
         2});
  return line;
}

std::size_t line_width(const ProgressLine& line) {
  std::size_t width = 0;
  for (const ProgressField& field : line.fields) width += field.width() + field_gap.size();
  if (line.fraction)
    width += min_bar + 1 + format_percent(*line.fraction).size() + field_gap.size();
  return width - field_gap.size();
}

// Removes fields from the highest rank down, and the bar before the fields of rank 1, until the
// line fits into `columns`.
void shorten(ProgressLine& line, std::size_t columns) {
  const auto rank = [](const ProgressField& a, const ProgressField& b) { return a.rank < b.rank; };
  while (line_width(line) > columns && line.fields.size() > 1) {
    const auto next = std::max_element(line.fields.begin(), line.fields.end(), rank);
    if (next->rank == 1 && line.fraction) {
      line.fraction.reset();
      continue;
    }
    if (static_cast<std::size_t>(next - line.fields.begin()) < line.before_bar) --line.before_bar;
    line.fields.erase(next);
  }
  if (line_width(line) > columns) line.fraction.reset();
}

std::string draw_line(ProgressLine line, const Terminal& terminal) {
  const std::size_t columns = terminal.columns > 1 ? terminal.columns - 1 : 0;
  shorten(line, columns);
  if (line_width(line) > columns) {
    return truncate_to_width(line.fields.front().text(Terminal{}), columns);
  }
  const std::size_t room = columns - line_width(line);
  std::string text;
  for (std::size_t i = 0; i < line.fields.size(); ++i) {
    if (i > 0) text += field_gap;
    text += line.fields[i].text(terminal);
    if (!line.fraction || i + 1 != line.before_bar) continue;
    const Bar bar = format_bar(*line.fraction, std::min(max_bar, min_bar + room));
    text +=
        fmt::format("{}{}{}{}{}{}{} {}", field_gap, style_on(Style::accent, terminal), bar.done,
                    style_off(Style::accent, terminal), style_on(Style::faint, terminal), bar.rest,
                    style_off(Style::faint, terminal), format_percent(*line.fraction));
  }
  return text;
}

std::string plain_text(const ProgressLine& line) {
  std::string text;
  for (std::size_t i = 0; i < line.fields.size(); ++i) {
    if (i > 0) text += field_gap;
    text += line.fields[i].text(Terminal{});
    if (line.fraction && i + 1 == line.before_bar)
      text += fmt::format(" ({})", format_percent(*line.fraction));
  }
  return text;
}

}  // namespace

Terminal stderr_terminal() {
  auto terminal = terminal_at(STDERR_FILENO);
  if (log::is_quiet()) terminal.live = terminal.color = false;
  return terminal;
}

std::string_view style_on(Style style, const Terminal& terminal) {
  if (!terminal.color) return "";
  switch (style) {
    case Style::plain:
      return "";
    case Style::strong:
      return "\x1b[1m";
    case Style::faint:
      return "\x1b[2m";
    case Style::accent:
      return "\x1b[36m";
  }
  return "";
}

std::string_view style_off(Style style, const Terminal& terminal) {
  return terminal.color && style != Style::plain ? "\x1b[0m" : "";
}

namespace status_line {

bool due() {
  return Clock::now() - last_draw >= redraw_interval;
}

void draw(std::string_view text) {
  log::set_before_line(&erase);
  const std::lock_guard lock(log::stderr_mutex());
  write_stderr(fmt::format("\r{}\x1b[K", text));
  drawn = true;
  last_draw = Clock::now();
}

void clear() {
  const std::lock_guard lock(log::stderr_mutex());
  erase();
}

}  // namespace status_line

std::string format_progress(const TrainingProgress& progress) {
  return plain_text(progress_fields(progress));
}

std::string format_progress(const DecodingProgress& progress) {
  return plain_text(progress_fields(progress));
}

std::string format_progress_line(const TrainingProgress& progress, const Terminal& terminal) {
  return draw_line(progress_fields(progress), terminal);
}

std::string format_progress_line(const DecodingProgress& progress, const Terminal& terminal) {
  return draw_line(progress_fields(progress), terminal);
}

bool ProgressReporter::wants_update() const {
  return status_line::due() && stderr_terminal().live;
}

void ProgressReporter::update(const TrainingProgress& progress) {
  if (!status_line::due()) return;
  const Terminal terminal = stderr_terminal();
  if (terminal.live) status_line::draw(format_progress_line(progress, terminal));
}

void ProgressReporter::report(const TrainingProgress& progress) {
  log::info("{}", format_progress(progress));
}

DecodingReporter::DecodingReporter(std::string label, std::optional<std::int64_t> total,
                                   std::chrono::seconds log_interval)
    : log_interval_(log_interval) {
  progress_.label = std::move(label);
  progress_.total_sentences = total;
}

void DecodingReporter::update(std::int64_t sentences) {
  if (!status_line::due()) return;
  const auto now = Clock::now();
  progress_.sentences = sentences;
  progress_.seconds_elapsed = std::chrono::duration<double>(now - start_).count();
  const Terminal terminal = stderr_terminal();
  if (terminal.live) {
    status_line::draw(format_progress_line(progress_, terminal));
  } else if (now - last_log_ >= log_interval_) {
    log::info("{}", format_progress(progress_));
    last_log_ = now;
  }
}

}  // namespace regard
