#include "translation/translation_queue.h"

#include <algorithm>
#include <map>

#include "translation/text_format.h"

namespace regard {

// Lines that were read together, with their sentences.
struct QueueWindow {
  std::size_t bytes = 0;  // of the lines
  std::vector<QueuedLine> lines;
  std::vector<QueuedSentence> sentences;
  std::size_t next_to_encode = 0;  // sentences before it are encoded, or a thread does it now
  std::size_t encoded = 0;         // number of sentences
  QueuedSentences order;           // longest first; empty until all are encoded
  std::size_t next_to_search = 0;  // in `order`
  std::vector<std::size_t> unfinished_sentences;  // by line
  std::vector<std::exception_ptr> errors;         // by line
  std::size_t delivered = 0;                      // number of lines with results

  std::size_t line_of(const QueuedSentence& sentence) const {
    return static_cast<std::size_t>(sentence.line - lines.data());
  }
};

namespace {

constexpr std::size_t sentences_per_block = 64;  // tokenized at once
constexpr std::size_t max_bytes_in_flight = std::size_t{128} << 20;

std::size_t text_bytes(const std::vector<QueuedLine>& lines) {
  std::size_t bytes = 0;
  for (const auto& line : lines) bytes += line.bytes();
  return bytes;
}

// Puts each line into the queue as one sentence, or as its parts.
void add_sentences(QueueWindow& window) {
  window.sentences.reserve(window.lines.size());
  for (auto& line : window.lines) {
    const auto add = [&](const std::string& text, std::size_t part) {
      window.sentences.push_back({.text = &text, .line = &line, .part = part, .window = &window});
    };
    if (line.parts.empty()) add(line.text, 0);
    for (std::size_t i = 0; i < line.parts.size(); ++i) add(line.parts[i], i);
  }
}

}  // namespace

std::size_t QueuedLine::bytes() const {
  auto size = sizeof *this + text.size() + (segment ? segment->bytes() : 0);
  for (const auto& part : parts) size += sizeof part + part.size();
  return size;
}

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

TranslationQueue::~TranslationQueue() = default;

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
    abort(std::current_exception());
  }
  changed_.notify_all();
}

bool TranslationQueue::is_finished() const {
  return error_ || (ended_ && active_threads_ == 0 && delivered_lines_ == read_lines_);
}

// Returns false if the job threw an exception.
bool TranslationQueue::run_unlocked(Lock& lock, const std::function<void()>& job) {
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
  if (error) abort(error);
  return !error;
}

void TranslationQueue::abort(std::exception_ptr error) {
  if (!error_) error_ = std::move(error);
}

void TranslationQueue::arrived() {
  const std::lock_guard lock(mutex_);
  ++arrivals_;
  changed_.notify_all();
}

bool TranslationQueue::read_next(Lock& lock, bool few) {
  const auto lines_in_flight = read_lines_ - delivered_lines_;
  if (ended_ || reading_ || bytes_in_flight_ >= max_bytes_in_flight ||
      lines_in_flight >= 2 * window_lines(batch_size_, pool_.count())) {
    return false;
  }
  auto& arrivals_at_read = few ? arrivals_at_few_read_ : arrivals_at_full_read_;
  if (arrivals_at_read == arrivals_) return false;
  arrivals_at_read = arrivals_;
  reading_ = true;
  std::vector<QueuedLine> lines;
  bool more = true;
  run_unlocked(lock, [&] { more = stream_.read(few, lines); });
  reading_ = false;
  if (!lines.empty()) add_window(std::move(lines));
  if (!more) ended_ = true;
  changed_.notify_all();
  return true;
}

void TranslationQueue::add_window(std::vector<QueuedLine> lines) {
  std::list<QueueWindow> added(1);  // joins the others when it is complete
  auto& window = added.front();
  window.lines = std::move(lines);
  add_sentences(window);
  window.errors.resize(window.lines.size());
  window.unfinished_sentences.resize(window.lines.size());
  for (const auto& sentence : window.sentences) {
    ++window.unfinished_sentences[window.line_of(sentence)];
  }
  window.bytes = text_bytes(window.lines);
  windows_.splice(windows_.end(), added);
  ++arrivals_;  // there may be more lines
  read_lines_ += window.lines.size();
  bytes_in_flight_ += window.bytes;
}

QueueWindow* TranslationQueue::window_to_encode() {
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
  QueuedSentences ended;  // blank ones and those with an error
  std::vector<std::exception_ptr> errors(end - begin);
  run_unlocked(lock, [&] {
    for (auto i = begin; i < end; ++i) {
      auto& sentence = window->sentences[i];
      try {
        encode_(sentence);
      } catch (...) {
        errors[i - begin] = std::current_exception();
        sentence.source = {};
      }
      if (sentence.source.length() == 0) ended.push_back(&sentence);
    }
  });
  for (auto i = begin; i < end; ++i) {
    auto& known = window->errors[window->line_of(window->sentences[i])];
    if (!known) known = errors[i - begin];
  }
  window->encoded += end - begin;
  if (window->encoded == window->sentences.size()) sort_by_length(*window);
  finish(lock, ended);
  changed_.notify_all();
  return true;
}

void TranslationQueue::sort_by_length(QueueWindow& window) {
  for (auto& sentence : window.sentences) {
    if (sentence.source.length() == 0) continue;
    window.order.push_back(&sentence);
    ++queued_sentences_;
    queued_tokens_ += sentence.source.length();
  }
  std::ranges::stable_sort(window.order, std::ranges::greater{},
                           [](const auto* sentence) { return sentence->source.length(); });
}

// Returns the number of source tokens of the next batch, if batch_size sentences have more. A
// fraction of the tokens that are left, so that the last batches are small and the threads end at
// about the same time. Lines that wait in the stream are as long as those of the queue, or nearly.
std::size_t TranslationQueue::batch_tokens() const {
  const auto threads = pool_.count();
  if (threads == 1 || queued_sentences_ == 0) return queued_tokens_;
  const auto left = queued_sentences_ + stream_.waiting_sentences();
  return queued_tokens_ * left / queued_sentences_ / (2 * threads);
}

QueuedSentences TranslationQueue::next_batch(Lock& lock, std::size_t most) {
  const auto max_tokens = batch_tokens();
  QueuedSentences batch;
  QueuedSentences unwanted;  // of lines that ended before
  for (auto& window : windows_) {
    std::size_t tokens = 0;
    while (window.next_to_search < window.order.size() && batch.size() < most &&
           (batch.empty() || tokens < max_tokens)) {
      auto* sentence = window.order[window.next_to_search++];
      --queued_sentences_;
      queued_tokens_ -= sentence->source.length();
      const auto line = window.line_of(*sentence);
      if (!window.errors[line] && !stream_.is_wanted(*sentence->line)) {
        window.errors[line] = std::make_exception_ptr(CancelledSearch());
      }
      if (window.errors[line]) {
        unwanted.push_back(sentence);
        continue;
      }
      tokens += sentence->source.length();
      batch.push_back(sentence);
    }
    if (!batch.empty()) break;
  }
  if (!unwanted.empty()) finish(lock, unwanted);
  return batch;
}

bool TranslationQueue::search_next(Lock& lock) {
  const auto delivered = delivered_lines_;
  auto batch = next_batch(lock, batch_size_);
  if (batch.empty()) return delivered_lines_ > delivered;  // lines that were not wanted
  run_unlocked(lock, [&] { search_(std::move(batch), *this); });
  changed_.notify_all();
  return true;
}

QueuedSentences TranslationQueue::take(std::size_t most) {
  Lock lock(mutex_);
  for (;;) {
    auto batch = next_batch(lock, most);
    if (!batch.empty()) return batch;
    if (!encode_next(lock) && !read_next(lock, /*few=*/false) && !read_next(lock, /*few=*/true)) {
      return {};
    }
  }
}

void TranslationQueue::finish(const QueuedSentences& sentences) {
  Lock lock(mutex_);
  finish(lock, sentences);
  changed_.notify_all();
}

void TranslationQueue::fail(const QueuedSentences& sentences, const std::exception_ptr& error) {
  Lock lock(mutex_);
  for (const auto* sentence : sentences) {
    auto& window = *sentence->window;
    auto& known = window.errors[window.line_of(*sentence)];
    if (!known) known = error;
  }
  finish(lock, sentences);
  changed_.notify_all();
}

// Finishes the lines whose last sentences are these.
void TranslationQueue::finish(Lock& lock, const QueuedSentences& sentences) {
  std::map<QueueWindow*, std::vector<std::size_t>> finished;
  for (const auto* sentence : sentences) {
    auto& window = *sentence->window;
    const auto line = window.line_of(*sentence);
    if (--window.unfinished_sentences[line] == 0) finished[&window].push_back(line);
  }
  for (const auto& [window, lines] : finished) deliver(lock, *window, lines);
  report_progress(lock);
  std::erase_if(windows_, [this](const auto& window) {
    if (window.delivered < window.lines.size()) return false;
    bytes_in_flight_ -= window.bytes;
    return true;
  });
}

// Calls finish() or fail() of the stream for lines of a window.
void TranslationQueue::deliver(Lock& lock, QueueWindow& window,
                               const std::vector<std::size_t>& lines) {
  run_unlocked(lock, [&] {
    for (const auto number : lines) {
      auto& line = window.lines[number];
      if (window.errors[number]) {
        stream_.fail(line, window.errors[number]);
        continue;
      }
      auto part = std::ranges::lower_bound(window.sentences, &line, {}, &QueuedSentence::line);
      std::vector<Translation> translations;
      for (; part != window.sentences.end() && part->line == &line; ++part) {
        translations.push_back(std::move(part->translation));
      }
      stream_.finish(line, std::move(translations));
    }
  });
  window.delivered += lines.size();
  delivered_lines_ += lines.size();
}

void TranslationQueue::report_progress(Lock& lock) {
  if (reporting_) return;
  reporting_ = true;
  while (!error_ && reported_lines_ < delivered_lines_) {
    reported_lines_ = delivered_lines_;
    const auto delivered = static_cast<std::int64_t>(reported_lines_);
    run_unlocked(lock, [&] { stream_.progress(delivered); });
  }
  reporting_ = false;
}

}  // namespace regard
