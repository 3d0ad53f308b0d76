#include "commands/translate/line_translator.h"

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
#include "data/byte_stream.h"
#include "data/line_reader.h"
#include "translation/long_lines.h"

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
  std::size_t min_lines = 1;  // take(few) returns at least this many lines before the end
  std::size_t max_lines = 1;
  LineLimit limit;

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> lines;
  std::vector<std::string> warnings;  // logged by the thread that calls take()
  std::size_t bytes = 0;              // size of `lines`
  std::exception_ptr error;
  std::function<void()> arrived;
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
      if (arrived && (lines.size() == min_lines || is_full())) arrived();
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
    if (arrived) arrived();
  }
};

LineChunkReader::LineChunkReader(const std::string& path, std::size_t max_lines,
                                 const LineLimit& limit, SourceKind source)
    : shared_(new Shared) {
  shared_->reader = std::make_unique<LineReader>(path_or_dash(path), source, /*may_grow=*/true);
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

void LineChunkReader::on_arrival(std::function<void()> arrived) {
  const std::lock_guard lock(shared_->mutex);
  shared_->arrived = std::move(arrived);
}

bool LineChunkReader::at_end() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->ended && !shared_->error && shared_->lines.empty();
}

std::vector<std::string> LineChunkReader::take(bool few) {
  const std::lock_guard lock(shared_->mutex);
  const bool enough = few && shared_->lines.size() >= shared_->min_lines;
  if (!shared_->ended && !shared_->is_full() && !enough) return {};
  auto lines = std::exchange(shared_->lines, {});
  for (const auto& warning : std::exchange(shared_->warnings, {})) log::warning("{}", warning);
  shared_->bytes = 0;
  shared_->changed.notify_all();
  if (lines.empty() && shared_->error) std::rethrow_exception(shared_->error);
  return lines;
}

void TranslationWarnings::add(const Translation& translation) {
  if (translation.hypotheses.empty()) return;
  ++sentences_;
  too_long_ += translation.source_length > max_source_length(options_.data);
  cut_off_ += !translation.hypotheses[0].finished;
}

void TranslationWarnings::log() const {
  if (too_long_ > 0) {
    const bool is_text = options_.data.source == SourceKind::text;
    log::warning("{} of {} are longer than any training sentence ({}, {})", too_long_.load(),
                 counted(sentences_.load(), "sentence"),
                 is_text ? "data.max_length" : "data.max_frames",
                 counted(max_source_length(options_.data), is_text ? "token" : "frame"));
  }
  if (cut_off_ > 0) {
    log::warning(
        "{} of {} were cut off at the maximum length (--max-output-length, --max-output-ratio)",
        cut_off_.load(), counted(sentences_.load(), "translation"));
  }
}

LineTranslator::LineTranslator(const std::string& input, std::int64_t split_length,
                               std::optional<UnknownWords> unknown_words, const LoadedModel& model,
                               const Translator& translator)
    : translator_(translator),
      codec_(model.contents.codec),
      split_length_(split_length),
      user_symbols_(model.contents.options.data.tokenizer.user_symbols),
      limit_(source_line_limit(codec_, model.contents.options.data)),
      input_(input_name(path_or_dash(input))),
      unknown_words_(std::move(unknown_words)),
      kind_(model.contents.options.data.tokenizer.kind),
      warnings_(model.contents.options) {}

std::vector<std::string> LineTranslator::split(const std::string& line, std::int64_t number) const {
  if (split_length_ == 0) return {};
  auto parts = split_line(line, split_length_, user_symbols_);
  for (auto& part : parts) {
    const auto warning = cut_long_line(part, limit_, input_, number);
    if (warning) log::warning("{}", *warning);
  }
  return parts;
}

Translation LineTranslator::join(std::vector<Translation> parts) {
  for (auto& part : parts) {
    warnings_.add(part);
    if (unknown_words_) unknown_words_->replace(codec_, part);
  }
  const bool is_split = parts.size() > 1;
  auto line =
      is_split ? join_translations(parts, codec_.target->size(), kind_) : std::move(parts.front());
  if ((is_split || unknown_words_) && !line.hypotheses.empty()) {
    line.text = translator_.text(line.hypotheses[0], line);
  }
  return line;
}

}  // namespace regard
