#include "translation/translation_queue.h"

#include <algorithm>

namespace regard {
namespace {

constexpr std::size_t sentences_per_block = 64;  // tokenized at once
constexpr std::size_t max_bytes_in_flight = std::size_t{128} << 20;

std::size_t bytes_of(const std::vector<QueuedLine>& lines) {
  std::size_t bytes = 0;
  for (const auto& line : lines) bytes += sizeof line + line.text.size();
  return bytes;
}

// Puts each line into the queue as one sentence, or as its parts.
std::vector<QueuedSentence> sentences_of(const std::vector<QueuedLine>& lines) {
  std::vector<QueuedSentence> sentences;
  sentences.reserve(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto add = [&](const std::string& text) {
      sentences.push_back({.text = &text, .options = &lines[i].options, .line = i});
    };
    if (lines[i].parts.empty()) add(lines[i].text);
    for (const auto& part : lines[i].parts) add(part);
  }
  return sentences;
}

}  // namespace

std::size_t TranslationQueue::window_lines(std::size_t batch_size, std::size_t threads) {
  return batch_size * std::max<std::size_t>(16, 4 * threads);
}

TranslationQueue::TranslationQueue(LineStream& stream, Encode encode, Search search,
                                   std::size_t batch_size, ThreadPool& pool)
    : stream_(stream),
      encode_(std::move(encode)),
      search_(std::move(search)),
      batch_size_(batch_size),
      pool_(pool) {}

void TranslationQueue::run() {
  struct Arrivals {
    LineStream& stream;
    ~Arrivals() { stream.on_arrival({}); }
  };
  const Arrivals guard{stream_};
  stream_.on_arrival([this] { arrived(); });
  pool_.run([this](std::size_t) { work(); });
  if (error_) std::rethrow_exception(error_);
}

void TranslationQueue::work() {
  Lock lock(mutex_);
  try {
    while (!is_finished()) {
      if (encode_next(lock) || read_next(lock, /*few=*/false) || search_next(lock) ||
          read_next(lock, /*few=*/true)) {
        continue;
      }
      changed_.wait(lock);
    }
  } catch (...) {  // of the queue itself: not enough memory
    if (!lock.owns_lock()) lock.lock();
    fail(0, std::current_exception());
    aborted_ = true;
  }
  changed_.notify_all();
}

bool TranslationQueue::is_finished() const {
  if (aborted_) return true;
  const bool encoded = std::ranges::all_of(
      windows_, [](const auto& window) { return window.encoded == window.sentences.size(); });
  return ended_ && active_threads_ == 0 && encoded &&
         written_lines_ >= std::min(read_lines_, end_line_);
}

// Returns the exception of the job.
std::exception_ptr TranslationQueue::run_unlocked(Lock& lock, const std::function<void()>& job) {
  std::exception_ptr error;
  ++active_threads_;
  lock.unlock();
  try {
    job();
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  --active_threads_;
  return error;
}

// Keeps the error of the first line.
void TranslationQueue::fail(std::size_t line, std::exception_ptr error) {
  ended_ = true;
  if (line >= error_line_) return;
  error_ = std::move(error);
  error_line_ = line;
  end_line_ = stream_.keeps_lines_before_error() ? line : 0;
}

void TranslationQueue::arrived() {
  const std::lock_guard lock(mutex_);
  ++arrivals_;
  changed_.notify_all();
}

bool TranslationQueue::read_next(Lock& lock, bool few) {
  const auto lines_in_flight = read_lines_ - written_lines_;
  if (ended_ || reading_ || bytes_in_flight_ >= max_bytes_in_flight ||
      lines_in_flight >= 2 * window_lines(batch_size_, pool_.count())) {
    return false;
  }
  auto& arrivals_at_read = few ? arrivals_at_few_read_ : arrivals_at_full_read_;
  if (arrivals_at_read == arrivals_) return false;
  arrivals_at_read = arrivals_;
  reading_ = true;
  Window window;
  bool more = true;
  const auto error = run_unlocked(lock, [&] { more = stream_.read(few, window.lines); });
  reading_ = false;
  if (!window.lines.empty()) {  // also the lines before an error
    window.sentences = sentences_of(window.lines);
    add_window(std::move(window));
  }
  if (!more) ended_ = true;
  if (error) fail(read_lines_, error);
  changed_.notify_all();
  return true;
}

void TranslationQueue::add_window(Window window) {
  ++arrivals_;  // there may be more lines
  window.first_line = read_lines_;
  window.finished.resize(window.lines.size());
  window.unfinished_sentences.resize(window.lines.size());
  for (const auto& sentence : window.sentences) ++window.unfinished_sentences[sentence.line];
  read_lines_ += window.lines.size();
  bytes_in_flight_ += bytes_of(window.lines);
  windows_.push_back(std::move(window));
}

TranslationQueue::Window* TranslationQueue::window_to_encode() {
  const auto found = std::ranges::find_if(
      windows_, [](const auto& window) { return window.next_to_encode < window.sentences.size(); });
  return found == windows_.end() ? nullptr : &*found;
}

bool TranslationQueue::encode_next(Lock& lock) {
  auto* window = window_to_encode();
  if (window == nullptr) return false;
  const auto begin = window->next_to_encode;
  const auto end = std::min(begin + sentences_per_block, window->sentences.size());
  window->next_to_encode = end;
  std::size_t i = begin;
  const auto error = run_unlocked(lock, [&] {
    for (; i < end; ++i) encode_(window->sentences[i]);
  });
  if (error) fail(window->first_line + window->sentences[i].line, error);
  window->encoded += end - begin;
  if (window->encoded == window->sentences.size()) sort_by_length(*window);
  std::vector<QueuedSentence*> blank;
  for (auto k = begin; k < i; ++k) {
    auto& sentence = window->sentences[k];
    if (sentence.source.length() == 0) blank.push_back(&sentence);
  }
  finish(lock, *window, blank);
  changed_.notify_all();
  return true;
}

void TranslationQueue::sort_by_length(Window& window) {
  for (auto& sentence : window.sentences) {
    if (sentence.source.length() == 0) continue;
    window.order.push_back(&sentence);
    queued_tokens_ += sentence.source.length();
  }
  std::ranges::stable_sort(window.order, std::ranges::greater{},
                           [](const auto* sentence) { return sentence->source.length(); });
}

// Returns the number of source tokens of the next batch, if batch_size sentences have more. A
// fraction of the tokens that are left, so that the last batches are small and the threads end at
// about the same time.
std::size_t TranslationQueue::batch_tokens() const {
  const auto threads = pool_.count();
  return threads == 1 ? queued_tokens_ : queued_tokens_ / (2 * threads);
}

std::pair<TranslationQueue::Window*, std::vector<QueuedSentence*>> TranslationQueue::next_batch() {
  const auto max_tokens = batch_tokens();
  for (auto& window : windows_) {
    std::vector<QueuedSentence*> batch;
    std::size_t tokens = 0;
    while (window.next_to_search < window.order.size() && batch.size() < batch_size_ &&
           (batch.empty() || tokens < max_tokens)) {
      auto* sentence = window.order[window.next_to_search++];
      queued_tokens_ -= sentence->source.length();
      if (window.first_line + sentence->line >= end_line_) continue;
      tokens += sentence->source.length();
      batch.push_back(sentence);
    }
    if (!batch.empty()) return {&window, std::move(batch)};
  }
  return {};
}

bool TranslationQueue::search_next(Lock& lock) {
  const auto next = next_batch();
  auto& [window, batch] = next;
  if (batch.empty()) return false;
  const auto error = run_unlocked(lock, [this, &sentences = next.second] { search_(sentences); });
  if (error) {
    const auto by_line = [](const auto* sentence) { return sentence->line; };
    fail(window->first_line + std::ranges::min(batch, {}, by_line)->line, error);
  } else {
    finish(lock, *window, batch);
  }
  changed_.notify_all();
  return true;
}

// Finishes the lines whose last sentences are these.
void TranslationQueue::finish(Lock& lock, Window& window,
                              const std::vector<QueuedSentence*>& sentences) {
  std::vector<std::size_t> lines;
  for (const auto* sentence : sentences) {
    if (--window.unfinished_sentences[sentence->line] == 0) lines.push_back(sentence->line);
  }
  if (lines.empty()) return;
  std::size_t i = 0;
  auto error = run_unlocked(lock, [&] {
    for (; i < lines.size(); ++i) {
      const auto line = lines[i];
      const auto parts =
          std::ranges::equal_range(window.sentences, line, {}, &QueuedSentence::line);
      std::vector<Translation> translations;
      for (auto& part : parts) translations.push_back(std::move(part.translation));
      stream_.finish(window.lines[line], std::move(translations));
    }
  });
  if (error) fail(window.first_line + lines[i], error);
  lines.resize(i);
  for (const auto line : lines) window.finished[line] = 1;
  finished_lines_ += lines.size();
  report_progress(lock);
  write_finished_lines(lock);
}

// If another thread is writing, it writes these lines too.
void TranslationQueue::write_finished_lines(Lock& lock) {
  if (writing_) return;
  writing_ = true;
  while (!windows_.empty()) {
    auto& window = windows_.front();
    const auto first = window.written;
    std::vector<QueuedLine> lines;
    for (auto& i = window.written;
         i < window.lines.size() && window.finished[i] == 1 && window.first_line + i < end_line_;
         ++i) {
      lines.push_back(std::move(window.lines[i]));
    }
    if (lines.empty()) break;
    const auto count = lines.size();
    const auto bytes = bytes_of(lines);
    const auto error = run_unlocked(lock, [&] { stream_.write(std::move(lines)); });
    if (error) fail(window.first_line + first, error);
    written_lines_ += count;
    bytes_in_flight_ -= bytes;
    if (window.written == window.lines.size()) windows_.pop_front();
  }
  writing_ = false;
}

void TranslationQueue::report_progress(Lock& lock) {
  if (reporting_) return;
  reporting_ = true;
  while (reported_lines_ < finished_lines_) {
    reported_lines_ = finished_lines_;
    const auto finished = static_cast<std::int64_t>(reported_lines_);
    const auto error = run_unlocked(lock, [&] { stream_.progress(finished); });
    if (error) fail(written_lines_, error);
  }
  reporting_ = false;
}

}  // namespace regard
