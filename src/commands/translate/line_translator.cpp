#include "commands/translate/line_translator.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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
#include "data/text_path.h"
#include "text/unicode.h"

namespace regard {
namespace {

bool is_regular_file(const std::string& path) {
  struct stat status {};
  const int failed = is_standard_stream(path) ? fstat(STDIN_FILENO, &status)
                                              : stat(file_of_text(path).c_str(), &status);
  return failed == 0 && S_ISREG(status.st_mode);
}

std::string others(std::int64_t count) {
  return count > 1 ? fmt::format(" (and {} more)", counted(count - 1, "sentence")) : "";
}

}  // namespace

// Limits the memory of the lines read ahead: a few compressed bytes can expand to megabytes.
constexpr std::size_t max_bytes = std::size_t{64} << 20;

// State shared by the reading thread and the caller. Freed when both have released it.
struct LineChunkReader::Shared {
  std::unique_ptr<SegmentReader> reader;
  std::size_t min_lines = 1;  // take(few) returns at least this many lines before the end
  std::size_t max_lines = 1;
  LineLimit limit;

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Segment> lines;
  std::vector<std::string> warnings;  // logged by the thread that calls take()
  std::size_t bytes = 0;              // size of `lines`
  std::exception_ptr error;
  std::function<void()> arrived;
  bool ended = false;
  bool abandoned = false;

  bool is_full() const { return lines.size() >= max_lines || bytes >= max_bytes; }

  void read_all() {
    Segment segment;
    while (reader->next(segment)) {
      auto& [text, marks, is_html] = segment.line;
      auto warning = cut_long_line(text, limit, reader->name(), segment.number);
      for (auto& mark : marks) mark.at = std::min(mark.at, text.size());
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return !is_full() || abandoned; });
      if (abandoned) return;
      bytes += segment.bytes();
      lines.push_back(std::move(segment));
      if (warning) warnings.push_back(std::move(*warning));
      if (arrived && (lines.size() == min_lines || is_full())) arrived();
    }
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

LineChunkReader::LineChunkReader(const std::string& path, std::size_t max_lines)
    : LineChunkReader(std::make_unique<SegmentReader>(path_or_dash(path)), path, max_lines, {}) {}

LineChunkReader::LineChunkReader(std::unique_ptr<SegmentReader> reader, const std::string& path,
                                 std::size_t max_lines, const LineLimit& limit)
    : shared_(new Shared) {
  shared_->reader = std::move(reader);
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

std::vector<Segment> LineChunkReader::take(bool few) {
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

void TranslationWarnings::Fault::add(std::int64_t number, const Translation& translation) {
  ++count;
  if (line > 0 && line <= number) return;
  line = number;
  source = translation.source_length;
  target = std::ssize(translation.hypotheses[0].tokens);
}

void TranslationWarnings::add(const Translation& translation, std::int64_t number) {
  if (translation.hypotheses.empty()) return;
  ++sentences_;
  const auto source = translation.source_length;
  tokens_ += source;
  if (!translation.unknown_words.empty()) {
    unknown_ += std::ssize(translation.unknown_words);
    const std::lock_guard lock(mutex_);
    if (first_unknown_.first == 0 || number < first_unknown_.first) {
      first_unknown_ = {number, translation.unknown_words.front()};
    }
  }
  const bool is_too_long = source > max_source_length(options_.data);
  too_long_ += is_too_long;
  const auto& best = translation.hypotheses[0];
  cut_off_ += !best.finished;
  if (codec_.lengths.long_source == 0) return;
  // Twice as far from the training text as almost all of it.
  constexpr std::int64_t few_tokens = 8;
  const bool is_long = source > 2 * codec_.lengths.long_source && !is_too_long;
  const bool is_short = source >= few_tokens && best.finished &&
                        static_cast<double>(best.tokens.size()) <
                            0.5 * codec_.lengths.low_ratio * static_cast<double>(source);
  if (!is_long && !is_short) return;
  const std::lock_guard lock(mutex_);
  if (is_long) unusually_long_.add(number, translation);
  if (is_short) short_.add(number, translation);
}

// Some unknown words are usual, for a vocabulary of words.
void TranslationWarnings::log_unknown_words() const {
  constexpr double usual = 0.02;
  const auto share =
      static_cast<double>(unknown_) / static_cast<double>(std::max<std::int64_t>(tokens_, 1));
  if (share < usual) return;
  const auto& [line, word] = first_unknown_;
  const auto known = word.substr(0, word.find_last_not_of(".,;:!?\"')") + 1);
  const bool lacks_space = !known.empty() && known != word &&
                           std::ranges::count(codec_.source->encode(known), unk_id) == 0;
  log::warning("{} of {} ({:.0f} %) {} not in the model's vocabulary, the first `{}` ({}:{}){}",
               unknown_.load(), counted(tokens_.load(), "token"), 100 * share,
               unknown_ == 1 ? "is" : "are", excerpt(word), input_, line,
               lacks_space ? fmt::format("; `{}` is: the training text has a space before the mark",
                                         excerpt(known))
                           : "");
}

void TranslationWarnings::log() const {
  log_unknown_words();
  if (too_long_ > 0) {
    const bool is_text = options_.data.source == SourceKind::text;
    log::warning("{} of {} {} longer than any training sentence ({}, {})", too_long_.load(),
                 counted(sentences_.load(), "sentence"), too_long_ == 1 ? "is" : "are",
                 is_text ? "data.max_length" : "data.max_frames",
                 counted(max_source_length(options_.data), is_text ? "token" : "frame"));
  }
  const auto& is_long = unusually_long_;
  if (is_long.count > 0) {
    log::warning(
        "{}:{}: found {} in a sentence, but 99 of 100 training lines have at most {}; the model "
        "may leave out parts of it{}",
        input_, is_long.line, counted(is_long.source, "token"), codec_.lengths.long_source,
        others(is_long.count));
  }
  if (short_.count > 0) {
    log::warning(
        "{}:{}: the translation has {}, much fewer than training lines lead one to expect of {} "
        "in the source; something may be missing{}",
        input_, short_.line, counted(short_.target, "token"), short_.source, others(short_.count));
  }
  if (cut_off_ > 0) {
    log::warning(
        "{} of {} {} cut off at the maximum length (--max-output-length, --max-output-ratio)",
        cut_off_.load(), counted(sentences_.load(), "translation"), cut_off_ == 1 ? "was" : "were");
  }
}

LineTranslator::LineTranslator(const std::string& input, std::optional<std::int64_t> max_words,
                               std::optional<UnknownWords> unknown_words, const LoadedModel& model,
                               const Translator& translator, const FrontEnd& front_end)
    : translator_(translator),
      codec_(model.contents.codec),
      front_end_(front_end),
      max_words_(max_words),
      input_(input_name(path_or_dash(input))),
      unknown_words_(std::move(unknown_words)),
      kind_(model.contents.options.data.tokenizer.kind),
      warnings_(input_, model.contents.options, codec_) {}

std::vector<std::string> LineTranslator::split(const std::string& line, std::int64_t number) const {
  if (!max_words_) return {};
  auto parts = front_end_.split(line, *max_words_);
  for (auto& part : parts) truncate_line(part, front_end_.limit(), input_, number);
  return parts;
}

Translation LineTranslator::join(std::vector<Translation> parts, std::int64_t number,
                                 const Segment* segment) {
  for (auto& part : parts) {
    warnings_.add(part, number);
    if (unknown_words_) unknown_words_->replace(codec_, part);
  }
  const bool is_split = parts.size() > 1;
  auto line = front_end_.join(std::move(parts), codec_);
  if ((is_split || unknown_words_) && !line.hypotheses.empty()) {
    line.text = translator_.text(line.hypotheses[0], line);
  }
  if (segment != nullptr) line.text = translator_.marked_text(segment->line, line, kind_);
  return line;
}

}  // namespace regard
